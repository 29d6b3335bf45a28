// tests/loaders/part_rows_test.cpp - a rank has the rows of its part and the copies, and good copies spare it much of
// the others.
#include "loaders/part_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "loaders/cached_nodes.h"
#include "prepare/partitioning/partition.h"
#include "store/open_store.h"
#include "store/part_rows_file.h"
#include "store/synthetic.h"
#include "tests/support/datasets.h"
#include "tests/support/owners.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

Parts parts_of(Owners owner, int num_parts) {
  const auto storage = std::make_shared<Owners>(std::move(owner));
  Parts parts{.num_parts = num_parts, .owner = *storage};
  parts.storage = storage;
  return parts;
}

TEST(PartRows, AreThoseOfThePartAndTheCopies) {
  const Dataset dataset = test::generated_dataset(1000, 4, 9);
  const std::vector<NodeId> copied{3, 600, 999};
  const PartRows part(dataset, parts_of(range_parts(1000, 4), 4), 1, copied);
  EXPECT_EQ(part.table().num_rows, 253u);
  for (NodeId node = 0; node < 1000; ++node) {
    EXPECT_EQ(part.owner_of(node), static_cast<int>(node / 250));
    const std::uint32_t row = part.held().index_of(node);
    const bool is_held = node / 250 == 1 || node == 3 || node == 600 || node == 999;
    ASSERT_EQ(row != NodeSet::kAbsent, is_held) << node;
    if (!is_held) continue;
    EXPECT_EQ(std::memcmp(part.table().data + row * part.table().row_bytes,
                          dataset.features.data + node * dataset.features.row_bytes, dataset.features.row_bytes),
              0);
  }
}

/// The owners of one partition beside the rows of another, whose parts have as many nodes.
TEST(PartRows, AreNotTakenForThoseOfOtherOwners) {
  const test::SmallStore store;
  {
    const Dataset all = open_dataset(store.path(), 1);
    write_parts(all, test::kOwners, 5, "hand", write_part_rows(all, test::kOwners, 5));
  }
  std::filesystem::remove(store / "features.npy");
  const Dataset dataset = open_store(store.path(), 1, FeatureFile::kOrParts).dataset;
  EXPECT_EQ(PartRows(dataset, open_parts(dataset), 2, {}).table().num_rows, 3u);
  Owners others = test::kOwners;
  std::swap(others[0], others[1]);  // of parts 0 and 2
  std::filesystem::remove(store / "owner.npy");
  NpyWriter writer(store / "owner.npy", "<u2", {others.size()});
  writer.write(others);
  writer.close();
  EXPECT_COMPLAINT(PartRows(dataset, open_parts(dataset), 2, {}), 65, "owner.npy: XXH3 checksum");
}

/// Of the rows that the batches of part 0's own training nodes meet: the share that another part has.
TEST(PartRows, CopiesOfATenthSpareMuchOfTheRemoteRowsOfAPartsOwnSeeds) {
  SyntheticOptions options = synthetic_of_size(60'000, 15, /*feature_dim=*/0, /*num_classes=*/100);
  options.max_degree = 40;
  options.homophily = 0.985;
  options.split = {2400, 0, 0};
  options.train_communities = 0.2;
  const Dataset dataset = make_synthetic_dataset(options);
  const Parts parts = parts_of(cluster_parts(dataset, 4), 4);
  std::vector<NodeId> seeds;
  for (const NodeId seed : dataset.train)
    if (parts.owner[seed] == 0) seeds.push_back(seed);
  SamplingPlan plan{.rule = {{15, 10, 5}}, .seeds = seeds, .batch_size = 8, .seed = 1};
  const NodeSet own(dataset.num_nodes(), nodes_of_part(parts, 0));
  const std::vector<NodeId> copied = nodes_to_cache(dataset.graph, CachePolicy::kVip, plan, own.size() / 10, &own);
  const NodeSet copies(dataset.num_nodes(), copied);
  plan.seed = 77;
  double all = 0, remote = 0, left = 0;
  const std::vector<std::uint32_t> visits = counted_visits(dataset.graph, plan, 1);
  for (NodeId node = 0; node < visits.size(); ++node) {
    all += visits[node];
    if (own.index_of(node) != NodeSet::kAbsent) continue;
    remote += visits[node];
    if (copies.index_of(node) == NodeSet::kAbsent) left += visits[node];
  }
  EXPECT_LT(left, 0.6 * remote) << "of " << all << " rows " << remote << " are remote, " << left << " with copies";
}

}  // namespace
}  // namespace salient
