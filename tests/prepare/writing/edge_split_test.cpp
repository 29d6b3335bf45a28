// tests/prepare/writing/edge_split_test.cpp - edges become links of three splits: no pair is in two, and entries are
// training's alone.
#include "prepare/importers/edge_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/error.h"
#include "core/philox.h"
#include "prepare/writing/write_store.h"
#include "store/dataset_summary.h"
#include "store/link_checks.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using test::Complaint, test::complaint_of;
using Ids = std::vector<NodeId>;
using Pair = std::pair<NodeId, NodeId>;

/// Edges at random: repeats, reverses and self loops among them.
RawGraph random_graph(NodeId num_nodes, std::size_t num_edges, bool symmetrise, std::uint32_t seed) {
  RawGraph graph;
  graph.name = "random";
  graph.source_kind = "edges";
  graph.source_path = "by hand";
  graph.num_nodes = num_nodes;
  graph.symmetrise = symmetrise;
  graph.rng_seed = seed;
  for (std::uint32_t e = 0; e < num_edges; ++e) {
    const PhiloxBlock draw = philox4x32({{seed, 7}}, {{e, 0, 0, 0}});
    graph.sources.push_back(draw.word[0] % num_nodes);
    graph.destinations.push_back(draw.word[1] % num_nodes);
  }
  return graph;
}

Pair pair_of(NodeId a, NodeId b) { return std::minmax(a, b); }

std::vector<Pair> links_of(const RawGraph& graph, std::size_t split) {
  std::vector<Pair> links;
  for (std::size_t i = 0; i < graph.links[split].size(); i += 2)
    links.emplace_back(graph.links[split][i], graph.links[split][i + 1]);
  return links;
}

TEST(EdgeSplit, APairIsInOneSplitWithBothDirectionsAndAllRepeats) {
  for (const bool symmetrise : {true, false})
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      const RawGraph before = random_graph(40, 600, symmetrise, seed);
      std::set<Pair> links_to_have;  // directed, or pairs
      for (std::size_t e = 0; e < before.sources.size(); ++e) {
        const Pair edge{before.sources[e], before.destinations[e]};
        if (edge.first != edge.second) links_to_have.insert(symmetrise ? pair_of(edge.first, edge.second) : edge);
      }
      RawGraph graph = before;
      split_edges(graph, {0.7, 0.1, 0.2});
      std::map<Pair, std::size_t> split_of;
      std::set<Pair> links_found;
      for (std::size_t s = 0; s < 3; ++s)
        for (const auto& [source, destination] : links_of(graph, s)) {
          const Pair pair = pair_of(source, destination);
          EXPECT_EQ(split_of.emplace(pair, s).first->second, s) << "a pair of two splits";
          EXPECT_TRUE(links_found.insert(symmetrise ? pair : Pair{source, destination}).second) << "a link twice";
        }
      EXPECT_EQ(links_found, links_to_have);
      Ids sources, destinations;  // of training, in the order of the source, with all repeats
      for (std::size_t e = 0; e < before.sources.size(); ++e) {
        if (before.sources[e] == before.destinations[e]) continue;
        if (split_of.at(pair_of(before.sources[e], before.destinations[e])) != kTrainLinks) continue;
        sources.push_back(before.sources[e]);
        destinations.push_back(before.destinations[e]);
      }
      EXPECT_EQ(graph.sources, sources);
      EXPECT_EQ(graph.destinations, destinations);
    }
}

TEST(EdgeSplit, SizesAreThoseOfTheFractionsAndFollowTheSeed) {
  RawGraph graph = random_graph(1000, 3000, true, 3);
  graph.edge_values.weights.assign(3000, 2.5F);
  RawGraph other = graph;
  other.rng_seed = 4;
  const RawGraph same = graph;
  split_edges(graph, {0.8, 0.1, 0.1});
  const auto count = [&](std::size_t s) { return static_cast<double>(graph.links[s].size() / 2); };
  const double all = count(0) + count(1) + count(2);
  EXPECT_NEAR(count(kValidLinks) / all, 0.1, 0.001);
  EXPECT_NEAR(count(kTestLinks) / all, 0.1, 0.001);
  EXPECT_EQ(graph.edge_values.weights.size(), graph.sources.size());
  RawGraph again = same;
  split_edges(again, {0.8, 0.1, 0.1});
  EXPECT_EQ(again.links, graph.links);
  split_edges(other, {0.8, 0.1, 0.1});
  EXPECT_NE(other.links, graph.links);
}

TEST(EdgeSplit, EdgesThatStayKeepTheirFeatures) {
  RawGraph graph = random_graph(100, 2000, true, 3);
  RawFeatures& features = graph.edge_values.features;
  features.type = FeatureType::kF32;
  features.dim = 2;
  for (std::size_t e = 0; e < graph.sources.size(); ++e) {
    const std::array row{static_cast<float>(graph.sources[e]), static_cast<float>(graph.destinations[e])};
    const auto* const bytes = reinterpret_cast<const std::byte*>(row.data());
    features.rows.insert(features.rows.end(), bytes, bytes + sizeof(row));
  }
  split_edges(graph, {0.5, 0.2, 0.3});
  ASSERT_EQ(features.num_rows(), graph.sources.size());
  ASSERT_LT(graph.sources.size(), 1500U);
  const auto* const rows = reinterpret_cast<const float*>(features.rows.data());
  for (std::size_t e = 0; e < graph.sources.size(); ++e) {
    ASSERT_EQ(rows[2 * e], static_cast<float>(graph.sources[e]));
    ASSERT_EQ(rows[2 * e + 1], static_cast<float>(graph.destinations[e]));
  }
}

