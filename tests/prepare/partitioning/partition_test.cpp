// tests/prepare/partitioning/partition_test.cpp - parts are balanced, and follow the clusters that a graph has.
#include "prepare/partitioning/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "core/files/npy.h"
#include "prepare/partitioning/level_graph.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/seed_dealing.h"
#include "sampler/seed_order.h"
#include "store/synthetic.h"
#include "store/synthetic_typed.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

/// A graph of `num_cliques` cliques in a ring, whose nodes' ids are mixed; every node of the first quarter trains.
struct Cliques {
  static constexpr std::size_t kSize = 8;
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices{}, train{};
  std::vector<std::size_t> clique_of{};
  Dataset dataset{};

  explicit Cliques(std::size_t num_cliques) : clique_of(num_cliques * kSize) {
    const std::size_t num_nodes = clique_of.size(), stride = 37;  // prime to the number of nodes
    std::vector<std::vector<NodeId>> rows(num_nodes);
    const auto node = [&](std::size_t i) { return static_cast<NodeId>(i % num_nodes * stride % num_nodes); };
    for (std::size_t i = 0; i < num_nodes; ++i) {
      clique_of[node(i)] = i / kSize;
      for (std::size_t j = i / kSize * kSize; j < (i / kSize + 1) * kSize; ++j)
        if (j != i) rows[node(i)].push_back(node(j));
      if (i % kSize == 0) {  // to the clique before
        rows[node(i)].push_back(node(i + num_nodes - 1));
        rows[node(i + num_nodes - 1)].push_back(node(i));
      }
      if (i < num_nodes / 4) train.push_back(node(i));
    }
    for (const std::vector<NodeId>& row : rows) {
      indices.insert(indices.end(), row.begin(), row.end());
      indptr.push_back(static_cast<EdgeOffset>(indices.size()));
    }
    dataset.graph = {indptr, indices};
    dataset.train = train;
  }
};

std::size_t largest(const Owners& owner, std::span<const NodeId> nodes, int num_parts) {
  std::vector<std::size_t> count(static_cast<std::size_t>(num_parts));
  for (const NodeId node : nodes) ++count[owner[node]];
  return std::ranges::max(count);
}

double cut_share(const Dataset& dataset, const Owners& owner) {
  std::size_t cut = 0;
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v)
    for (const NodeId u : dataset.graph.row(v)) cut += owner[u] != owner[v];
  return static_cast<double>(cut) / static_cast<double>(dataset.num_edges());
}

