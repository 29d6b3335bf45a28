// tests/store/link_store_test.cpp - a store with links: what it has, what is said of it, and each rule broken once.
#include <gtest/gtest.h>

#include <algorithm>

#include "prepare/writing/write_typed_store.h"
#include "store/dataset_sharing.h"
#include "store/dataset_summary.h"
#include "store/link_checks.h"
#include "store/open_store.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::Complaint, test::complaint_of;
using Ids = std::vector<NodeId>;
using Relations = std::vector<std::uint16_t>;

/// Entities 0 to 4, relations "x", "y" and their reverses; the test link 1 x 0 is the reverse of a training link, and
/// entity 4 is in the test set alone.
TypedGraph small_links() {
  TypedGraph graph;
  graph.schema = {
      .node_types = {{.name = "entity", .count = 5}},
      .relations = {
          {.name = "x"}, {.name = "y"}, {.name = "rev_x", .reverse_of = 0}, {.name = "rev_y", .reverse_of = 1}}};
  number_slots(graph.schema);
  graph.edges = {{{0, 2}, {1, 3}}, {{3}, {0}}, {}, {}};
  graph.has_links = true;
  graph.links = {RawLinks{{0, 1, 2, 3, 3, 0}, {0, 0, 1}}, RawLinks{{0, 2}, {0}}, RawLinks{{1, 0, 4, 1}, {0, 1}}};
  graph.features.resize(1);
  graph.target.name = "small";
  graph.target.source_kind = "triples";
  graph.target.source_path = "by hand";
  graph.target.symmetrise = false;
  graph.target.num_nodes = 5;
  return graph;
}

class LinkStore : public test::StoreFolder {
 public:
  explicit LinkStore(TypedGraph graph = small_links()) {
    write_typed_store(std::move(graph), {.out = path(), .num_threads = 1});
  }
  Dataset open() const { return open_store(path(), 1, FeatureFile::kNeeded, GraphKind::kAny).dataset; }
};

void expect_complaint(const Complaint& complaint, const std::vector<std::string>& parts) {
  EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
}
void expect_refused(const LinkStore& store, const std::vector<std::string>& parts) {
  expect_complaint(complaint_of([&] { (void)store.open(); }), parts);
}
void expect_not_verified(const LinkStore& store, const std::vector<std::string>& parts) {
  EXPECT_NO_THROW((void)store.open());
  expect_complaint(complaint_of([&] { verify_dataset(store.path(), 1); }), parts);
}

TEST(LinkStore, HasTheLinksOfItsSplits) {
  const LinkStore store;
  const Dataset dataset = store.open();
  EXPECT_TRUE(dataset.has_links);
  EXPECT_TRUE(std::ranges::equal(dataset.links[kTrainLinks].ends, Ids{0, 1, 2, 3, 3, 0}));
  EXPECT_TRUE(std::ranges::equal(dataset.links[kTestLinks].relations, Relations{0, 1}));
  EXPECT_EQ(dataset.links[kValidLinks].size(), 1u);
  EXPECT_EQ(dataset.links[kTestLinks].source(1), 4u);
  EXPECT_EQ(dataset.links[kTestLinks].destination(1), 1u);
  EXPECT_EQ(dataset.num_edges(), 6) << "of training links and their reverses alone";
  EXPECT_NO_THROW(verify_dataset(store.path(), 1));
  EXPECT_EQ(json::parse(test::read_bytes(store / "dataset.json"))["task"], "link");
}

TEST(LinkStore, SplitsMayBeEmpty) {
  TypedGraph graph = small_links();
  graph.links[kValidLinks] = graph.links[kTestLinks] = {};
  const LinkStore store(std::move(graph));
  EXPECT_EQ(store.open().links[kTestLinks].size(), 0u);
  EXPECT_NO_THROW(verify_dataset(store.path(), 1));
}

