// tests/store/typed_store_test.cpp - a store of a typed graph: what it has, who may open it, and each rule broken once.
#include <gtest/gtest.h>

#include <map>

#include "prepare/writing/write_typed_store.h"
#include "store/dataset_arrays.h"
#include "store/dataset_sharing.h"
#include "store/dataset_summary.h"
#include "store/open_store.h"
#include "tests/support/small_store.h"
#include "tests/support/typed_graphs.h"

namespace salient {
namespace {

using nlohmann::json;
using test::Complaint, test::complaint_of, test::read_bytes, test::write_bytes;

class SmallTypedStore : public test::StoreFolder {
 public:
  SmallTypedStore() { write_typed_store(test::small_typed_graph(), {.out = path(), .num_threads = 1}); }
  Dataset open() const { return open_store(path(), 1, FeatureFile::kNeeded, GraphKind::kAny).dataset; }
};

void expect_complaint(const Complaint& complaint, const std::vector<std::string>& parts) {
  EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
}
void expect_refused(const SmallTypedStore& store, const std::vector<std::string>& parts) {
  expect_complaint(complaint_of([&] { (void)store.open(); }), parts);
}
void expect_not_verified(const SmallTypedStore& store, const std::vector<std::string>& parts) {
  EXPECT_NO_THROW((void)store.open());
  expect_complaint(complaint_of([&] { verify_dataset(store.path(), 1); }), parts);
}

TEST(TypedStore, HasSlotsFeaturesAndLabelsOfItsTypes) {
  const SmallTypedStore store;
  const Dataset dataset = store.open();
  EXPECT_EQ(dataset.num_nodes(), 9u);
  EXPECT_EQ(dataset.graph.num_rows(), 4u * 3 + 3 + 2) << "paper: cites, rev_written_by, rev_about";
  const auto row = [&](std::size_t type, NodeId node, std::uint32_t slot) {
    const auto entries = dataset.graph.row(dataset.slots->row_of(type, node, slot));
    return std::vector<NodeId>(entries.begin(), entries.end());
  };
  EXPECT_EQ(row(0, 2, 0), (std::vector<NodeId>{2})) << "paper 2 cites itself";
  EXPECT_EQ(row(0, 1, 1), (std::vector<NodeId>{4, 5})) << "the authors of paper 1";
  EXPECT_EQ(row(0, 1, 2), (std::vector<NodeId>{8})) << "its subject";
  EXPECT_EQ(row(1, 4, 0), (std::vector<NodeId>{0, 1})) << "the papers of author 0, one of them listed twice";
  EXPECT_EQ(row(1, 6, 0), (std::vector<NodeId>{})) << "author 2 wrote nothing";
  EXPECT_EQ(dataset.labels.size(), 4u);
  EXPECT_EQ(dataset.features.num_rows, 4u) << "the target type's";
  EXPECT_EQ(dataset.feature_dim, 2);
  EXPECT_EQ(dataset.type_features[1].sparse.num_values(), 3u);
  EXPECT_EQ(dataset.type_features[1].sparse.longest.num_values(1), 2u);
  EXPECT_EQ(dataset.type_features[2].rows.num_rows, 0u);
  EXPECT_EQ(dataset.feature_bytes(), 4u * 2 * 2 + dataset.type_features[1].sparse.num_bytes(2));
  EXPECT_NO_THROW(verify_dataset(store.path(), 1));
}

TEST(TypedStore, ProgramsForPlainGraphsRefuseItInOneLine) {
  const SmallTypedStore store;
  expect_complaint(complaint_of([&] { open_dataset(store.path(), 1); }),
                   {"store: a typed graph, of 3 node types and 5 relations", "nothing else yet"});
}

TEST(TypedStore, ItsSummaryHasTheSchema) {
  const SmallTypedStore store;
  const Dataset dataset = store.open();
  const std::string text = summary_text(dataset, summarise(dataset, 1));
  for (const char* part :
       {"paper: 4 nodes, 2 x f16, 0.0 MB; target", "author: 3 nodes, 2000 x f16, 0.0 MB, sparse: 1.0 values a node",
        "subject: 2 nodes, no features", "paper:cites:paper: 3 entries, mean 0.75 a node, 1 without",
        "paper:written_by:author: 5 entries", "author:rev_written_by:paper: 5 entries", "reverse of written_by",
        "9 nodes, 21 entries in 17 slots", "classes         3", "2 train, 1 valid, 1 test"})
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

TEST(TypedStore, EntriesAreNodesOfTheSourceType) {
  const SmallTypedStore store;
  std::vector<NodeId> indices;
  for (const NodeId entry : store.open().graph.indices) indices.push_back(entry);
  const auto with = [&](std::size_t at, NodeId entry) {
    std::vector<NodeId> changed = indices;
    changed[at] = entry;
    store.replace_array("indices.npy", "<u4", {changed.size()}, changed);
  };
  EXPECT_EQ(indices[0], 3u) << "paper 0 is cited by 3";
  with(0, 4);
  expect_refused(store, {"indices.npy: row 0 (paper:cites:paper) has 4, nodes of type 'paper' are 0 to 3"});
  with(1, 3);
  EXPECT_EQ(indices[1], 4u) << "it has author 0";
  expect_refused(store, {"row 1 (author:rev_written_by:paper) has 3, nodes of type 'author' are 4 to 6"});
  with(1, 0xFFFFFFFF);
  expect_refused(store, {"(author:rev_written_by:paper) has 4294967295"});
}

TEST(TypedStore, RelationsHaveAsManyEntriesAsTheManifestSays) {
  const SmallTypedStore store;
  store.edit_manifest([](json& root) {
    root["relations"][0]["entries"] = 5;
    root["relations"][2]["entries"] = 3;
    root["relations"][4]["entries"] = 3;
  });
  expect_refused(store, {"indptr.npy: relation paper:cites:paper has 3 entries, dataset.json says 5"});
}

TEST(TypedStore, SumsOfTheManifestAreThoseOfItsTypes) {
  const auto refused = [](const std::function<void(json&)>& edit, const std::string& part) {
    const SmallTypedStore store;
    store.edit_manifest(edit);
    expect_refused(store, {"dataset.json: line", part});
  };
  refused([](json& root) { root["num_nodes"] = 8; }, "'num_nodes' is 8, the node types have 9 together");
  refused([](json& root) { root["num_edges"] = 22; }, "'num_edges' is 22, the relations have 21 entries together");
  refused([](json& root) { root["feature_dim"] = 3; }, "are not those of the target type");
  refused([](json& root) { root["files"].erase("features.0.npy"); },
          "is missing, though a node type has such features");
  refused([](json& root) { root["files"]["features.2.npy"] = root["files"]["features.0.npy"]; },
          "is there, though no node type has such features");
  refused([](json& root) { root["files"]["features.npy"] = root["files"]["features.0.npy"]; },
          "is there, though no node type has such features");
  refused([](json& root) { root.erase("relations"); }, "'relations' is missing");
  refused([](json& root) { root["node_types"][1]["name"] = "paper"; }, "'relations / ");
}

TEST(TypedStore, LabelsAndSplitAreOfTheTargetType) {
  const SmallTypedStore store;
  store.replace_array("train.npy", "<u4", {2}, std::vector<NodeId>{2, 4});
  expect_refused(store, {"train.npy: position 1: node 4"});
  const SmallTypedStore other;
  other.replace_array("labels.npy", "<i4", {9}, std::vector<std::int32_t>(9, 0));
  expect_refused(other, {"labels.npy", "(9,)"});
}

TEST(TypedStore, VerifyReadsWhatOpeningDoesNot) {
  const SmallTypedStore store;
  std::vector<NodeId> indices;
  const Dataset dataset = store.open();
  for (const NodeId entry : dataset.graph.indices) indices.push_back(entry);
  const std::uint64_t row = dataset.slots->row_of(0, 3, 2);  // the subject of paper 3, in rev_about
  const auto at = static_cast<std::size_t>(dataset.graph.indptr[row]);
  EXPECT_EQ(indices[at], 7u);
  indices[at] = 8;
  store.replace_array("indices.npy", "<u4", {indices.size()}, indices);
  expect_not_verified(store, {"relation subject:rev_about:paper leads from 8 to 3, but paper:about:subject does not"});

  const SmallTypedStore values;
  values.replace_array("features.0.npy", "<f2", {4, 2}, std::vector<std::uint16_t>{0, 0, 0, 0x7C00, 0, 0, 0, 0});
  expect_not_verified(values, {"features.0.npy: 1 values are not finite, the first in row 1, column 1"});

  const SmallTypedStore loops;
  loops.edit_manifest([](json& root) { root["self_loops"] = 0; });
  expect_not_verified(loops, {"self_loops is 0, the graph has 1"});

  const SmallTypedStore bytes;
  std::string labels = read_bytes(bytes / "labels.npy");
  labels[labels.size() - 16] = 1;
  write_bytes(bytes / "labels.npy", labels);
  expect_not_verified(bytes, {"labels.npy: XXH3 checksum"});
}

TEST(TypedStore, SparseRowsKeepTheirRules) {
  const SmallTypedStore store;
  store.replace_array("feature_begin.1.npy", "<i8", {4}, std::vector<std::int64_t>{0, 2, 1, 3});
  expect_refused(store, {"feature_begin.1.npy: row 1 ends before its start"});
  const SmallTypedStore columns;
  columns.replace_array("feature_columns.1.npy", "<u4", {3}, std::vector<std::uint32_t>{2000, 0, 1});
  expect_refused(columns, {"feature_columns.1.npy: row 0: columns are ascending"});
}

TEST(TypedStore, TheListOfArraysHasAllOfThem) {
  const SmallTypedStore store;
  const Dataset original = store.open();
  std::map<std::string, std::span<const std::byte>> arrays;
  visit_arrays(original, graph_size_of(original), [&](const DatasetArray& array, const auto& items) {
    std::size_t bytes = item_bytes(array.stored);
    for (const std::uint64_t dimension : array.shape_of(items.size_bytes())) bytes *= dimension;
    EXPECT_EQ(bytes, items.size_bytes()) << array.name;
    EXPECT_TRUE(std::filesystem::exists(store / array.stored.file));
    arrays[array.name] = std::as_bytes(items);
  });
  Dataset copy;
  copy.facts() = original.facts();
  visit_arrays(copy, {}, [&]<class T>(const DatasetArray& array, std::span<const T>& items) {
    const std::span<const std::byte> bytes = arrays.at(array.name);
    items = {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  });
  complete(copy);
  EXPECT_EQ(copy.num_nodes(), original.num_nodes());
  EXPECT_EQ(copy.features.data, original.features.data);
  EXPECT_EQ(copy.type_features[0].rows.data, original.type_features[0].rows.data);
  EXPECT_EQ(copy.type_features[0].rows.num_rows, 4u);
  EXPECT_EQ(copy.type_features[1].sparse.values, original.type_features[1].sparse.values);
  EXPECT_EQ(copy.type_features[1].sparse.longest.num_values(1), 2u);
}

}  // namespace
}  // namespace salient