TEST(Ranges, AreConsecutiveAndEven) {
  EXPECT_EQ(range_parts(7, 3), (Owners{0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(range_parts(2, 4), (Owners{0, 2}));
  EXPECT_EQ(range_parts(3, 1), (Owners{0, 0, 0}));
  EXPECT_EQ(range_parts(65536, 65536).back(), 65535);
}

TEST(Clusters, StayTogetherAndAreBalanced) {
  const Cliques graph(200);
  std::vector<NodeId> all(graph.clique_of.size());
  std::iota(all.begin(), all.end(), NodeId{0});
  for (const int num_parts : {1, 2, 4, 7}) {
    const Owners owner = cluster_parts(graph.dataset, num_parts);
    const auto parts = static_cast<double>(num_parts);
    EXPECT_LE(static_cast<double>(largest(owner, all, num_parts)), 1.03 * static_cast<double>(all.size()) / parts + 1);
    EXPECT_LE(static_cast<double>(largest(owner, graph.train, num_parts)),
              1.03 * static_cast<double>(graph.train.size()) / parts + 1);
    EXPECT_LE(cut_share(graph.dataset, owner), num_parts == 1 ? 0 : 0.04) << num_parts << " parts";  // at random: 0.5
    EXPECT_EQ(cluster_parts(graph.dataset, num_parts), owner) << "the same each time";
  }
}

TEST(Clusters, TakeGraphsWithoutEdgesAndMorePartsThanNodes) {
  const std::vector<EdgeOffset> indptr(11);
  Dataset dataset;
  dataset.graph = {indptr, {}};
  std::vector<NodeId> all(10);
  std::iota(all.begin(), all.end(), NodeId{0});
  EXPECT_LE(largest(cluster_parts(dataset, 3), all, 3), 4u);
  const Owners many = cluster_parts(dataset, 65536);
  EXPECT_EQ(std::set(many.begin(), many.end()).size(), 10u);
}

TEST(LevelGraph, KeepsWeightsAndTheEntriesBetweenGroups) {
  const Cliques graph(10);
  const LevelGraph fine = finest_level(graph.dataset);
  std::vector<NodeId> group(graph.clique_of.begin(), graph.clique_of.end());
  const LevelGraph coarse = contract(fine, group, 10);
  EXPECT_EQ(coarse.num_nodes(), 10u);
  EXPECT_EQ(total_weight(coarse), total_weight(fine));
  EXPECT_EQ(coarse.other.size(), 20u) << "a ring";
  for (std::size_t e = 0; e < coarse.other.size(); ++e) EXPECT_EQ(coarse.strength[e], 1u);
}

TEST(ReadParts, TakesWholeNumbersOfAnyType) {
  const test::Scratch scratch;
  const auto write = [&](const char* dtype, std::vector<std::uint64_t> shape, const auto& values) {
    std::filesystem::remove(scratch / "p.npy");
    NpyWriter writer(scratch / "p.npy", dtype, std::move(shape));
    writer.write(values);
    writer.close();
  };
  const auto read = [&](int num_parts) { return read_parts(scratch / "p.npy", 4, num_parts); };
  write("<i8", {4}, std::vector<std::int64_t>{0, 3, 1, 65535});
  EXPECT_EQ(read(0), (Owners{0, 3, 1, 65535}));
  EXPECT_COMPLAINT(read(4), 65, "p.npy: item 3 is 65535, parts are 0 to 3");
  write("|u1", {4}, std::vector<std::uint8_t>{0, 3, 1, 2});
  EXPECT_EQ(read(4), (Owners{0, 3, 1, 2}));
  EXPECT_COMPLAINT(read(3), 65, "item 1 is 3");
  write("<i4", {4}, std::vector<std::int32_t>{0, 1, -1, 1});
  EXPECT_COMPLAINT(read(0), 65, "item 2 is -1");
  write("<i4", {4}, std::vector<std::int32_t>{0, 1, 70000, 1});
  EXPECT_COMPLAINT(read(0), 65, "item 2 is 70000, parts are 0 to 65535");
  write("<u8", {4}, std::vector<std::uint64_t>{~std::uint64_t{0}, 1, 1, 1});
  EXPECT_COMPLAINT(read(0), 65, "item 0 is 18446744073709551615, parts are");
  write("<i4", {5}, std::vector<std::int32_t>(5));
  EXPECT_COMPLAINT(read(2), 65, "(5,), expected whole numbers (4,), a part per node");
  write("<i4", {2, 2}, std::vector<std::int32_t>(4));
  EXPECT_COMPLAINT(read(2), 65, "(2, 2)");
  write("<f4", {4}, std::vector<float>(4));
  EXPECT_COMPLAINT(read(2), 65, "<f4");
  EXPECT_COMPLAINT(read_parts(scratch / "none.npy", 4, 2), 66, "none.npy");
}

TEST(ReadParts, TakesTheLinesOfMetis) {
  const test::Scratch scratch;
  const auto read = [&](const std::string& text, int num_parts) {
    return read_parts(test::write_bytes(scratch / "graph.part.4", text), 4, num_parts);
  };
  EXPECT_EQ(read("0\n3\n1\n65535\n", 0), (Owners{0, 3, 1, 65535}));
  EXPECT_EQ(read("0\r\n3\r\n1\r\n1.0e+00", 4), (Owners{0, 3, 1, 1}));
  EXPECT_COMPLAINT(read("0\n3\n1\n2\n", 3), 65, "graph.part.4: line 2: parts are 0 to 2: '3'");
  EXPECT_COMPLAINT(read("0\n3\n1\n65536\n", 0), 65, "line 4: parts are 0 to 65535: '65536'");
  EXPECT_COMPLAINT(read("0\n-1\n1\n2\n", 0), 65, "line 2: parts are 0 to 65535: '-1'");
  EXPECT_COMPLAINT(read("0\n1 2\n1\n2\n", 0), 65, "line 2: parts are");
  EXPECT_COMPLAINT(read("0\n1\n1\n", 0), 65, "has 3 lines, the graph has 4 nodes");
  EXPECT_COMPLAINT(read("0\n1\n1\n2\n2\n", 0), 65, "line 5: the graph has 4 nodes: '2'");
  EXPECT_COMPLAINT(read_parts(scratch / "none.part.4", 4, 2), 66, "none.part.4");
}

/// Rows of the batches of an epoch, over all ranks, of 256 seeds each.
/// @param owner  empty = seeds are dealt evenly
std::size_t rows_of_epoch(const Dataset& dataset, const Owners& owner, int num_ranks) {
  const std::size_t global_batch = 256 * static_cast<std::size_t>(num_ranks);
  std::vector<NodeId> order(dataset.train.begin(), dataset.train.end());
  shuffle_seeds(order, 1, 1);
  NeighborSampler sampler(dataset.graph, {{10, 5}});
  Mfg mfg;
  std::size_t rows = 0;
  for (std::uint32_t b = 0; b < order.size() / global_batch; ++b) {
    const std::span<NodeId> batch = std::span(order).subspan(b * global_batch, global_batch);
    std::vector<std::size_t> begin;
    if (owner.empty())
      for (std::size_t r = 0; r <= static_cast<std::size_t>(num_ranks); ++r) begin.push_back(256 * r);
    else
      begin = deal_to_owners(batch, owner, num_ranks, num_ranks);
    for (std::size_t r = 0; r < static_cast<std::size_t>(num_ranks); ++r) {
      sampler.sample(batch.subspan(begin[r], begin[r + 1] - begin[r]), {1, 1, b}, mfg);
      rows += mfg.nodes.size();
    }
  }
  return rows;
}

// What parts are for, in a run in which every rank has all rows: issue 18 asks for a tenth fewer.
TEST(ClusterParts, RanksThatGetTheSeedsTheyOwnNeedFewerRows) {
  SyntheticOptions options = synthetic_of_size(20'000, 15, /*feature_dim=*/0, /*num_classes=*/40);
  options.max_degree = 40;
  options.homophily = 0.9;
  const Dataset dataset = make_synthetic_dataset(options);
  for (const int num_ranks : {2, 4}) {
    const auto even = static_cast<double>(rows_of_epoch(dataset, {}, num_ranks));
    const auto owned = static_cast<double>(rows_of_epoch(dataset, cluster_parts(dataset, num_ranks), num_ranks));
    EXPECT_LT(owned, 0.9 * even) << num_ranks << " ranks, by clusters";
    EXPECT_NEAR(static_cast<double>(rows_of_epoch(dataset, range_parts(dataset.num_nodes(), num_ranks), num_ranks)),
                even, 0.02 * even)
        << num_ranks << " ranks, by parts that are none";
  }
}

TEST(ClusterParts, OfATypedGraphBalanceRowsOfFeaturesAndCutFewEntries) {
  const Dataset dataset = make_synthetic_dataset(synthetic_typed_like("mag", 0.002), 1);
  const SlotTable& slots = *dataset.slots;
  for (const int num_parts : {2, 3}) {
    const Owners owner = cluster_parts(dataset, num_parts);
    ASSERT_EQ(owner.size(), dataset.num_nodes());
    std::vector<double> bytes(static_cast<std::size_t>(num_parts));
    for (NodeId v = 0; v < dataset.num_nodes(); ++v)
      bytes[owner[v]] += static_cast<double>(64 + dataset.type_features[slots.type_of(v)].rows.row_bytes);
    const double mean = std::accumulate(bytes.begin(), bytes.end(), 0.0) / num_parts;
    for (const double of_part : bytes) EXPECT_LT(of_part, 1.05 * mean);
    std::size_t cut = 0, cut_of_ranges = 0;
    const Owners ranges = range_parts(dataset, num_parts);
    for (std::uint64_t row = 0; row < slots.num_rows(); ++row) {
      const NodeId v = slots.node_of_row(slots.type_of_row(row), row);
      for (const NodeId u : dataset.graph.row(row)) {
        cut += owner[u] != owner[v] ? 1U : 0U;
        cut_of_ranges += ranges[u] != ranges[v] ? 1U : 0U;
      }
    }
    EXPECT_LT(cut, cut_of_ranges) << "of " << dataset.num_edges();
  }
}

TEST(RangeParts, OfATypedGraphAreThoseOfEachType) {
  const Dataset dataset = make_synthetic_dataset(synthetic_typed_like("mag", 0.001), 1);
  const Owners owner = range_parts(dataset, 4);
  const std::vector<std::uint64_t>& begin = dataset.slots->node_begin;
  for (std::size_t t = 0; t + 1 < begin.size(); ++t)
    for (std::uint64_t v = begin[t]; v < begin[t + 1]; ++v)
      ASSERT_EQ(owner[v], (v - begin[t]) * 4 / (begin[t + 1] - begin[t])) << v;
}

}  // namespace
}  // namespace salient
