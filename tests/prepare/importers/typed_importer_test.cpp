// tests/prepare/importers/typed_importer_test.cpp - files of nodes and edges by type, and what is wrong with others.
#include "prepare/importers/typed_importer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/half.h"
#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::Complaint, test::complaint_of, test::Scratch, test::write_bytes;
using Ids = std::vector<NodeId>;

template <class T>
fs::path write_npy(const fs::path& path, const std::string& dtype, const std::string& shape,
                   const std::vector<T>& values) {
  std::string text = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\x01", 7);
  bytes += '\0' + test::u16(text.size()) + text;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return write_bytes(path, bytes);
}

/// Papers 0 to 3 with features, authors 0 to 2, whose edges are text; labels and splits of papers.
class TypedImporter : public ::testing::Test {
 protected:
  TypedImporter() {
    options_.nodes = {
        {.type = "paper", .file = write_npy(scratch_ / "p.npy", "<f4", "(4, 2)", std::vector<float>(8, 1))},
        {.type = "author", .count = 3}};
    options_.edges = {{"paper", "written_by", "author", write_bytes(scratch_ / "pa.txt", "0\t0\n1\t2\n3\t1\n")}};
    options_.target = "paper";
    options_.labels = write_npy(scratch_ / "labels.npy", "<i8", "(4,)", std::vector<std::int64_t>{0, 1, -1, 1});
    options_.train = write_npy(scratch_ / "train.npy", "<i8", "(2,)", std::vector<std::int64_t>{3, 0});
    options_.name = "mine";
  }

  /// Importing ends with this exit code, and a line with each of the parts.
  void expect_refused(const std::vector<std::string>& parts, int exit_code = 65) const {
    const Complaint complaint = complaint_of([&] { (void)import_typed(options_); });
    EXPECT_EQ(complaint.exit_code, exit_code) << complaint.text;
    for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
  }
  void expect_problem(const std::string& field, const std::string& part) const {
    const std::vector<FieldProblem> found = problems(options_);
    ASSERT_FALSE(found.empty()) << part;
    EXPECT_EQ(found[0].field, field) << found[0].rule;
    EXPECT_NE(found[0].rule.find(part), std::string::npos) << found[0].rule << "\nlacks " << part;
  }
  fs::path file(const std::string& name, const std::string& text) const { return write_bytes(scratch_ / name, text); }

  Scratch scratch_;
  TypedOptions options_{};
};

TEST_F(TypedImporter, ReadsRowsAndAddsReverses) {
  const TypedGraph graph = import_typed(options_);
  ASSERT_EQ(graph.schema.relations.size(), 2u);
  EXPECT_EQ(text_of(graph.schema, graph.schema.relations[1]), "author:rev_written_by:paper");
  EXPECT_EQ(graph.schema.relations[1].reverse_of, 0);
  EXPECT_EQ(graph.edges[0].sources, (Ids{0, 1, 3}));
  EXPECT_EQ(graph.edges[0].destinations, (Ids{0, 2, 1}));
  EXPECT_TRUE(graph.edges[1].sources.empty()) << "it is the first one's";
  EXPECT_EQ(graph.schema.node_types[0].count, 4u);
  EXPECT_EQ(graph.features[0].dim, 2);
  EXPECT_EQ(graph.features[1].dim, 0);
  EXPECT_EQ(graph.target.labels, (std::vector<std::int32_t>{0, 1, -1, 1}));
  EXPECT_EQ(graph.target.train, (Ids{3, 0}));
  EXPECT_TRUE(graph.original_ids.empty());
  EXPECT_EQ(graph.node_names.size(), 0u);
}

TEST_F(TypedImporter, ReversesAreAddedUnlessGivenOrUnwanted) {
  options_.edges.push_back({"author", "rev_written_by", "paper", file("ap.txt", "0 0\n")});
  EXPECT_EQ(import_typed(options_).schema.relations.size(), 2u);
  EXPECT_FALSE(import_typed(options_).schema.relations[1].reverse_of) << "it is what the file says";
  options_.edges.pop_back();
  options_.reverses = Reverses::kNone;
  EXPECT_EQ(import_typed(options_).schema.relations.size(), 1u);
}

