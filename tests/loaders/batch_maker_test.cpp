// tests/loaders/batch_maker_test.cpp - what runs inside the loader's stages, with plain threads so that TSan sees all
// of it: makers that fill a ring of slabs, a gate that holds them back, a consumer that reads.
#include "loaders/batch_maker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "core/bounded_queue.h"
#include "loaders/cached_nodes.h"
#include "loaders/host_slab.h"
#include "loaders/node_set.h"
#include "loaders/release_gate.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};

TEST(BatchMaker, WritesTheReferenceBatchForEveryFeatureWidthAndType) {
  for (const int feature_dim : {0, 1, 3, 16, 100, 128})
    for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32, FeatureType::kFp8})
      for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement}) {
        const Dataset dataset = test::generated_dataset(300, 8, feature_dim, type);
        BatchMaker maker(dataset, {kFanouts, draw});
        HostSlab slab;
        for (const std::size_t batch_size : {100u, 1u, 30u})
          for (const BatchRequest& request : test::requests_of(dataset.train, batch_size)) {
            Batch batch;
            maker.sample(request, batch);
            batch.data = slab.reserve(batch.layout.bytes);
            maker.write(batch, batch.data);
            test::expect_reference_batch(batch, dataset, kFanouts, request, draw);
            if (HasFailure()) return;
          }
      }
}

TEST(BatchMaker, WritesTheReferenceBatchOfPagedRows) {
  const Dataset dataset = test::generated_dataset(300, 8, 5);
  BatchMaker maker(dataset, {kFanouts});
  maker.expect_paged_rows();
  HostSlab slab;
  for (const BatchRequest& request : test::requests_of(dataset.train, 30)) {
    Batch batch;
    maker.sample(request, batch);
    batch.data = slab.reserve(batch.layout.bytes);
    maker.write(batch, batch.data);
    test::expect_reference_batch(batch, dataset, kFanouts, request);
  }
}

TEST(BatchMaker, WritesSeveralLabelsANode) {
  for (const int num_labels : {2, 3, 31, 32, 33, 112}) {
    const Dataset dataset = test::generated_dataset(300, 8, 5, FeatureType::kF16, num_labels);
    BatchMaker maker(dataset, {kFanouts});
    HostSlab slab;
    for (const std::size_t batch_size : {100u, 1u, 30u})
      for (const BatchRequest& request : test::requests_of(dataset.train, batch_size)) {
        Batch batch;
        maker.sample(request, batch);
        batch.data = slab.reserve(batch.layout.bytes);
        maker.write(batch, batch.data);
        EXPECT_EQ(batch.layout.nodes - batch.layout.y,
                  (request.seeds.size() * static_cast<std::size_t>(num_labels) + 255) / 256 * 256);
        test::expect_reference_batch(batch, dataset, kFanouts, request);
        if (HasFailure()) return;
      }
  }
}

TEST(BatchMaker, TakesFeatureRowsInAnotherOrder) {
  const Dataset dataset = test::generated_dataset(300, 8, 5);
  const std::size_t row_bytes = dataset.features.row_bytes;
  Dataset reversed = dataset;
  std::vector<std::byte> rows(300 * row_bytes);
  std::vector<NodeId> row_of;
  for (NodeId v = 0; v < 300; ++v) {
    row_of.push_back(299 - v);
    std::memcpy(rows.data() + row_of[v] * row_bytes, dataset.features.data + v * row_bytes, row_bytes);
  }
  reversed.features.data = rows.data();
  Batch expected, batch;
  HostSlab expected_slab, slab;
  BatchMaker plain(dataset, {kFanouts});
  BatchMaker maker(reversed, {kFanouts}, {}, row_of);
  for (const auto& [m, b, s] : {std::tuple(&plain, &expected, &expected_slab), std::tuple(&maker, &batch, &slab)}) {
    m->sample({{1, 0, 0}, dataset.train.first(50)}, *b);
    b->data = s->reserve(b->layout.bytes);
    m->write(*b, b->data);
  }
  const auto num_nodes = static_cast<std::size_t>(batch.layout.num_nodes);
  EXPECT_EQ(test::part<std::byte>(batch, batch.layout.x, num_nodes * row_bytes),
            test::part<std::byte>(expected, expected.layout.x, num_nodes * row_bytes));
  const std::vector<NodeId> nodes = test::part<NodeId>(expected, expected.layout.nodes, num_nodes);
  const std::vector<NodeId> found = test::part<NodeId>(batch, batch.layout.nodes, num_nodes);
  for (std::size_t i = 0; i < num_nodes; ++i) EXPECT_EQ(found[i], 299 - nodes[i]);
  EXPECT_EQ(test::part<std::int32_t>(batch, batch.layout.y, 50),
            test::part<std::int32_t>(expected, batch.layout.y, 50));
}

