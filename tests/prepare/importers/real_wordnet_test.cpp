// tests/prepare/importers/real_wordnet_test.cpp - the real WordNet 3.0 against the figures that a reference script
// measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <vector>

#include "core/half.h"
#include "prepare/importers/wordnet_importer.h"

namespace salient {
namespace {

class RealWordnet : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::filesystem::exists("/usr/share/wordnet/data.noun")) graph_ = import_wordnet({});
  }
  static void TearDownTestSuite() { graph_ = RawGraph(); }
  void SetUp() override {
    if (graph_.num_nodes == 0) GTEST_SKIP() << "no /usr/share/wordnet: install wordnet-base";
  }
  inline static RawGraph graph_;
};

/// Undirected edges, each once, ascending.
std::vector<std::uint64_t> edges_of(const RawGraph& graph) {
  std::vector<std::uint64_t> edges;
  for (std::size_t m = 0; m < graph.sources.size(); ++m) {
    const auto [low, high] = std::minmax(graph.sources[m], graph.destinations[m]);
    edges.push_back(std::uint64_t{low} << 32 | high);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

struct Shape {
  std::size_t num_edges, isolated, components, largest, max_degree;
  int equal_labels_per_mille;
  bool operator==(const Shape&) const = default;
};

Shape shape_of(const RawGraph& graph) {
  std::vector<NodeId> root(graph.num_nodes), degree(graph.num_nodes), size(graph.num_nodes);
  std::iota(root.begin(), root.end(), NodeId{0});
  const auto find = [&](NodeId v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  std::size_t equal = 0;
  const std::vector<std::uint64_t> edges = edges_of(graph);
  for (const std::uint64_t edge : edges) {
    const auto a = static_cast<NodeId>(edge >> 32), b = static_cast<NodeId>(edge);
    ++degree[a], ++degree[b];
    equal += graph.labels[a] == graph.labels[b];
    root[find(a)] = find(b);
  }
  for (NodeId v = 0; v < graph.num_nodes; ++v) ++size[find(v)];
  const auto zeros = [](const auto& values) { return static_cast<std::size_t>(std::ranges::count(values, NodeId{0})); };
  const double share = static_cast<double>(equal) / static_cast<double>(edges.size());
  return {edges.size(),
          zeros(degree),
          graph.num_nodes - zeros(size),
          *std::ranges::max_element(size),
          *std::ranges::max_element(degree),
          static_cast<int>(share * 1000 + 0.5)};
}

TEST_F(RealWordnet, Edges) {
  EXPECT_EQ(graph_.num_nodes, 117'659u);
  EXPECT_EQ(graph_.sources.size(), 285'348u);
  EXPECT_EQ(shape_of(graph_), (Shape{142'973, 7'914, 8'858, 106'236, 671, 882}));
}

TEST_F(RealWordnet, EdgesOfAllPointers) {
  const RawGraph graph = import_wordnet({.pointers = WordnetPointers::kAll});
  EXPECT_EQ(shape_of(graph), (Shape{183'789, 1'009, 1'377, 115'426, 674, 709}));
}

TEST_F(RealWordnet, Classes) {
  const std::vector<int> expected = {14435, 3661, 3621, 51,   6650, 7509, 11587, 3039, 2016, 2964, 5607, 1074,
                                     428,   2573, 2624, 3209, 42,   1545, 11087, 641,  8030, 1061, 770,  1275,
                                     437,   341,  3544, 2983, 1028, 547,  2383,  695,  1548, 459,  243,  2196,
                                     694,   343,  1408, 461,  847,  1106, 756,   81,   60};
  std::vector<int> counts(45);
  for (const std::int32_t label : graph_.labels) ++counts[static_cast<std::size_t>(label)];
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(graph_.num_classes, 45);
  EXPECT_EQ(graph_.class_names[3], "noun.Tops");
  EXPECT_EQ(graph_.class_names[44], "adj.ppl");
}

TEST_F(RealWordnet, NodeOrder) {
  const std::vector<std::uint64_t> expected = {87312, 21488, 94721, 24854, 28601};
  for (std::uint64_t synset = 0; synset < expected.size(); ++synset)
    EXPECT_EQ(graph_.original_ids[expected[synset]], synset);
  EXPECT_EQ(graph_.labels[87312], 3);  // entity
}

TEST_F(RealWordnet, Split) {
  EXPECT_EQ(graph_.train.size(), 70'595u);
  EXPECT_EQ(graph_.valid.size(), 23'531u);
  EXPECT_EQ(graph_.test.size(), 23'533u);
  const std::vector<std::uint64_t> expected = {76081, 26341, 41164, 70385, 36163};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(graph_.original_ids[graph_.train[i]], expected[i]);
  std::vector<NodeId> all = graph_.train;
  all.insert(all.end(), graph_.valid.begin(), graph_.valid.end());
  all.insert(all.end(), graph_.test.begin(), graph_.test.end());
  std::sort(all.begin(), all.end());
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
  std::vector<int> trained(45);
  for (const NodeId node : graph_.train) ++trained[static_cast<std::size_t>(graph_.labels[node])];
  EXPECT_EQ(*std::ranges::min_element(trained), 25);
}

TEST_F(RealWordnet, Features) {
  ASSERT_EQ(graph_.features.dim, 1024);
  ASSERT_EQ(graph_.vocabulary.size(), 1024u);
  EXPECT_EQ(graph_.vocabulary.front(), "by");
  EXPECT_EQ(graph_.vocabulary.back(), "provided");
  std::size_t nonzeros = 0, zero_rows = 0, longest = 0, with_by = 0, with_provided = 0;
  ASSERT_EQ(graph_.features.rows.size(), graph_.num_nodes * 1024 * 2);
  std::vector<std::uint16_t> row(1024);
  for (std::size_t node = 0; node < graph_.num_nodes; ++node) {
    std::memcpy(row.data(), graph_.features.rows.data() + node * 2048, 2048);
    const auto count = row.size() - static_cast<std::size_t>(std::ranges::count(row, 0));
    nonzeros += count;
    zero_rows += count == 0;
    longest = std::max(longest, count);
    with_by += row.front() != 0;
    with_provided += row.back() != 0;
    if (count > 0) {
      ASSERT_NEAR(half_to_float(*std::ranges::max_element(row)), 1 / std::sqrt(static_cast<double>(count)), 3e-4);
    }
  }
  EXPECT_EQ(nonzeros, 529'969u);
  EXPECT_EQ(zero_rows, 5'131u);
  EXPECT_EQ(longest, 32u);
  EXPECT_EQ(with_by, 11'589u);
  EXPECT_EQ(with_provided, 156u);
}

}  // namespace
}  // namespace salient
