// tests/loaders/shards_test.cpp - rows in parts are the rows of one table, however many parts there are.
#include "loaders/shards.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "loaders/batch_maker.h"
#include "loaders/gather_rows.h"
#include "loaders/host_slab.h"
#include "loaders/node_set.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/host_shard_memory.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};

/// What `num_shards` processes would hold, in one: each has its own addresses.
std::vector<Shards> joined_shards(RowTable table, int num_shards, std::size_t num_near = 0) {
  std::vector<Shards> all;
  for (int shard = 0; shard < num_shards; ++shard)
    all.emplace_back(std::make_unique<test::HostShardMemory>(), table, shard, num_shards);
  for (Shards& shards : all) {
    std::vector<Descriptor> parts;
    for (const Shards& other : all) parts.emplace_back(::fcntl(other.descriptor().get(), F_DUPFD_CLOEXEC, 0));
    shards.join(parts, num_near);
  }
  return all;
}

/// @return  how many rows were written
std::size_t write_own_rows(const Shards& shards, RowTable from) {
  const auto [first, count] = shards.own_rows();
  if (count > 0)
    std::memcpy(const_cast<std::byte*>(shards.table().data) + first * from.row_bytes,
                from.data + first * from.row_bytes, count * from.row_bytes);
  return count;
}

TEST(ShardBytes, AreEqualWholePages) {
  EXPECT_EQ(shard_bytes(0, 3), kShardPage) << "a part without rows is a page, as none cannot be mapped";
  EXPECT_EQ(shard_bytes(1, 1), kShardPage);
  EXPECT_EQ(shard_bytes(kShardPage, 1), kShardPage);
  EXPECT_EQ(shard_bytes(kShardPage + 1, 1), 2 * kShardPage);
  EXPECT_EQ(shard_bytes(10 * kShardPage, 4), 3 * kShardPage);
}

TEST(Shards, EveryProcessReadsWhatAllHaveWritten) {
  std::mt19937_64 draw(7);
  for (const std::size_t row_bytes : {1U, 6U, 200U, 256U, 1536U, 3'000'000U})
    for (const std::size_t wanted_bytes : {0U, 100U, 2U << 20, 9'000'001U})
      for (const int num_shards : {1, 2, 3, 5}) {
        const std::size_t num_rows = (wanted_bytes + row_bytes - 1) / row_bytes;
        std::vector<std::byte> bytes(num_rows * row_bytes);
        std::ranges::generate(bytes, [&] { return static_cast<std::byte>(draw()); });
        const RowTable table{bytes.data(), num_rows, row_bytes};
        const std::vector<Shards> all = joined_shards(table, num_shards);
        std::size_t num_written = 0;
        for (const Shards& shards : all) num_written += write_own_rows(shards, table);
        EXPECT_EQ(num_written, num_rows) << "each row is one process' to write";
        for (const Shards& shards : all) {
          ASSERT_EQ(shards.table().num_rows, num_rows);
          EXPECT_EQ(std::memcmp(shards.table().data, bytes.data(), bytes.size()), 0)
              << num_shards << " parts of " << num_rows << " rows of " << row_bytes;
        }
      }
}

TEST(Shards, ARowThatLiesInTwoPartsIsWrittenByOneProcessWhoeverIsFirst) {
  std::mt19937_64 draw(13);
  for (const std::size_t row_bytes : {200U, 1536U, 2'500'000U})
    for (const int num_shards : {2, 3}) {
      // an odd number of pages a part, which 1536 does not divide
      const std::size_t num_rows = (static_cast<std::size_t>(num_shards) * 5 * kShardPage - 1000) / row_bytes;
      std::vector<std::byte> bytes(num_rows * row_bytes);
      std::ranges::generate(bytes, [&] { return static_cast<std::byte>(draw()); });
      const RowTable table{bytes.data(), num_rows, row_bytes};
      for (const bool is_last_first : {false, true}) {
        std::vector<Shards> all = joined_shards(table, num_shards);
        const auto [first, count] = all.front().own_rows();
        ASSERT_LT((first + count - 1) * row_bytes, 5 * kShardPage);
        ASSERT_GT((first + count) * row_bytes, 5 * kShardPage) << "its last row ends in the next part";
        if (is_last_first) std::ranges::reverse(all);
        for (const Shards& shards : all) (void)write_own_rows(shards, table);
        for (const Shards& shards : all)
          EXPECT_EQ(std::memcmp(shards.table().data, bytes.data(), bytes.size()), 0) << row_bytes;
      }
    }
}

