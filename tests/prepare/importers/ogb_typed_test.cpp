// tests/prepare/importers/ogb_typed_test.cpp - a small graph in both of OGB's typed layouts, as ogbn-mag's, and what is
// wrong with others.
#include "prepare/importers/ogb_typed.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::bytes_of, test::gzip, test::npy, test::zip;
using Ids = std::vector<NodeId>;
using Wide = std::vector<std::int64_t>;

/// 3 authors, 2 institutions, 4 papers with 2 features each; paper 2 has no label. The types are in OGB's order.
class OgbTyped : public ::testing::Test {
 protected:
  OgbTyped() {
    put("split/time/nodetype-has-split.csv.gz", "author,institution,paper\nFalse,False,True\n");
    put("split/time/paper/train.csv.gz", "3\n0\n");
    put("split/time/paper/valid.csv.gz", "2\n");
    put("split/time/paper/test.csv.gz", "1\n");
    put("mapping/labelidx2venuename.csv.gz", "label idx,venue name\n0,a\n1,b\n2,c\n");
    put("mapping/author_entidx2name.csv.gz", "ent idx,author name\n0,ann\n");
  }
  void put(const std::string& file, const std::string& text) { test::write_bytes(root_ / file, gzip(text)); }
  void put_csv() {
    put("raw/num-node-dict.csv.gz", "author,institution,paper\n3,2,4\n");
    put("raw/triplet-type-list.csv.gz", "author,affiliated_with,institution\nauthor,writes,paper\npaper,cites,paper\n");
    put("raw/nodetype-has-label.csv.gz", "author,institution,paper\nFalse,False,True\n");
    put("raw/nodetype-has-feat.csv.gz", "author,institution,paper\nFalse,False,True\n");
    put("raw/node-feat/paper/node-feat.csv.gz", "0.5,-1\n2,0.25\n0.0,1e2\n-0.0,7\n");
    put("raw/node-feat/paper/node_year.csv.gz", "2014\n2015\n2016\n2017\n");
    put("raw/node-label/paper/node-label.csv.gz", "2\n0\nnan\n1\n");
    const auto put_edges = [&](const std::string& relation, const std::string& edges, const std::string& count) {
      put("raw/relations/" + relation + "/edge.csv.gz", edges);
      put("raw/relations/" + relation + "/num-edge-list.csv.gz", count + "\n");
      put("raw/relations/" + relation + "/edge_reltype.csv.gz", "0\n");
    };
    put_edges("author___affiliated_with___institution", "0,1\n2,0\n", "2");
    put_edges("author___writes___paper", "0,3\n1,0\n2,0\n", "3");
    put_edges("paper___cites___paper", "1,2\n3,3\n", "2");
  }
  void put_npz(const Wide& writes = {0, 1, 2, 3, 0, 0}) {
    const auto ids = [](const Wide& values) {
      return npy("<i8", "(2, " + std::to_string(values.size() / 2) + ")", bytes_of(values));
    };
    const auto count = [](std::int64_t n) { return npy("<i8", "(1,)", bytes_of(Wide{n})); };
    const std::vector<float> rows = {0.5f, -1, 2, 0.25f, 0, 100, -0.0f, 7};
    const std::vector<float> labels = {2, 0, std::numeric_limits<float>::quiet_NaN(), 1};
    const auto write = [&](const std::string& file, const std::vector<test::ZipEntry>& arrays) {
      test::write_bytes(root_ / "raw" / file, zip(arrays));
    };
    write("num_nodes_dict.npz", {{"author.npy", count(3)}, {"institution.npy", count(2)}, {"paper.npy", count(4)}});
    write("num_edges_dict.npz", {{"author___writes___paper.npy", count(3)}});
    write("edge_index_dict.npz", {{"author___affiliated_with___institution.npy", ids({0, 2, 1, 0})},
                                  {"author___writes___paper.npy", ids(writes)},
                                  {"paper___cites___paper.npy", ids({1, 3, 2, 3})}});
    write("node_feat.npz", {{"paper.npy", npy("<f4", "(4, 2)", bytes_of(rows))}});
    write("node_year.npz", {{"paper.npy", "whatever"}});
    write("node-label.npz", {{"paper.npy", npy("<f4", "(4, 1)", bytes_of(labels))}});
  }
  TypedGraph import(Symmetric symmetric = Symmetric::kAuto) {
    const OgbOptions options{.raw = root_, .feature_type = FeatureType::kF32, .symmetric = symmetric, .num_threads = 2};
    EXPECT_TRUE(is_typed_ogb(options));
    return import_typed_ogb(options);
  }
  void expect_whole() {
    const TypedGraph graph = import();
    ASSERT_EQ(graph.schema.node_types.size(), 3U);
    EXPECT_EQ(type_names(graph.schema), "author, institution, paper");
    EXPECT_EQ(graph.schema.target().name, "paper");
    EXPECT_EQ(graph.schema.target().count, 4U);
    ASSERT_EQ(graph.schema.relations.size(), 6U);
    EXPECT_EQ(text_of(graph.schema, graph.schema.relations[1]), "author:writes:paper");
    EXPECT_EQ(text_of(graph.schema, graph.schema.relations[4]), "paper:rev_writes:author");
    EXPECT_EQ(graph.edges[0].sources, (Ids{0, 2}));
    EXPECT_EQ(graph.edges[0].destinations, (Ids{1, 0}));
    EXPECT_EQ(graph.edges[1].sources, (Ids{0, 1, 2}));
    EXPECT_EQ(graph.edges[1].destinations, (Ids{3, 0, 0}));
    EXPECT_EQ(graph.edges[2].destinations, (Ids{2, 3}));
    EXPECT_TRUE(graph.edges[4].sources.empty()) << "it is the first one's";
    ASSERT_EQ(graph.features.size(), 3U);
    EXPECT_EQ(graph.features[0].dim, 0);
    EXPECT_EQ(graph.features[2].dim, 2);
    std::vector<float> values(8);
    ASSERT_EQ(graph.features[2].rows.size(), 8 * sizeof(float));
    std::memcpy(values.data(), graph.features[2].rows.data(), graph.features[2].rows.size());
    EXPECT_EQ(values, (std::vector<float>{0.5f, -1, 2, 0.25f, 0, 100, 0, 7}));
    EXPECT_EQ(graph.target.name, "mag-like");
    EXPECT_EQ(graph.target.source_kind, "ogb");
    EXPECT_EQ(graph.target.labels, (std::vector<std::int32_t>{2, 0, -1, 1}));
    EXPECT_EQ(graph.target.class_names, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(graph.target.train, (Ids{3, 0}));
    EXPECT_EQ(graph.target.valid, (Ids{2}));
    EXPECT_EQ(graph.target.test, (Ids{1}));
    EXPECT_EQ(import(Symmetric::kNo).schema.relations.size(), 3U);
  }
  void expect_bad(const std::string& file, const std::string& text, const std::string& message) {
    const std::string before = test::read_bytes(root_ / file);
    put(file, text);
    EXPECT_COMPLAINT(import(), ErrorKind::kBadData, message);
    test::write_bytes(root_ / file, before);
  }

  const test::Scratch scratch_;
  const std::filesystem::path root_ = scratch_ / "mag-like";
};

TEST_F(OgbTyped, CsvLayout) {
  put_csv();
  expect_whole();
}

TEST_F(OgbTyped, BinaryLayout) {
  put_npz();
  expect_whole();
}

TEST_F(OgbTyped, BrokenCsvFiles) {
  put_csv();
  const std::string counts = "raw/num-node-dict.csv.gz", triplets = "raw/triplet-type-list.csv.gz";
  const std::string writes = "raw/relations/author___writes___paper/";
  expect_bad(counts, "author,institution,paper\n3,2\n", "a line of types and a line of their counts are expected");
  expect_bad(counts, "author,institution,paper\n3,two,4\n", "num-node-dict.csv.gz: line 2: is not a count: 'two'");
  expect_bad(counts, "author,institution,paper\n3,2,4\n1,1,1\n", "line 3: one count a type is expected");
  expect_bad(counts, "author,paper\n3,4\n", "no node type 'institution'; there are author, paper");
  expect_bad(triplets, "author,writes\n", "triplet-type-list.csv.gz: line 1: SRC,NAME,DST is expected");
  expect_bad(writes + "edge.csv.gz", "0,3\n1,4\n2,0\n",
             "edge.csv.gz: line 2: node 4, those of type 'paper' are 0 to 3");
  expect_bad(writes + "edge.csv.gz", "0,3\n3,0\n2,0\n",
             "edge.csv.gz: line 2: node 3, those of type 'author' are 0 to 2");
  expect_bad(writes + "edge.csv.gz", "0,3\n", "edge.csv.gz: has 1 of the 3 lines that num-edge-list.csv.gz promises");
  expect_bad("raw/node-label/paper/node-label.csv.gz", "0\n1\n", "has 2 of the 4 lines that num-node-dict.csv.gz");
  expect_bad("split/time/paper/train.csv.gz", "4\n", "train.csv.gz: line 1: the graph has nodes 0 to 3");
  put("raw/node-label/author/node-label.csv.gz", "0\n1\n0\n");
  EXPECT_COMPLAINT(import(), ErrorKind::kBadData, "types 'author' and 'paper' have labels");
  std::filesystem::remove_all(root_ / "raw/node-label");
  EXPECT_COMPLAINT(import(), ErrorKind::kNoInput, "no type of nodes has labels");
  std::filesystem::remove(root_ / triplets);
  EXPECT_COMPLAINT(import(), ErrorKind::kNoInput, "missing: raw/triplet-type-list.csv.gz");
}

TEST_F(OgbTyped, BrokenArrays) {
  put_npz({0, 1, 2, 3, 0, 4});
  EXPECT_COMPLAINT(import(), ErrorKind::kBadData,
                   "'author___writes___paper.npy': item 5 is 4, node 4, those of type 'paper' are 0 to 3");
  put_npz();
  std::filesystem::remove(root_ / "raw/edge_index_dict.npz");
  EXPECT_COMPLAINT(import(), ErrorKind::kNoInput, "missing: raw/edge_index_dict.npz");
}

TEST_F(OgbTyped, AMemoryLimitIsKept) {
  put_csv();
  const OgbOptions options{.raw = root_, .memory = MemoryLimit(1)};
  EXPECT_COMPLAINT(import_typed_ogb(options), ErrorKind::kHostMemory, "node-feat.csv.gz");
  std::filesystem::remove_all(root_ / "raw");
  put_npz();
  EXPECT_COMPLAINT(import_typed_ogb(options), ErrorKind::kHostMemory, "node_feat.npz");
}

TEST_F(OgbTyped, MissingSplitOfTheType) {
  put_csv();
  std::filesystem::remove(root_ / "split/time/paper/test.csv.gz");
  EXPECT_COMPLAINT(import(), ErrorKind::kNoInput, "test.csv.gz");
}

}  // namespace
}  // namespace salient
