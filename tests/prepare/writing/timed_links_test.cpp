// tests/prepare/writing/timed_links_test.cpp - links asked for at their times: splits by time, and their stores.
#include "prepare/importers/timed_links.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/philox.h"
#include "prepare/writing/write_store.h"
#include "store/dataset_summary.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using test::Complaint, test::complaint_of;
using Times = std::vector<std::int64_t>;

/// Edges at random, a self loop now and then, of few times in no order.
RawGraph random_graph(bool symmetrise = true, std::size_t num_edges = 600, std::uint32_t num_times = 100) {
  RawGraph graph;
  graph.name = "random";
  graph.source_kind = "edges";
  graph.source_path = "by hand";
  graph.num_nodes = 40;
  graph.symmetrise = symmetrise;
  for (std::uint32_t e = 0; e < num_edges; ++e) {
    const PhiloxBlock draw = philox4x32({{1, 7}}, {{e, 0, 0, 0}});
    graph.sources.push_back(draw.word[0] % 40);
    graph.destinations.push_back(draw.word[1] % 40);
    graph.edge_values.times.push_back(std::int64_t{draw.word[2] % num_times} - 20);
  }
  return graph;
}

TEST(TimedLinks, TheEarliestAreForTrainingAndNoTimeIsCut) {
  const RawGraph before = random_graph();
  RawGraph graph = before;
  split_edges_by_time(graph, {0.7, 0.15, 0.15});
  EXPECT_TRUE(graph.has_links && graph.has_link_times);
  std::size_t count = 0;
  for (std::size_t s = 0; s < 3; ++s) {
    const Times& times = graph.link_times[s];
    ASSERT_EQ(2 * times.size(), graph.links[s].size());
    EXPECT_TRUE(std::ranges::is_sorted(times));
    count += times.size();
    if (s == 0) continue;
    EXPECT_GT(times.front(), graph.link_times[s - 1].back()) << "equal times are in one part";
  }
  std::size_t loops = 0;
  for (std::size_t e = 0; e < before.sources.size(); ++e) loops += before.sources[e] == before.destinations[e];
  EXPECT_GT(loops, 5u);
  EXPECT_EQ(count, 600 - loops) << "each edge is a link of its own";
  EXPECT_EQ(graph.sources.size(), count) << "and an entry, whatever split it is of";
  EXPECT_NEAR(static_cast<double>(graph.link_times[0].size()) / static_cast<double>(count), 0.7, 0.02);
}

TEST(TimedLinks, EdgesKeepTheirOrderAndValues) {
  RawGraph graph = random_graph();
  for (std::size_t e = 0; e < graph.sources.size(); ++e)
    graph.edge_values.weights.push_back(static_cast<float>(graph.sources[e] * 100 + graph.destinations[e]));
  split_edges_by_time(graph, {0.5, 0.2, 0.2});  // a tenth is left out, the latest
  ASSERT_EQ(graph.edge_values.weights.size(), graph.sources.size());
  for (std::size_t e = 0; e < graph.sources.size(); ++e)
    ASSERT_EQ(graph.edge_values.weights[e], static_cast<float>(graph.sources[e] * 100 + graph.destinations[e]));
  EXPECT_EQ(std::ranges::max(graph.edge_values.times), graph.link_times[kTestLinks].back());
}

TEST(TimedLinks, RefuseWhatLeavesNothingToTrainOn) {
  RawGraph graph = random_graph();
  EXPECT_TRUE(complaint_of([&] { split_edges_by_time(graph, {0, 0.5, 0.5}); }).mentions("none to train on"));
  RawGraph loops = random_graph();
  loops.destinations = loops.sources;
  EXPECT_TRUE(complaint_of([&] { split_edges_by_time(loops, {0.7, 0.1, 0.2}); }).mentions("no edge between two nodes"));
  RawGraph labels = random_graph();
  labels.task = Task::kMultiLabel;
  EXPECT_EQ(complaint_of([&] { split_edges_by_time(labels, {0.7, 0.1, 0.2}); }).exit_code, 2);
}