// What the device does with it: rows of the cache, and behind them those that the worker wrote.
TEST(BatchMaker, OfCachedFeaturesOnlyTheOtherRowsAreWritten) {
  const Dataset dataset = test::generated_dataset(300, 8, 7);
  const BatchRequest request{{1, 0, 0}, dataset.train.first(50)};
  BatchMaker plain(dataset, {kFanouts});
  Batch expected, batch;
  plain.sample(request, expected);
  std::vector<std::byte> expected_slab(expected.layout.bytes);
  plain.write(expected, expected_slab.data());
  expected.data = expected_slab.data();
  const auto num_nodes = static_cast<std::size_t>(expected.layout.num_nodes);
  const std::size_t row_bytes = dataset.features.row_bytes;
  for (const std::size_t num_cached : {0u, 1u, 100u, 300u}) {
    std::vector<NodeId> members;  // nodes of any policy
    for (NodeId v = 0; v < 300; ++v)
      if (v * 7919 % 300 < num_cached) members.push_back(v);
    const NodeSet cached(dataset.num_nodes(), members);
    BatchMaker maker(dataset, {kFanouts}, {.features = Residency::kCached, .cached = &cached});
    maker.sample(request, batch);
    std::vector<std::byte> slab(batch.layout.prepared_bytes);
    maker.write(batch, slab.data());
    batch.data = slab.data();
    EXPECT_EQ(test::part<NodeId>(batch, batch.layout.nodes, num_nodes),
              test::part<NodeId>(expected, expected.layout.nodes, num_nodes));
    const std::vector<std::uint32_t> rows = test::part<std::uint32_t>(batch, batch.layout.x_rows, num_nodes);
    std::size_t num_missed = 0;
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const bool is_cached = rows[i] < members.size();
      if (!is_cached) {
        ASSERT_EQ(rows[i], members.size() + num_missed);
        ++num_missed;
      }
      const std::byte* const row = is_cached
                                       ? dataset.features.data + members[rows[i]] * row_bytes
                                       : slab.data() + batch.layout.x_missed + (rows[i] - members.size()) * row_bytes;
      ASSERT_EQ(std::memcmp(row, expected_slab.data() + expected.layout.x + i * row_bytes, row_bytes), 0);
    }
    EXPECT_EQ(batch.layout.prepared_bytes, batch.layout.x_missed + num_missed * row_bytes);
    EXPECT_EQ(num_missed == 0, num_cached == 300);
  }
}