TEST(EdgeSplit, RefusesWhatHasNoLinks) {
  RawGraph loops;
  loops.source_path = "loops.txt";
  loops.num_nodes = 2;
  loops.sources = loops.destinations = {0, 1};
  EXPECT_TRUE(complaint_of([&] { split_edges(loops, {0.8, 0.1, 0.1}); }).mentions("no edge between two nodes"));
  RawGraph one = loops;
  one.destinations = {1, 0};
  EXPECT_TRUE(complaint_of([&] { split_edges(one, {0.8, 0.1, 0.1}); }).mentions("leaves none to train on"));
  one = loops;
  one.task = Task::kMultiLabel;
  EXPECT_TRUE(complaint_of([&] { split_edges(one, {0.8, 0.1, 0.1}); }).mentions("several labels a node"));
}

class LinkStore : public test::StoreFolder {
 public:
  explicit LinkStore(bool symmetrise = true) {
    RawGraph graph = random_graph(60, 500, symmetrise, 1);
    split_edges(graph, {0.8, 0.1, 0.1});
    write_store(std::move(graph), {.out = path(), .num_threads = 1});
  }
  Ids ends(std::size_t split) const {
    const Dataset dataset = open_dataset(path(), 1);
    return {dataset.links[split].ends.begin(), dataset.links[split].ends.end()};
  }
  void set_ends(const char* file, const Ids& ends) const { replace_array(file, "<u4", {ends.size() / 2, 2}, ends); }
};

void expect_not_verified(const LinkStore& store, const std::vector<std::string>& parts) {
  EXPECT_NO_THROW((void)open_dataset(store.path(), 1));
  const Complaint complaint = complaint_of([&] { verify_dataset(store.path(), 1); });
  EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
}

TEST(PlainLinkStore, EntriesAreTheTrainingLinksAndNothingElse) {
  for (const bool symmetrise : {true, false}) {
    const LinkStore store(symmetrise);
    EXPECT_NO_THROW(verify_dataset(store.path(), 1));
    const Dataset dataset = open_dataset(store.path(), 1);
    EXPECT_TRUE(dataset.has_links);
    EXPECT_EQ(dataset.num_edges(), static_cast<EdgeOffset>(dataset.links[kTrainLinks].size() * (symmetrise ? 2 : 1)));
    EXPECT_TRUE(dataset.links[kTrainLinks].relations.empty());
    const auto leaks = count_leaks(dataset);
    for (const std::size_t s : {kValidLinks, kTestLinks}) {
      EXPECT_GT(dataset.links[s].size(), 0u);
      EXPECT_EQ(leaks[s].in_training, 0u);
      EXPECT_EQ(leaks[s].reversed_in_training, 0u);
    }
    const std::string text = summary_text(dataset, summarise(dataset, 1));
    EXPECT_NE(text.find("links"), std::string::npos) << text;
    EXPECT_NE(text.find("0 of " + std::to_string(dataset.links[kTestLinks].size())), std::string::npos) << text;
  }
}

TEST(PlainLinkStore, VerifyCountsWhatSplitsShare) {
  const LinkStore store;
  const Ids train = store.ends(kTrainLinks);
  Ids test = store.ends(kTestLinks);
  test[0] = train[1], test[1] = train[0];  // the other way round
  test[4] = train[6], test[5] = train[7];
  store.set_ends("links-test.npy", test);
  expect_not_verified(store, {"links-test.npy: 2 links are in an earlier split too", "of links-train.npy"});
  const LinkStore twice;
  Ids valid = twice.ends(kValidLinks);
  valid[2] = valid[1], valid[3] = valid[0];
  twice.set_ends("links-valid.npy", valid);
  expect_not_verified(twice, {"links-valid.npy: record 1 (", "is also record 0"});
}

TEST(PlainLinkStore, VerifyCountsEntriesThatAreNoTrainingLinks) {
  const LinkStore store;
  Ids train = store.ends(kTrainLinks);
  train.resize(train.size() - 4);  // two links fewer, whose entries stay: as if they were of another split
  store.set_ends("links-train.npy", train);
  expect_not_verified(store, {"indices.npy: 4 entries are no training link"});
  const LinkStore more;
  train = more.ends(kTrainLinks);
  const Ids test = more.ends(kTestLinks);
  train.insert(train.end(), test.begin(), test.begin() + 2);
  more.set_ends("links-train.npy", train);
  more.set_ends("links-test.npy", {test.begin() + 2, test.end()});
  expect_not_verified(more, {"links-train.npy: record ", "is no entry of the graph"});
}

TEST(PlainLinkStore, OpeningChecksTheEnds) {
  const LinkStore store;
  store.set_ends("links-valid.npy", {1, 2, 3, 60});
  const Complaint complaint = complaint_of([&] { (void)open_dataset(store.path(), 1); });
  EXPECT_EQ(complaint.exit_code, 65);
  EXPECT_TRUE(complaint.mentions("links-valid.npy: record 1 (3, 60): nodes are 0 to 59")) << complaint.text;
}

}  // namespace
}  // namespace salient