TEST_F(TypedImporter, EdgesMayBeArraysAndMatrices) {
  const auto read = [&](const fs::path& path) {
    options_.edges[0].file = path;
    const TypedGraph graph = import_typed(options_);
    return std::pair(graph.edges[0].sources, graph.edges[0].destinations);
  };
  const std::pair<Ids, Ids> expected{{0, 1, 3}, {0, 2, 1}};
  EXPECT_EQ(read(write_npy(scratch_ / "e.npy", "<i4", "(2, 3)", std::vector<std::int32_t>{0, 1, 3, 0, 2, 1})),
            expected);
  EXPECT_EQ(read(write_npy(scratch_ / "f.npy", "<i4", "(3, 2)", std::vector<std::int32_t>{0, 0, 1, 2, 3, 1})),
            expected);
  EXPECT_EQ(read(file("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 3 3\n1 1\n2 3\n4 2\n")), expected);
  EXPECT_EQ(read(file("e.csv", "src,dst\n0,0\n1,2\n3,1\n")), expected);
  options_.edges[0].file = file("b.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 1\n");
  expect_refused({"b.mtx: a matrix of 4 x 4; there are 4 nodes of type 'paper' and 3 of type 'author'"});
  options_.nodes[1].count = 4;
  options_.edges[0].file = file("s.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 1\n2 1\n");
  expect_refused({"s.mtx: a symmetric matrix; between two types of nodes it is a general one"});
  options_.edges[0].dst = "paper";
  EXPECT_EQ(read(options_.edges[0].file), (std::pair<Ids, Ids>{{1, 0}, {0, 1}}));
  options_.edges[0].dst = "author";
  options_.nodes[1].count = 3;
  options_.edges[0].file = file("c.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 3 1\n1 4\n");
  expect_refused({"c.mtx: line 3", "'4' is no column of the matrix, they count from 1 to 3"});
}