TEST(Shards, AWriteIsSeenThroughTheAddressesOfTheOthers) {
  const RowTable table{nullptr, 200'000, 100};
  const std::vector<Shards> all = joined_shards(table, 4);
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto [first, count] = all[s].own_rows();
    ASSERT_GT(count, 0U);
    auto* const row = const_cast<std::byte*>(all[s].table().data) + first * table.row_bytes;
    *row = static_cast<std::byte>(s + 1);
    for (const Shards& other : all)
      EXPECT_EQ(other.table().data[first * table.row_bytes], static_cast<std::byte>(s + 1));
  }
}

/// Copies `nodes` of `from` behind the table, and makes all bytes ones where these rows were: a reader of these
/// places gets other bytes.
RowTable with_copies(const Shards& shards, const NodeSet& set, const std::vector<NodeId>& nodes, RowTable from) {
  RowTable table = shards.table();
  auto* const memory = const_cast<std::byte*>(table.data);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::memcpy(memory + (shards.near_row() + i) * from.row_bytes, from.row(nodes[i]), from.row_bytes);
    std::memset(memory + nodes[i] * from.row_bytes, 0xFF, from.row_bytes);
  }
  table.near = {set.words().data(), shards.near_row()};
  return table;
}

TEST(Shards, CopiesBehindTheTableAreReadInPlaceOfTheRows) {
  std::mt19937_64 draw(11);
  struct Type {
    std::size_t bytes;
    float fp8_scale;
  };
  for (const Type type : {Type{1, kLeastFp8Scale}, Type{2, 0}, Type{4, 0}})
    for (const std::size_t width : {1U, 3U, 45U, 100U, 128U, 768U})
      for (int trial = 0; trial < 4; ++trial) {
        const std::size_t num_rows = 1 + draw() % 9000, num_out = 500, row_bytes = width * type.bytes;
        std::vector<std::byte> bytes(num_rows * row_bytes);
        std::ranges::generate(bytes, [&] { return static_cast<std::byte>(draw() % 127 + draw() % 2 * 128); });
        const RowTable whole{bytes.data(), num_rows, row_bytes, type.fp8_scale};
        std::vector<NodeId> copied, asked(num_out);
        for (NodeId v = 0; v < num_rows; ++v)
          if (trial == 3 || static_cast<int>(draw() % 3) < trial) copied.push_back(v);  // none, some, most, all
        for (NodeId& node : asked) node = static_cast<NodeId>(draw() % num_rows);
        const int num_shards = 1 + static_cast<int>(draw() % 5);
        const std::vector<Shards> all = joined_shards(whole, num_shards, copied.size());
        for (const Shards& shards : all) (void)write_own_rows(shards, whole);
        const Shards& reader = all[draw() % all.size()];
        const NodeSet set(num_rows, copied);
        const RowTable table = with_copies(reader, set, copied, whole);
        for (NodeId v = 0; v < num_rows; ++v) {
          ASSERT_EQ(table.near.row_of(v) == v, !std::ranges::binary_search(copied, v));
          ASSERT_EQ(std::memcmp(table.row(v), whole.row(v), row_bytes), 0) << v;
        }
        std::vector<std::byte> expected(num_out * row_bytes * 2), found(expected.size());
        gather_features_reference(whole, asked.data(), num_out, expected.data());
        gather_features_reference(table, asked.data(), num_out, found.data());
        ASSERT_EQ(found, expected) << num_rows << " rows of " << width << " numbers in " << num_shards << " parts";
      }
}

TEST(Shards, ABatchHasTheBytesOfTheWholeTable) {
  for (const int feature_dim : {3, 128})
    for (const int num_shards : {1, 2, 5}) {
      const Dataset dataset = test::generated_dataset(30'000, 8, feature_dim);
      const std::vector<Shards> all = joined_shards(dataset.features, num_shards);
      for (const Shards& shards : all) (void)write_own_rows(shards, dataset.features);
      for (const Shards& shards : all) {
        Dataset sharded = dataset;
        sharded.features = shards.table();
        BatchMaker maker(sharded, {kFanouts});
        HostSlab slab;
        const std::vector<BatchRequest> requests = test::requests_of(dataset.train, 1000);
        for (std::size_t b = 0; b < std::min<std::size_t>(3, requests.size()); ++b) {
          Batch batch;
          maker.sample(requests[b], batch);
          batch.data = slab.reserve(batch.layout.bytes);
          maker.write(batch, batch.data);
          test::expect_reference_batch(batch, dataset, kFanouts, requests[b]);
          if (HasFailure()) return;
        }
      }
    }
}

}  // namespace
}  // namespace salient