TEST(TimedLinks, GivenSplitsFollowEachOtherInTime) {
  RawGraph graph = random_graph();
  GivenLinks given{
      .ends = {{{1, 2, 3, 3, 2, 1}, {4, 5}}}, .times = {{{79, 80, 81}, {81}}}, .files = {"v.csv", "t.csv"}};
  GivenLinks early = given;
  early.times[1] = {80};
  RawGraph other = graph;
  take_timed_links(graph, given);
  EXPECT_EQ(graph.link_times[kValidLinks], (Times{79, 81})) << "without the self loop";
  EXPECT_EQ(given.kept[0], (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(graph.edge_values.times.back(), 81);
  const Complaint complaint = complaint_of([&] { take_timed_links(other, early); });
  EXPECT_EQ(complaint.exit_code, 65);
  EXPECT_TRUE(complaint.mentions("t.csv: link 0 is at 80, before the last of an earlier split at 81"))
      << complaint.text;
}

class TimedStore : public test::StoreFolder {
 public:
  explicit TimedStore(bool symmetrise = true) {
    RawGraph graph = random_graph(symmetrise);
    split_edges_by_time(graph, {0.7, 0.15, 0.15});
    write_store(std::move(graph), {.out = path(), .num_threads = 1});
  }
  Times times(std::size_t split) const {
    const Dataset dataset = open_dataset(path(), 1);
    return {dataset.links[split].times.begin(), dataset.links[split].times.end()};
  }
  void set_times(const char* file, const Times& times) const { replace_array(file, "<i8", {times.size()}, times); }
  void expect_not_verified(const std::vector<std::string>& parts) const {
    EXPECT_NO_THROW((void)open_dataset(path(), 1));
    const Complaint complaint = complaint_of([&] { verify_dataset(path(), 1); });
    EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
    for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
  }
};

TEST(TimedLinkStore, EntriesAreTheLinksOfAllSplits) {
  for (const bool symmetrise : {true, false}) {
    const TimedStore store(symmetrise);
    EXPECT_NO_THROW(verify_dataset(store.path(), 1));
    const Dataset dataset = open_dataset(store.path(), 1);
    EXPECT_TRUE(dataset.has_link_times && dataset.has_edge_times);
    std::size_t count = 0;
    for (const LinkTable& links : dataset.links) count += links.size();
    EXPECT_EQ(dataset.num_edges(), static_cast<EdgeOffset>(count * (symmetrise ? 2 : 1)));
    EXPECT_EQ(nlohmann::json::parse(test::read_bytes(store / "dataset.json"))["format_version"], 3)
        << "older programs would show all entries to every link";
    const std::string text = summary_text(dataset, summarise(dataset, 1));
    EXPECT_NE(text.find("each asked for at its time"), std::string::npos) << text;
  }
}

TEST(TimedLinkStore, VerifyKnowsItsLaw) {
  const TimedStore store;
  Times times = store.times(kTestLinks);
  times[3] = store.times(kTrainLinks).back() - 1;
  store.set_times("links-test-times.npy", times);
  store.expect_not_verified({"links-test-times.npy: record 3 is at", "of links-train-times.npy"});
  const TimedStore other;
  times = other.times(kTestLinks);
  times.back() += 1000;
  other.set_times("links-test-times.npy", times);
  other.expect_not_verified({"indices.npy: ", "entry ", "is no link"});  // its own entry has the old time
}

TEST(TimedLinkStore, OpeningChecksTimesByTheirNumber) {
  const TimedStore store;
  Times times = store.times(kValidLinks);
  times.pop_back();
  store.set_times("links-valid-times.npy", times);
  EXPECT_EQ(complaint_of([&] { (void)open_dataset(store.path(), 1); }).exit_code, 65);
  const TimedStore older;
  older.edit_manifest([](nlohmann::json& root) { root["format_version"] = 2; });
  EXPECT_TRUE(complaint_of([&] { (void)open_dataset(older.path(), 1); }).mentions("format_version"));
}

TEST(TimedLinkStore, FeaturesThatCountTheFutureAreRefused) {
  for (const MadeFeatures kind : {MadeFeatures::kDegree, MadeFeatures::kPositional}) {
    RawGraph graph = random_graph();
    split_edges_by_time(graph, {0.7, 0.15, 0.15});
    const test::Scratch out;
    const Complaint complaint = complaint_of(
        [&] { write_store(std::move(graph), {.out = out / "x", .make_features = {.kind = kind, .width = 2}}); });
    EXPECT_EQ(complaint.exit_code, 2);
    EXPECT_TRUE(complaint.mentions("later than those to be predicted")) << complaint.text;
  }
}

}  // namespace
}  // namespace salient