TEST(LinkStore, ItsSummaryCountsWhatSplitsShare) {
  const LinkStore store;
  const Dataset dataset = store.open();
  const std::array<LinkLeaks, 3> leaks = count_leaks(dataset);
  EXPECT_EQ(leaks[kTestLinks].reversed_in_training, 1u);
  EXPECT_EQ(leaks[kTestLinks].unseen, 1u);
  EXPECT_EQ(leaks[kTestLinks].in_training, 0u);
  EXPECT_EQ(leaks[kValidLinks].unseen, 0u);
  const std::string text = summary_text(dataset, summarise(dataset, 1));
  for (const char* part : {"links           3 train, 1 valid, 2 test",
                           "1 of 2 have their reverse in training, 1 a node that no training link has",
                           "1 of 5 nodes are in no training link"})
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

TEST(LinkStore, OpeningChecksRelationsAndEnds) {
  const LinkStore store;
  const auto with = [&](const Relations& relations) {
    store.replace_array("links-test-relation.npy", "<u2", {relations.size()}, relations);
  };
  with({0, 4});
  expect_refused(store, {"links-test-relation.npy: record 1 is relation 4, there are 4"});
  with({0, 2});
  expect_refused(store, {"record 1 (4, rev_x, 1) is of a reverse, which links never are"});
  with({0});
  expect_refused(store, {"links-test-relation.npy", "(2,)"});
  with({0, 1});
  EXPECT_NO_THROW((void)store.open());
  store.replace_array("links-test.npy", "<u4", {2, 2}, Ids{1, 0, 5, 1});
  expect_refused(store, {"links-test.npy: record 1 (5, y, 1) does not lead from a node of type 'entity'"});
  store.replace_array("links-test.npy", "<u4", {4}, Ids{1, 0, 4, 1});
  expect_refused(store, {"links-test.npy", "(4,)"});
}

TEST(LinkStore, VerifyFindsLeaksAndRepeats) {
  const LinkStore store;
  store.replace_array("links-test.npy", "<u4", {2, 2}, Ids{1, 0, 3, 0});
  expect_not_verified(store, {"links-test.npy: record 1 (3, y, 0) is also record 2 of links-train.npy"});
  EXPECT_EQ(count_leaks(store.open())[kTestLinks].in_training, 1u);
  const LinkStore between;
  between.replace_array("links-test.npy", "<u4", {2, 2}, Ids{0, 2, 4, 1});
  expect_not_verified(between, {"links-test.npy: record 0 (0, x, 2) is also record 0 of links-valid.npy"});
  const LinkStore within;
  within.replace_array("links-train.npy", "<u4", {3, 2}, Ids{0, 1, 0, 1, 3, 0});
  expect_not_verified(within, {"links-train.npy: record 1 (0, x, 1) is also record 0 of links-train.npy"});
}

TEST(LinkStore, VerifyComparesTrainingLinksWithTheGraph) {
  const LinkStore store;
  store.replace_array("links-train.npy", "<u4", {3, 2}, Ids{0, 1, 2, 4, 3, 0});
  expect_not_verified(store, {"links-train.npy: record 1 (2, x, 4) is no entry of the graph"});
  const LinkStore fewer;
  fewer.replace_array("links-train.npy", "<u4", {2, 2}, Ids{0, 1, 3, 0});
  fewer.replace_array("links-train-relation.npy", "<u2", {2}, Relations{0, 1});
  expect_not_verified(fewer, {"1 links of entity:x:entity, which has 2 entries"});
}

TEST(LinkStore, TheManifestNeedsTheirFiles) {
  const LinkStore store;
  store.edit_manifest([](json& root) { root["files"].erase("links-valid-relation.npy"); });
  expect_refused(store, {"links-valid-relation.npy' is missing"});
}

TEST(LinkStore, OtherProcessesGetThem) {
  const LinkStore store;
  const Dataset original = store.open();
  Dataset facts;
  facts.facts() = original.facts();
  EXPECT_TRUE(map_described(describe_shared(facts, SharedMemory())).has_links);
}

}  // namespace
}  // namespace salient