TEST(BatchMaker, LayoutHasNoOverlapsAndAlignedParts) {
  const Dataset dataset = test::generated_dataset(300, 8, 7);
  const NodeSet cached(dataset.num_nodes(), most_connected_nodes(dataset.graph, 100));
  for (const Residency residency : {Residency::kHost, Residency::kDevice, Residency::kCached}) {
    Batch batch;
    const ResidentView data{.features = residency, .cached = residency == Residency::kCached ? &cached : nullptr};
    BatchMaker(dataset, {kFanouts}, data).sample({{1, 0, 0}, dataset.train.first(50)}, batch);
    const BatchLayout& layout = batch.layout;
    std::vector<std::pair<std::size_t, std::size_t>> parts;  // offset, bytes
    parts.emplace_back(layout.y, 50 * 4);
    parts.emplace_back(layout.nodes, static_cast<std::size_t>(layout.num_nodes) * 4);
    for (const HopLayout& hop : layout.hops) {
      parts.emplace_back(hop.indptr, (static_cast<std::size_t>(hop.num_dst) + 1) * 4);
      parts.emplace_back(hop.indices, static_cast<std::size_t>(hop.num_edges) * 4);
    }
    EXPECT_EQ(layout.residency, residency);
    EXPECT_EQ(layout.prepared_bytes, residency == Residency::kHost ? layout.bytes : layout.x);
    if (residency == Residency::kCached) {
      parts.emplace_back(layout.x_rows, static_cast<std::size_t>(layout.num_nodes) * 4);
      parts.emplace_back(layout.x_missed, static_cast<std::size_t>(layout.num_nodes) * 14);
    }
    parts.emplace_back(layout.x, static_cast<std::size_t>(layout.num_nodes) * 14);
    std::size_t end = 0;
    for (const auto& [offset, bytes] : parts) {
      EXPECT_EQ(offset % kBatchAlignment, 0u);
      EXPECT_GE(offset, end);
      end = offset + bytes;
    }
    EXPECT_LE(end, layout.bytes);
    EXPECT_LT(layout.bytes, end + kBatchAlignment) << "nothing wasted";
  }
}

TEST(HostSlab, GrowsWithHeadRoomAndThenStays) {
  HostSlab slab;
  const std::byte* first = slab.reserve(10'000'000);
  EXPECT_GE(slab.capacity(), 12'500'000u);
  EXPECT_EQ(slab.reserve(12'500'000), first);
  EXPECT_EQ(slab.reserve(1), first);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slab.reserve(40'000'000)) % kBatchAlignment, 0u);
}

// The loader's protocol: a batch is handed out when batch - slots was given back, and delivered in order.
TEST(BatchMaker, ThreadsFillARingInOrder) {
  constexpr std::size_t kSlots = 4;
  constexpr int kWorkers = 3;
  const Dataset dataset = test::generated_dataset(600, 8, 20);
  const std::vector<BatchRequest> requests = test::requests_of(dataset.train, 8);
  struct Slot {
    HostSlab memory;
    Batch batch;
  };
  std::vector<Slot> slots(kSlots);
  ReleaseGate given_back;
  BoundedQueue<std::size_t> ready(kSlots);
  std::atomic<std::size_t> next = 0;
  std::mutex turn_mutex;
  std::condition_variable turn_changed;
  std::size_t turn = 0;
  std::vector<std::jthread> workers;
  for (int w = 0; w < kWorkers; ++w)
    workers.emplace_back([&] {
      BatchMaker maker(dataset, {kFanouts});
      for (std::size_t b = next++; b < requests.size(); b = next++) {
        if (b >= kSlots && !given_back.wait_for(b - kSlots + 1)) return;
        Slot& slot = slots[b % kSlots];
        maker.sample(requests[b], slot.batch);
        slot.batch.data = slot.memory.reserve(slot.batch.layout.bytes);
        maker.write(slot.batch, slot.batch.data);
        std::unique_lock lock(turn_mutex);
        turn_changed.wait(lock, [&] { return turn == b; });
        EXPECT_TRUE(ready.push(b));
        ++turn;
        lock.unlock();
        turn_changed.notify_all();
      }
    });
  for (std::size_t b = 0; b < requests.size(); ++b) {
    const std::optional<std::size_t> got = ready.pop();
    ASSERT_EQ(got, b);
    test::expect_reference_batch(slots[b % kSlots].batch, dataset, kFanouts, requests[b]);
    given_back.release();
  }
}

TEST(ReleaseGate, CountsWakesAndCloses) {
  ReleaseGate gate;
  EXPECT_TRUE(gate.wait_for(0));
  {
    const std::jthread waiter([&] { EXPECT_TRUE(gate.wait_for(2)); });
    gate.release();
    gate.release();
  }
  {
    const std::jthread waiter([&] { EXPECT_FALSE(gate.wait_for(3)); });
    gate.close();
  }
  EXPECT_TRUE(gate.is_closed());
  gate.reset();
  EXPECT_FALSE(gate.is_closed());
}

}  // namespace
}  // namespace salient