TEST_F(TypedImporter, IdsAreThoseOfTheirType) {
  options_.nodes = {{.type = "paper", .file = file("papers.csv", "id,year,venue\n30,2001,a\n10,2003,b\n20,2002,a\n")},
                    {.type = "author", .file = file("authors.csv", "id\nann\nbob\n30\n")}};
  options_.edges = {{"paper", "written_by", "author", file("pa.csv", "10,bob\n30,ann\n30,30\n")},
                    {"paper", "cites", "paper", file("pp.csv", "10 20\n20 30\n")}};
  options_.labels = file("labels.csv", "id,label\n20,x\n30,y\n10,x\n");
  options_.train = file("train.txt", "30\n20\n");
  const TypedGraph graph = import_typed(options_);
  EXPECT_EQ(graph.schema.node_types[0].count, 3u);
  EXPECT_EQ(graph.edges[0].sources, (Ids{0, 2, 2})) << "10, 20, 30 are 0, 1, 2";
  EXPECT_EQ(graph.edges[0].destinations, (Ids{1, 0, 2}));
  EXPECT_EQ(graph.edges[1].sources, (Ids{0, 1}));
  EXPECT_EQ(graph.edges[1].destinations, (Ids{1, 2}));
  EXPECT_EQ(graph.features[0].num_rows(), 3u);
  const auto* halves = reinterpret_cast<const std::uint16_t*>(graph.features[0].rows.data());
  EXPECT_GT(half_to_float(halves[0]), 0.F) << "row 0 is paper 10, of the latest year";
  EXPECT_EQ(graph.features[1].dim, 0) << "a list of ids";
  EXPECT_EQ(graph.target.labels, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(graph.target.class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(graph.target.train, (Ids{2, 1}));
  ASSERT_EQ(graph.node_names.size(), 6u);
  EXPECT_EQ(graph.node_names[0], "10");
  EXPECT_EQ(graph.node_names[4], "bob");
}

TEST_F(TypedImporter, NumbersOfTablesAreKept) {
  options_.nodes[1] = {.type = "author", .file = file("authors.csv", "id\n70\n50\n60\n")};
  options_.edges[0].file = file("pa.csv", "0,70\n1,50\n");
  const TypedGraph graph = import_typed(options_);
  EXPECT_EQ(graph.edges[0].destinations, (Ids{2, 0}));
  EXPECT_EQ(graph.original_ids, (std::vector<std::uint64_t>{0, 1, 2, 3, 50, 60, 70}));
}

TEST_F(TypedImporter, ATableOfNodesMayHaveTheLabels) {
  const fs::path papers = file("papers.csv", "id,year,label\na,2001,x\nb,2003,y\nc,2002,x\n");
  options_.nodes[0] = {.type = "paper", .file = papers};
  options_.labels = papers;
  options_.train.clear();
  options_.split = {0.4, 0.3, 0.3};
  options_.edges[0].file = file("pa.csv", "a,0\nb,2\n");
  const TypedGraph graph = import_typed(options_);
  EXPECT_EQ(graph.features[0].dim, 1) << "the label is no feature";
  EXPECT_EQ(graph.target.labels, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(graph.target.train.size() + graph.target.valid.size() + graph.target.test.size(), 3u);
}

TEST_F(TypedImporter, TypesMayBeEmpty) {
  options_.nodes.push_back({.type = "venue", .count = 0});
  options_.edges.push_back({"paper", "in", "venue", file("none.txt", "")});
  const TypedGraph graph = import_typed(options_);
  EXPECT_EQ(graph.schema.node_types[2].count, 0u);
  EXPECT_TRUE(graph.edges[1].sources.empty());
  options_.edges[1].file = file("one.txt", "0 0\n");
  expect_refused({"one.txt: line 1", "there is no node of type 'venue'"});
}

TEST_F(TypedImporter, RefusesIdsBeyondTheirType) {
  const auto edges = [&](const std::string& text) { options_.edges[0].file = file("bad.txt", text); };
  edges("0 0\n1 3\n");
  expect_refused({"bad.txt: line 2", "node 3, those of type 'author' are 0 to 2", "do the ids count from 1?"});
  edges("0 0\n4 0\n");
  expect_refused({"bad.txt: line 2", "node 4, those of type 'paper' are 0 to 3"});
  edges("0 0\n0 x\n");
  expect_refused({"bad.txt: line 2", "'x' is not a node id"});
  edges("0 0\n0\n");
  expect_refused({"bad.txt: line 2"});
  options_.edges[0].file = write_npy(scratch_ / "e.npy", "<i4", "(2, 2)", std::vector<std::int32_t>{0, 1, 2, 7});
  expect_refused({"e.npy: item 3 is 7, node 7, those of type 'author' are 0 to 2"});
  options_.nodes[1] = {.type = "author", .file = file("authors.csv", "id\nann\nbob\n")};
  options_.edges[0].file = file("names.csv", "0,ann\n1,tom\n");
  expect_refused({"names.csv: line 2", "no node of type 'author' has this id: 'tom'"});
  options_.edges[0].file = file("swapped.csv", "ann,0\n");
  expect_refused({"swapped.csv: line 1", "no node of type 'paper' has this id: 'ann'"});
  options_.edges[0].file = write_npy(scratch_ / "e.npy", "<i4", "(2, 1)", std::vector<std::int32_t>{0, 1});
  expect_refused({"e.npy: has row numbers, and ids of type 'author' are those of its table of nodes"});
}

TEST_F(TypedImporter, RefusesLabelsAndSplitsOfOtherNodes) {
  options_.labels = write_npy(scratch_ / "labels.npy", "<i8", "(3,)", std::vector<std::int64_t>{0, 1, 1});
  expect_refused({"labels.npy: labels of 3 nodes, type 'paper' has 4"});
  options_.labels = file("labels.csv", "id,label\n0,1\n4,1\n");
  expect_refused({"labels.csv: line 3", "no node of the type has this id: '4'"});
  options_.labels = file("labels.csv", "id,label\n0,1\n0,1\n");
  expect_refused({"labels.csv: line 3", "this node has a line already: '0'"});
  options_.labels = write_npy(scratch_ / "labels.npy", "<i8", "(4,)", std::vector<std::int64_t>{0, 1, -1, 1});
  options_.train = write_npy(scratch_ / "train.npy", "<i8", "(1,)", std::vector<std::int64_t>{4});
  expect_refused({"train.npy: item 0 is 4"});
  options_.train = write_npy(scratch_ / "train.npy", "<i8", "(1,)", std::vector<std::int64_t>{2});
  expect_refused({"train.npy: position 0: node 2 is for training but has no label"});
  options_.train = file("train.txt", "9\n");
  expect_refused({"train.txt: line 1", "no node of the type has this id: '9'"});
  options_.nodes[1] = {.type = "author", .file = file("authors.csv", "id\nann\nann\n")};
  expect_refused({"authors.csv: line 3", "this node has a line already: 'ann'"});
  options_.nodes[1] = {.type = "author", .file = scratch_ / "missing.csv"};
  expect_refused({"missing.csv"}, 66);
}

TEST_F(TypedImporter, ProblemsAreFoundBeforeAFileIsRead) {
  EXPECT_TRUE(problems(options_).empty());
  const TypedOptions good = options_;
  options_.edges[0].dst = "autor";
  expect_problem("edges", "'paper:written_by:autor': no node type 'autor'; there are paper, author");
  options_ = good;
  options_.nodes[1] = {.type = "author"};
  expect_problem("nodes", "node type 'author' has neither a file nor a count");
  options_ = good;
  options_.target = "papers";
  expect_problem("labels", "no node type 'papers'; there are paper, author");
  options_ = good;
  options_.nodes[1].type = "paper";
  options_.edges[0].dst = "paper";
  expect_problem("nodes", "two node types are called 'paper'");
  options_ = good;
  options_.edges.push_back(options_.edges[0]);
  expect_problem("edges", "relation 'paper:written_by:author' is there twice");
  options_ = good;
  for (int r = 0; r < 4096; ++r) options_.edges.push_back({"paper", "r" + std::to_string(r), "author", "x"});
  expect_problem("edges", "4097 relations lead to node type 'paper', at most 4096 are possible");
  options_ = good;
  options_.nodes.resize(256, {.type = "x", .count = 1});
  expect_problem("nodes", "256 node types, at most 255 are possible");
  options_ = good;
  options_.nodes[1].count = 4294967295;
  expect_problem("nodes", "more than 4294967294 nodes together");
  options_ = good;
  options_.labels.clear();
  expect_problem("train", "needs labels");
  options_ = good;
  options_.split = {0.5, 0.2, 0.3};
  expect_problem("split", "instead of files of nodes");
  options_ = good;
  options_.nodes.clear();
  expect_problem("nodes", "a node type is needed");
  options_ = good;
  options_.edges.clear();
  expect_problem("edges", "a relation is needed");
}

}  // namespace
}  // namespace salient
