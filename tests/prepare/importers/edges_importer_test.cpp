// tests/prepare/importers/edges_importer_test.cpp - edge lists as people have them, and what is wrong with the others.
#include "prepare/importers/edges_importer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/half.h"
#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes;

using Ids = std::vector<NodeId>;

/// An array file with any dtype and order, as other programs write it.
template <class T>
std::filesystem::path write_npy(const std::filesystem::path& path, const std::string& dtype, const std::string& shape,
                                const std::vector<T>& values, bool is_fortran = false) {
  std::string text = "{'descr': '" + dtype + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
                     ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\x01", 7);
  bytes += '\0' + test::u16(text.size()) + text;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return write_bytes(path, bytes);
}

RawGraph imported_text(const std::string& text, std::vector<std::string> columns = {}) {
  const Scratch scratch;
  return import_edges({.edges = write_bytes(scratch / "graph.txt", text), .columns = std::move(columns)});
}

TEST(EdgesImporter, ReadsTheUsualTexts) {
  for (const std::string& text :
       {std::string("0 1\n1 2\n2 0\n"), std::string("# SNAP\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0"),
        std::string("source,target\r\n0,1\r\n1,2\r\n2,0\r\n"), std::string("% konect\n 0 1 \n\n1  2\n2\t 0\n"),
        std::string("from to\n0 , 1\n1 ,2\n2, 0\n"), test::gzip("0 1\n1 2\n2 0\n")}) {
    const RawGraph graph = imported_text(text);
    EXPECT_EQ(graph.sources, (Ids{0, 1, 2})) << text;
    EXPECT_EQ(graph.destinations, (Ids{1, 2, 0})) << text;
    EXPECT_EQ(graph.num_nodes, 3u);
    EXPECT_TRUE(graph.original_ids.empty());
    EXPECT_TRUE(graph.symmetrise);
  }
}

TEST(EdgesImporter, ManyBlocksOfLinesKeepTheirOrder) {
  std::string text;
  for (int m = 0; m < 400'000; ++m) text += std::to_string(m) + " " + std::to_string((m * 7) % 400'000) + "\n";
  const RawGraph graph = imported_text(text);
  ASSERT_EQ(graph.sources.size(), 400'000u);
  for (NodeId m = 0; m < 400'000; ++m) ASSERT_EQ(graph.sources[m], m);
}

TEST(EdgesImporter, TakesTheChosenColumns) {
  const RawGraph graph = imported_text("0.5,0,x,1\n0.25,1,y,2\n", {"3", "1"});
  EXPECT_EQ(graph.sources, (Ids{1, 2}));
  EXPECT_EQ(graph.destinations, (Ids{0, 1}));
}

TEST(EdgesImporter, ReadsCsvWithQuotesSemicolonsTabsFloatsAndNames) {
  for (const std::string& text :
       {std::string("\"0\",\"1\"\n\"1\",\"2\"\n2,0\n"), std::string("source;target\n0;1\n1;2\n2;0\n"),
        std::string("\xEF\xBB\xBFsource,target\r\n0.0,1.0\r\n1.0,2.0\r\n2.0,0.0\r\n"),
        std::string("weight\tsrc\tDst\n0.5\t0\t1\n0.25\t1\t2\n1e3\t2\t0\n"), std::string("0\t1e0\n1\t2\n2\t0\n")}) {
    const RawGraph graph = imported_text(text);
    EXPECT_EQ(graph.sources, (Ids{0, 1, 2})) << text;
    EXPECT_EQ(graph.destinations, (Ids{1, 2, 0})) << text;
  }
  const RawGraph chosen = imported_text("city;a;b\nNew York;0;1\n\"St; Ives\";1;2\n", {"a", "b"});
  EXPECT_EQ(chosen.sources, (Ids{0, 1}));
  EXPECT_EQ(chosen.destinations, (Ids{1, 2}));
}

TEST(EdgesImporter, TheSizesOfAMatrixMarketFileAreNoEdge) {
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n% x\n3 3 2\n1 2\n2 3\n";
  for (const RawGraph& graph :
       {imported_text(pattern), imported_text("%MatrixMarket\n3 3 2\n1 2 0.5\n2 3 1\n", {"0", "1"})}) {
    EXPECT_EQ(graph.original_ids, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(graph.sources, (Ids{0, 1}));
    EXPECT_EQ(graph.destinations, (Ids{1, 2}));
  }
}

TEST(EdgesImporter, AMatrixMarketFileSaysWhichNodesThereAre) {
  const std::string lower = "%%MatrixMarket matrix coordinate real symmetric\n6 6 2\n2 1 0.5\n4 2 -1e3\n";
  const RawGraph graph = imported_text(lower);
  EXPECT_EQ(graph.num_nodes, 6u) << "isolated ones, too";
  EXPECT_EQ(graph.original_ids, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(graph.sources, (Ids{1, 3}));
  EXPECT_EQ(graph.destinations, (Ids{0, 1}));
  EXPECT_EQ(imported_text(lower, {"1", "0"}).sources, (Ids{0, 1}));
  const Scratch scratch;
  const auto is_symmetric = [&](const std::string& kind) {
    const auto path = write_bytes(scratch / "a.mtx", "%%MatrixMarket matrix coordinate " + kind + "\n2 2 1\n2 1 1 1\n");
    return import_edges({.edges = path, .symmetric = Symmetric::kNo}).symmetrise;
  };
  EXPECT_TRUE(is_symmetric("pattern symmetric") && is_symmetric("complex Hermitian"));
  EXPECT_TRUE(is_symmetric("integer Skew-Symmetric"));
  EXPECT_FALSE(is_symmetric("real general"));
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n% x\n";
  EXPECT_EQ(imported_text(banner + "5 5 0\n").num_nodes, 5u);
  EXPECT_COMPLAINT(imported_text(banner + "3 3 2\n0 2\n2 3\n"), 65, "line 4: '0' is no row of the matrix");
  EXPECT_COMPLAINT(imported_text(banner + "3 3 2\n1 2\n2 4\n"), 65, "line 5: '4' is no row of the matrix");
  EXPECT_COMPLAINT(imported_text(banner + "3 3 2\n1 2\n"), 65, "has 1 entries, its sizes say 2");
  EXPECT_COMPLAINT(imported_text(banner + "3 2 2\n1 2\n"), 65, "a matrix of 3 x 2; in a graph's");
  EXPECT_COMPLAINT(imported_text(banner + "3 3\n1 2\n"), 65, "line 3: is not the sizes of a matrix");
  EXPECT_COMPLAINT(imported_text(banner + "99999999999 99999999999 0\n"), 65, "a graph has 1 to 2^32 - 2 nodes");
  EXPECT_COMPLAINT(imported_text(banner), 65, "ends before its sizes");
  EXPECT_COMPLAINT(imported_text("%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n"), 65,
                   "lists all its values");
}

std::vector<std::string> names_of_nodes(const RawGraph& graph) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < graph.node_names.size(); ++v) names.emplace_back(graph.node_names[v]);
  return names;
}

using Names = std::vector<std::string>;

TEST(EdgesImporter, IdsMayBeText) {
  for (const std::string& text :
       {std::string("from,to\nbob,\"Smith, Al\"\n\"Smith, Al\",eve\n"), std::string("bob\tSmith, Al\nSmith, Al\teve\n"),
        std::string("bob ; \"Smith, Al\"\n\"Smith, Al\";eve\n"),
        test::gzip("bob,\"Smith, Al\"\n\"Smith, Al\",eve\n")}) {
    const RawGraph graph = imported_text(text);
    EXPECT_EQ(names_of_nodes(graph), (Names{"bob", "Smith, Al", "eve"})) << text;
    EXPECT_EQ(graph.sources, (Ids{0, 1})) << text;
    EXPECT_EQ(graph.destinations, (Ids{1, 2})) << text;
    EXPECT_TRUE(graph.original_ids.empty());
  }
  const RawGraph named = imported_text("w,p,q\n1,ann,bob\n2,bob,ann\n", {"q", "p"});
  EXPECT_EQ(names_of_nodes(named), (Names{"bob", "ann"}));
  const Scratch scratch;
  const auto path = write_bytes(scratch / "hashes.txt", "3f2a 0bc1\n0bc1 77\n");
  try {
    (void)import_edges({.edges = path});
    FAIL() << "3f2a is no number";
  } catch (const Error& error) {
    EXPECT_EQ(error.topic(), Topic::kNodeIds) << error.what();
  }
  EXPECT_EQ(names_of_nodes(import_edges({.edges = path, .ids = IdKind::kText})), (Names{"3f2a", "0bc1", "77"}));
  EXPECT_COMPLAINT(imported_text("bob,eve\nbob,\n"), 65, "line 2: an empty id");
  EXPECT_COMPLAINT(imported_text("bob,eve\nbob\n"), 65, "line 2: 1 columns");
}

TEST(EdgesImporter, ManyIdsThatAreTextKeepTheOrderOfTheFile) {
  std::string text;
  for (int m = 0; m < 100'000; ++m) text += "n" + std::to_string(m) + ",n" + std::to_string(m / 2) + "\n";
  for (const int threads : {1, 4}) {
    const Scratch scratch;
    const RawGraph graph = import_edges({.edges = write_bytes(scratch / "e.csv", text), .num_threads = threads});
    ASSERT_EQ(graph.num_nodes, 100'000u);
    EXPECT_EQ(graph.node_names[77'777], "n77777");
    EXPECT_EQ(graph.sources[99'999], 99'999u);
    EXPECT_EQ(graph.destinations[99'999], 49'999u);
  }
}

TEST(EdgesImporter, AMemoryLimitIsKept) {
  std::string numbers, names;
  for (int m = 0; m < 200'000; ++m) {
    numbers += std::to_string(m) + " 0\n";
    names += "n" + std::to_string(m) + " n0\n";
  }
  const Scratch scratch;
  for (const std::string& text : {numbers, names}) {
    const auto path = write_bytes(scratch / "e.txt", text);
    EXPECT_COMPLAINT(import_edges({.edges = path, .memory = MemoryLimit(1 << 20)}), 71, " are allowed");
    EXPECT_EQ(import_edges({.edges = path, .memory = MemoryLimit(std::uint64_t{4} << 30)}).num_nodes, 200'000u);
  }
}

TEST(EdgesImporter, RenumbersIdsWithGaps) {
  const RawGraph graph = imported_text("9000000000 5\n5 70\n");
  EXPECT_EQ(graph.num_nodes, 3u);
  EXPECT_EQ(graph.original_ids, (std::vector<std::uint64_t>{5, 70, 9000000000}));
  EXPECT_EQ(graph.sources, (Ids{2, 0}));
  EXPECT_EQ(graph.destinations, (Ids{0, 1}));
}

TEST(EdgesImporter, RefusesOtherTextsNamingTheLine) {
  EXPECT_COMPLAINT(imported_text("0 1\n1 2 3\n"), 65, "line 2: 3 columns");
  EXPECT_COMPLAINT(imported_text("0 1\n1\n"), 65, "line 2: 1 columns");
  EXPECT_COMPLAINT(imported_text("0 1\n1 -2\n"), 65, "line 2: '-2' is not a node id");
  EXPECT_COMPLAINT(imported_text("0 1\n1 2.5\n"), 65, "line 2: '2.5' is not a node id");
  EXPECT_COMPLAINT(imported_text("0 1\n1 1e17\n"), 65, "line 2: '1e17' is not a node id");
  EXPECT_COMPLAINT(imported_text("0 1\n1,\n"), 65, "line 2: an empty id");
  EXPECT_COMPLAINT(imported_text("0 1\n1,2,\n"), 65, "line 2: 3 columns");
  EXPECT_COMPLAINT(imported_text("0 1\n1,,2\n"), 65, "line 2: 3 columns");
  EXPECT_COMPLAINT(imported_text("from to\n0 b\n"), 65, "line 2: 'b' is not a node id");
  EXPECT_COMPLAINT(imported_text("0 1\n\"1 2\n"), 65, "line 2: a quoted field does not end on its line");
  EXPECT_COMPLAINT(imported_text("0,1\n\"1\"x,2\n"), 65, "line 2: ");
  EXPECT_COMPLAINT(imported_text("0 1\n1 18446744073709551616\n"), 65, "line 2");
  EXPECT_COMPLAINT(imported_text("0 1 2\n", {"0", "5"}), 65, "line 1: only 3 columns");
  EXPECT_COMPLAINT(imported_text("a,b,c\n0,1,2\n", {"a", "d"}), 65, "no column 'd'; it has: 'a', 'b', 'c'");
  EXPECT_COMPLAINT(imported_text("1;2\n1,2\n"), 65, "line 2: 1 columns");
  for (const char* line : {" -1 -2", "+1 +2", ".5 .5", "1a 2b"})
    EXPECT_COMPLAINT(imported_text(std::string("# from to\n") + line + "\n1 2\n"), 65, "line 2: ");
  EXPECT_COMPLAINT(imported_text("# nothing\n"), 65, "no edge");
  EXPECT_COMPLAINT(import_edges({.edges = "/nonexistent/graph.txt"}), 66, "/nonexistent/graph.txt");
}

TEST(EdgesImporter, ReadsArraysInBothLayouts) {
  const Scratch scratch;
  const auto edges_of = [&](const char* dtype, const char* shape, const auto& values, bool is_fortran = false) {
    const RawGraph graph = import_edges({.edges = write_npy(scratch / "edges.npy", dtype, shape, values, is_fortran)});
    return std::pair(graph.sources, graph.destinations);
  };
  const std::pair expected(Ids{0, 1, 2}, Ids{1, 2, 0});
  EXPECT_EQ(edges_of("<i8", "(2, 3)", std::vector<std::int64_t>{0, 1, 2, 1, 2, 0}), expected);
  EXPECT_EQ(edges_of("<u2", "(3, 2)", std::vector<std::uint16_t>{0, 1, 1, 2, 2, 0}), expected);
  EXPECT_EQ(edges_of("<i4", "(3, 2)", std::vector<std::int32_t>{0, 1, 2, 1, 2, 0}, true), expected);
  EXPECT_EQ(edges_of("<i4", "(2, 3)", std::vector<std::int32_t>{0, 1, 1, 2, 2, 0}, true), expected);
  EXPECT_EQ(edges_of("|u1", "(2, 2)", std::vector<std::uint8_t>{0, 1, 1, 0}), (std::pair(Ids{0, 1}, Ids{1, 0})));
  EXPECT_COMPLAINT(edges_of("<f4", "(2, 1)", std::vector<float>{0, 0.5}), 65, "item 1 is 0.5, which is no");
  EXPECT_EQ(edges_of("<f8", "(3, 2)", std::vector<double>{0, 1, 1, 2, 2, 0}), expected);
  EXPECT_COMPLAINT(edges_of("|b1", "(2, 1)", std::vector<std::uint8_t>{0, 1}), 65, "whole numbers [2, E] or [E, 2]");
  EXPECT_COMPLAINT(edges_of("<i4", "(3, 1)", std::vector<std::int32_t>{0, 1, 2}), 65, "whole numbers [2, E] or [E, 2]");
  EXPECT_COMPLAINT(edges_of("<i4", "(2, 1)", std::vector<std::int32_t>{0, -1}), 65, "item 1 is -1, which is negative");
}

TEST(EdgesOptions, EveryBrokenRuleIsAFactAboutAField) {
  const auto fields_of = [](const EdgesOptions& options) {
    std::string fields;
    for (const FieldProblem& problem : problems(options)) fields += problem.field + " ";
    return fields;
  };
  EXPECT_EQ(fields_of({.edges = "e"}), "");
  EXPECT_EQ(fields_of({}), "edges ");
  EXPECT_EQ(fields_of({.edges = "e", .labels = "l", .split = {0.6, 0.2, 0.2}}), "");
  EXPECT_EQ(fields_of({.edges = "e", .split = {0.6, 0.4}}), "split split ") << "no three, no labels";
  EXPECT_EQ(fields_of({.edges = "e", .labels = "l", .split = {0.9, 0.2, 0}}), "split ");
  EXPECT_EQ(fields_of({.edges = "e", .columns = {"2", "0"}}), "");
  for (const std::vector<std::string>& columns :
       {std::vector<std::string>{"0"}, {"a", "a"}, {"0", ""}, {"0", "1", "2"}})
    EXPECT_EQ(fields_of({.edges = "e", .columns = columns}), "columns ");
}

class EdgesWithNodeFiles : public ::testing::Test {
 protected:
  EdgesWithNodeFiles() {
    options_.edges = write_bytes(scratch_ / "edges.csv", "0,1\n1,3\n");
    options_.features =
        write_npy(scratch_ / "x.npy", "<f8", "(5, 2)", std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    options_.labels = write_npy(scratch_ / "y.npy", "<f4", "(5, 1)", std::vector<float>{0, 1, NAN, 2, -1});
  }
  Scratch scratch_;
  EdgesOptions options_{};
};

TEST_F(EdgesWithNodeFiles, IdsAreRowNumbers) {
  const RawGraph graph = import_edges(options_);
  EXPECT_EQ(graph.num_nodes, 5u) << "nodes 2 and 4 have no edge and are there all the same";
  EXPECT_EQ(graph.labels, (std::vector<std::int32_t>{0, 1, -1, 2, -1}));
  EXPECT_EQ(graph.num_classes, 3);
  EXPECT_EQ(graph.features.dim, 2);
  std::uint16_t last = 0;
  std::memcpy(&last, graph.features.rows.data() + 18, 2);
  EXPECT_EQ(half_to_float(last), 9.0F);
  write_bytes(scratch_ / "edges.csv", "0,1\n1,5\n");
  EXPECT_COMPLAINT(import_edges(options_), 65, "line 2: node 5, the graph has 5");
}

TEST_F(EdgesWithNodeFiles, AMatrixMarketFileCountsItsRowsFromOne) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern symmetric\n";
  write_bytes(scratch_ / "edges.csv", banner + "5 5 4\n2 1\n3 1\n4 2\n5 5\n");
  const RawGraph graph = import_edges(options_);
  EXPECT_EQ(graph.sources, (Ids{1, 2, 3, 4}));
  EXPECT_EQ(graph.destinations, (Ids{0, 0, 1, 4}));
  EXPECT_TRUE(graph.original_ids.empty());
  write_bytes(scratch_ / "edges.csv", banner + "6 6 1\n2 1\n");
  EXPECT_COMPLAINT(import_edges(options_), 65, "a matrix of 6 x 6, the graph has 5 nodes");
  options_.features = options_.edges;
  EXPECT_COMPLAINT(import_edges(options_), 65, "a Matrix Market file, not a table");
}

TEST_F(EdgesWithNodeFiles, EdgesMayBeAMatrixOfScipy) {
  const auto matrix_of = [&](std::int64_t rows, std::int64_t columns) {
    const auto array = [](const char* shape, const std::vector<std::int64_t>& values) {
      return test::npy("<i8", shape, test::bytes_of(values));
    };
    options_.edges = write_bytes(scratch_ / "adj.npz", test::zip({{"row.npy", array("(3,)", {3, 0, 0})},
                                                                  {"col.npy", array("(3,)", {0, 1, 2})},
                                                                  {"data.npy", array("(3,)", {1, 1, 0})},
                                                                  {"shape.npy", array("(2,)", {rows, columns})}}));
  };
  matrix_of(5, 5);
  for (const bool has_arrays : {true, false}) {
    if (!has_arrays) options_.features = options_.labels = "";
    const RawGraph graph = import_edges(options_);
    EXPECT_EQ(graph.num_nodes, 5u);
    EXPECT_EQ(graph.sources, (Ids{0, 0, 3}));
    EXPECT_EQ(graph.destinations, (Ids{1, 2, 0}));
    EXPECT_TRUE(graph.original_ids.empty());
  }
  matrix_of(5, 6);
  EXPECT_COMPLAINT(import_edges(options_), 65, "adj.npz: a matrix of 5 x 6; in a graph's");
  matrix_of(6, 6);
  options_.labels = write_npy(scratch_ / "y.npy", "<i8", "(5,)", std::vector<std::int64_t>(5));
  EXPECT_COMPLAINT(import_edges(options_), 65, "a matrix of 6 x 6, the graph has 5 nodes");
  write_bytes(options_.edges, test::zip({{"edge_index.npy", test::npy("<i8", "(0,)", "")}}));
  EXPECT_COMPLAINT(import_edges(options_), 65, "has no sparse matrix (data, indices, ");
}

TEST_F(EdgesWithNodeFiles, FortranOrderIsTheSameMatrix) {
  const std::vector<std::byte> expected = import_edges(options_).features.rows;
  options_.features =
      write_npy(scratch_ / "x.npy", "<i4", "(5, 2)", std::vector<std::int32_t>{0, 2, 4, 6, 8, 1, 3, 5, 7, 9}, true);
  EXPECT_EQ(import_edges(options_).features.rows, expected);
}

TEST_F(EdgesWithNodeFiles, SplitsAreIdsOrMasksOrFractions) {
  options_.train = write_npy(scratch_ / "train.npy", "<i8", "(2,)", std::vector<std::int64_t>{3, 0});
  options_.test = write_npy(scratch_ / "test.npy", "|b1", "(5,)", std::vector<std::uint8_t>{0, 1, 0, 0, 1});
  EXPECT_EQ(import_edges(options_).train, (Ids{3, 0}));
  EXPECT_EQ(import_edges(options_).test, (Ids{1, 4}));
  options_.test = write_npy(scratch_ / "test.npy", "<i8", "(5,)", std::vector<std::int64_t>{0, 1, 0, 0, 1});
  EXPECT_EQ(import_edges(options_).test, (Ids{1, 4})) << "numbers that can only be a mask";
  const EdgesOptions good = options_;
  options_.valid = write_npy(scratch_ / "valid.npy", "<i8", "(1,)", std::vector<std::int64_t>{5});
  EXPECT_COMPLAINT(import_edges(options_), 65, "valid.npy: item 0 is 5, the graph has nodes 0 to 4");
  options_.valid = write_npy(scratch_ / "valid.npy", "<i8", "(1,)", std::vector<std::int64_t>{3});
  EXPECT_COMPLAINT(import_edges(options_), 65, "train.npy too");
  options_ = good;
  options_.train = write_npy(scratch_ / "train.npy", "<i8", "(1,)", std::vector<std::int64_t>{2});
  EXPECT_COMPLAINT(import_edges(options_), 65, "train.npy: position 0: node 2 is for training but has no label");
  options_.train = write_npy(scratch_ / "train.npy", "|b1", "(4,)", std::vector<std::uint8_t>{1, 0, 0, 0});
  EXPECT_COMPLAINT(import_edges(options_), 65, "has shape (4,), masks of 5 nodes are (5,), (K, 5)");
  options_.train =
      write_npy(scratch_ / "train.npy", "|b1", "(5, 2)", std::vector<std::uint8_t>{0, 1, 0, 0, 0, 0, 1, 0, 0, 0});
  options_.test.clear();
  EXPECT_EQ(import_edges(options_).train, (Ids{3}));
  options_.mask = 1;
  EXPECT_EQ(import_edges(options_).train, (Ids{0}));
  options_.mask = 2;
  EXPECT_COMPLAINT(import_edges(options_), 2, "train.npy: has the masks 0 to 1, not 2");
  options_ = good;
  options_.split = {0.6, 0.2, 0.2};
  ASSERT_EQ(problems(options_).size(), 1u);
  EXPECT_EQ(problems(options_)[0].rule, "instead of files for train, valid and test, not beside them");
  EXPECT_COMPLAINT(import_edges(options_), 70, "options name a graph");
  options_.train.clear();
  options_.test.clear();
  const RawGraph graph = import_edges(options_);
  EXPECT_EQ(graph.train.size() + graph.valid.size() + graph.test.size(), 3u) << "the labelled nodes";
  for (const Ids* part : {&graph.train, &graph.valid, &graph.test})
    for (const NodeId id : *part) EXPECT_GE(graph.labels[id], 0);
  EXPECT_EQ(graph.train.size(), 1u);
}

TEST_F(EdgesWithNodeFiles, SeveralColumnsOfLabelsAreALabelEach) {
  const std::vector<std::int8_t> expected = {0, 1, 1, 1, -1, -1, 0, 0, 1, -1};
  options_.labels = write_npy(scratch_ / "y.npy", "|i1", "(5, 2)", expected);
  const RawGraph graph = import_edges(options_);
  EXPECT_EQ(graph.task, Task::kMultiLabel);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_TRUE(graph.labels.empty());
  EXPECT_EQ(graph.multi_labels, expected);
  options_.labels = write_npy(scratch_ / "y.npy", "<f4", "(5, 2)",
                              std::vector<float>{0, 1, NAN, 0, 1, 1, 1, NAN, 0, NAN}, true);  // column after column
  EXPECT_EQ(import_edges(options_).multi_labels, expected);
  options_.labels =
      write_npy(scratch_ / "y.npy", "|b1", "(5, 2)", std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 1, 0, 0, 0});
  EXPECT_EQ(import_edges(options_).multi_labels, (std::vector<std::int8_t>{0, 1, 1, 1, 0, 0, 1, 0, 0, 0}));

  options_.labels = write_npy(scratch_ / "y.npy", "|i1", "(5, 2)", expected);
  options_.split = {0.5, 0.25, 0.25};
  const RawGraph drawn = import_edges(options_);
  EXPECT_EQ(drawn.train.size() + drawn.valid.size() + drawn.test.size(), 4u) << "node 2 has no known label";
  options_.split.clear();
  options_.train = write_npy(scratch_ / "train.npy", "<i8", "(1,)", std::vector<std::int64_t>{2});
  EXPECT_COMPLAINT(import_edges(options_), 65, "train.npy: position 0: node 2 is for training but has no label");

  const auto bad = [&](const char* dtype, const char* shape, const auto& values, const char* message) {
    options_.labels = write_npy(scratch_ / "bad_y.npy", dtype, shape, values);
    EXPECT_COMPLAINT(import_edges(options_), 65, message);
  };
  bad("<i8", "(5, 2)", std::vector<std::int64_t>{0, 1, 1, 1, 0, 3, 0, 0, 1, 0}, "bad_y.npy: node 2, label 1 is 3");
  bad("<f4", "(5, 2)", std::vector<float>{0, 1, 1, 0.5, 0, 0, 0, 0, 1, 0}, "bad_y.npy: node 1, label 1 is 0.5");
  bad("|i1", "(2, 5)", std::vector<std::int8_t>(10), "labels of 2 nodes");
  bad("|i1", "(5, 2, 1)", std::vector<std::int8_t>(10), "labels [nodes], or [nodes, labels] of 0 and 1");
  bad("|i1", "(5, 0)", std::vector<std::int8_t>(), "labels [nodes], or [nodes, labels] of 0 and 1");
}

/// Tables of nodes in text beside edges in text, as Cora is published and as spreadsheets are saved.
class EdgesWithTables : public ::testing::Test {
 protected:
  RawGraph import(const std::string& edges, const std::string& features, const std::string& labels,
                  EdgesOptions options = {}) {
    options.edges = write_bytes(scratch_ / "edges.csv", edges);
    if (!features.empty()) options.features = write_bytes(scratch_ / "features.csv", features);
    if (!labels.empty()) options.labels = write_bytes(scratch_ / "labels.csv", labels);
    options.feature_type = FeatureType::kF32;
    return import_edges(options);
  }
  static std::vector<float> features_of(const RawGraph& graph) {
    std::vector<float> values(graph.features.rows.size() / sizeof(float));
    std::memcpy(values.data(), graph.features.rows.data(), graph.features.rows.size());
    return values;
  }
  const Scratch scratch_;
};

using Labels = std::vector<std::int32_t>;

TEST_F(EdgesWithTables, TextIdsAreInTheOrderOfTheFeatures) {
  const RawGraph graph = import("ann,bob\neve,ann\n", "id,age,size\neve,3,4\nann,1.5,2\nbob,5,6\n",
                                "id,label\nbob,red\neve,\"dark, blue\"\n");
  EXPECT_EQ(names_of_nodes(graph), (Names{"eve", "ann", "bob"}));
  EXPECT_EQ(features_of(graph), (std::vector<float>{3, 4, 1.5, 2, 5, 6}));
  EXPECT_EQ(graph.sources, (Ids{1, 0}));
  EXPECT_EQ(graph.destinations, (Ids{2, 1}));
  EXPECT_EQ(graph.class_names, (Names{"dark, blue", "red"}));
  EXPECT_EQ(graph.labels, (Labels{0, -1, 1}));
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_COMPLAINT(import("ann,bob\nann,zoe\n", "ann 1\nbob 2\n", ""), 65, "edges.csv: line 2: an edge of a node");
  EXPECT_COMPLAINT(import("ann,bob\n", "ann 1\nann 2\n", ""), 65, "features.csv: line 2: this node has a line already");
  EXPECT_COMPLAINT(import("ann,bob\n", "ann 1\nbob 2\n", "zoe,1\n"), 65, "labels.csv: line 1: no node of the features");
  EXPECT_COMPLAINT(import("ann,bob\n", "ann 1\nbob x\n", ""), 65, "features.csv: line 2: column 1 is no number: 'x'");
  EXPECT_COMPLAINT(import("ann,bob\n", "ann 1\nbob 2 3\n", ""), 65, "line 2: 3 columns, the first line has 2");
}

TEST_F(EdgesWithTables, FeaturesMayBeSmallerThanFloats) {
  const EdgesOptions as_they_are{.wishes = {.scaling = FeatureScaling::kNone}};
  EXPECT_EQ(features_of(import("0,1\n", "0 1e-50\n1 -4e-320\n", "", as_they_are)), (std::vector<float>{0, 0}));
  EXPECT_COMPLAINT(import("0,1\n", "0 1\n1 1e39\n", ""), 65, "line 2: column 1 is beyond the range of a float: '1e39'");
}

TEST_F(EdgesWithTables, OneTableMayHaveFeaturesAndLabels) {
  const std::string cora = "31336\t0\t1\tNeural_Networks\n1061127\t1\t0\tRule_Learning\n9\t1\t1\tNeural_Networks\n";
  const auto table = write_bytes(scratch_ / "cora.content", cora);
  const RawGraph graph =
      import("31336\t9\n9\t1061127\n", "", "", {.features = table, .labels = table, .label_column = "-1"});
  EXPECT_EQ(graph.original_ids, (std::vector<std::uint64_t>{9, 31336, 1061127}));
  EXPECT_EQ(features_of(graph), (std::vector<float>{1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(graph.labels, (Labels{0, 0, 1}));
  EXPECT_EQ(graph.class_names, (Names{"Neural_Networks", "Rule_Learning"}));
  EXPECT_EQ(graph.sources, (Ids{1, 0}));
  EXPECT_EQ(import("31336\t9\n", "", "", {.features = table, .labels = table, .label_column = "3"}).labels,
            graph.labels);
  EXPECT_COMPLAINT(import("31336\t9\n", "", "", {.features = table, .labels = table}), 65,
                   "cora.content: which of the 4 columns is the label is not clear");
  EXPECT_COMPLAINT(import("31336\t8\n", "", "", {.features = table}), 65, "node 8, which no table of nodes has");
}

TEST_F(EdgesWithTables, NumbersAreRowsBesideAnArrayAndKeysWithoutOne) {
  const RawGraph keyed = import("10,20\n20,40\n", "", "node,class\n20,1\n30,0\n10,nan\n");
  EXPECT_EQ(keyed.original_ids, (std::vector<std::uint64_t>{10, 20, 30, 40}));
  EXPECT_EQ(keyed.labels, (Labels{-1, 1, 0, -1}));
  EXPECT_TRUE(keyed.class_names.empty());

  const auto array = write_npy(scratch_ / "x.npy", "<f4", "(3, 1)", std::vector<float>{5, 6, 7});
  const RawGraph rows = import("0,2\n", "", "id,label\n2.0,3.0\n0.0,1.0\n", {.features = array});
  EXPECT_EQ(rows.labels, (Labels{1, -1, 3}));
  EXPECT_EQ(import("0,2\n", "", "cat\ndog\ncat\n", {.features = array}).labels, (Labels{0, 1, 0})) << "a label a line";
  EXPECT_COMPLAINT(import("0,2\n", "", "cat\ndog\n", {.features = array}), 65, "labels of 2 nodes");
  EXPECT_COMPLAINT(import("0,3\n", "", "id,label\n2,3\n", {.features = array}), 65, "node 3, the graph has 3");
  EXPECT_COMPLAINT(import("0,2\n", "", "id,label\n3,3\n", {.features = array}), 65,
                   "node 3, which no table of nodes has");
  EXPECT_COMPLAINT(import("0,2\n", "", "id,label\n2,3\n2,3\n", {.features = array}), 65, "node 2 has two lines");
  EXPECT_COMPLAINT(import("0,2\n", "", "id,label\n2,0.5\n", {.features = array}), 65, "label '0.5', labels are");

  const RawGraph named = import("c,a\n", "", "a,x\nb,y\nc,x\n", {.features = array});
  EXPECT_EQ(names_of_nodes(named), (Names{"a", "b", "c"})) << "the labels say which row each node is";
  EXPECT_EQ(named.sources, (Ids{2}));
  EXPECT_COMPLAINT(import("c,a\n", "", "a,x\nb,y\n", {.features = array}), 65, "has 2 nodes, ");
  EXPECT_COMPLAINT(import("c,a\n", "", "x\ny\nx\n", {.features = array}), 65, "no table says which row");
}

TEST_F(EdgesWithTables, NodesOfAMatrixMarketFileCountFromOne) {
  const std::string matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n";
  EXPECT_EQ(import(matrix, "", "3,1\n1,0\n").labels, (Labels{0, -1, 1}));
  EXPECT_EQ(features_of(import(matrix, "3 5\n2 6\n1 7\n", "")), (std::vector<float>{7, 6, 5}));
  EXPECT_COMPLAINT(import(matrix, "", "0,1\n1,0\n"), 65, "labels.csv: node 0, which is no row of the matrix ");
  EXPECT_COMPLAINT(import(matrix, "1 5\n2 6\n4 7\n", ""), 65, "features.csv: node 4, which is no row");
}

TEST_F(EdgesWithTables, AColumnChosenByNumberMakesNoHeader) {
  EXPECT_EQ(import("0,1\n1,2\n2,3\n", "", "0,2\n1,0\n2,1\n3,1\n", {.id_column = "0", .label_column = "1"}).labels,
            (Labels{2, 0, 1, 1}));
  EXPECT_EQ(import("0,1\n1,2\n", "", "0,-1\n1,0\n2,1\n", {.label_column = "-1"}).labels, (Labels{-1, 0, 1}));
  const auto table = write_bytes(scratch_ / "t.txt", "10 1 0 1\n11 0 1 0\n12 2 1 1\n");
  const RawGraph graph = import("10 11\n", "", "", {.features = table, .labels = table, .label_column = "1"});
  EXPECT_EQ(graph.original_ids, (std::vector<std::uint64_t>{10, 11, 12}));
  EXPECT_EQ(graph.labels, (Labels{1, 0, 2}));
  const auto train = write_bytes(scratch_ / "train.txt", "0\n1\n");
  EXPECT_EQ(import("0,1\n", "", "0,2\n1,0\n", {.train = train, .id_column = "0"}).train, (Ids{0, 1}));
}

TEST_F(EdgesWithTables, AFirstLineWithAValueIsNoHeader) {
  const RawGraph blank = import("1,2\n2,3\n", "0,NA,1.0\n1,0.5,2.0\n2,0.5,2.5\n3,2,1\n", "");
  EXPECT_EQ(features_of(blank), (std::vector<float>{1, 1, 1, 0.5, 0, 2, 0.5, 0, 2.5, 2, 0, 1})) << "the mean, marked";
  EXPECT_EQ(features_of(import("a,b\n", "a,?\nb,3\n", "")), (std::vector<float>{3, 1, 3, 0}));
  const auto array = write_npy(scratch_ / "x.npy", "<f4", "(4, 1)", std::vector<float>(4));
  for (const std::string missing : {"NA", "nan", "?", "null", "None", "-1"})
    EXPECT_EQ(import("0,1\n", "", missing + "\n1\n0\n1\n", {.features = array}).labels, (Labels{-1, 1, 0, 1}))
        << missing;
  EXPECT_EQ(import("0,1\n", "", "0,red\n1,3\n", {}).labels, (Labels{1, 0})) << "an id is a number, too";
  EXPECT_EQ(import("1,2\n2,3\n", "", "1,y\n2,n\n3,y\n", {}).labels, (Labels{1, 0, 1})) << "y is no label's name here";
  EXPECT_EQ(import("1,2\n2,3\n", "", "id,y\n2,1\n3,0\n", {}).labels, (Labels{-1, 1, 0})) << "and here it is";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(features_of(import("7,8\n", "paper,age,size\n7,1,2\n8,3,4\n", "")), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("features.csv: the first line is a header"),
            std::string::npos);
}

TEST_F(EdgesWithTables, MissingValuesAreNoClasses) {
  ::testing::internal::CaptureStderr();
  const RawGraph numbers = import("0,1\n2,3\n", "", "0,3\n1,NA\n2,10\n3,2\n");
  EXPECT_EQ(numbers.labels, (Labels{3, -1, 10, 2}));
  EXPECT_TRUE(numbers.class_names.empty());
  const RawGraph words = import("0,1\n2,3\n", "", "0,cat\n1,-1\n2,dog\n3,?\n");
  EXPECT_EQ(words.labels, (Labels{0, -1, 1, -1}));
  EXPECT_EQ(words.class_names, (Names{"cat", "dog"}));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("labels.csv: 'NA' is no label"), std::string::npos) << said;
  EXPECT_NE(said.find("labels.csv: '?' is no label"), std::string::npos) << said;
  EXPECT_EQ(said.find("are words"), std::string::npos) << said;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(import("0,1\n2,3\n", "", "0,3\n1,x\n2,10\n3,2\n").class_names, (Names{"10", "2", "3", "x"}));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("labels.csv: line 2: labels are words, as 'x' is no number"),
            std::string::npos);
}

TEST_F(EdgesWithTables, SplitsAreLinesOfIds) {
  const auto train = write_bytes(scratch_ / "train.txt", "eve\nann\n"),
             test = write_bytes(scratch_ / "test.csv", "id\nbob\n");
  const RawGraph graph = import("ann,bob\neve,ann\n", "", "ann,0\nbob,1\neve,1\n", {.train = train, .test = test});
  EXPECT_EQ(graph.train, (Ids{2, 0}));
  EXPECT_EQ(graph.test, (Ids{1}));
  write_bytes(train, "eve\nzoe\n");
  EXPECT_COMPLAINT(import("ann,bob\neve,ann\n", "", "ann,0\nbob,1\neve,1\n", {.train = train}), 65,
                   "train.txt: line 2: no node has this id: 'zoe'");
}

TEST_F(EdgesWithNodeFiles, BadNodeFilesAreNamed) {
  const EdgesOptions good = options_;
  options_.labels = write_npy(scratch_ / "bad_y.npy", "<f4", "(5,)", std::vector<float>{0, 1, 0.5, 2, 1});
  EXPECT_COMPLAINT(import_edges(options_), 65, "bad_y.npy: node 2 has label 0.5");
  options_.labels = write_npy(scratch_ / "bad_y.npy", "<i8", "(5,)", std::vector<std::int64_t>{0, 1, -2, 2, 1});
  EXPECT_COMPLAINT(import_edges(options_), 65, "bad_y.npy: node 2 has label -2");
  options_.labels = write_npy(scratch_ / "bad_y.npy", "<i8", "(5,)", std::vector<std::int64_t>{0, 1, 1, 2000000000, 2});
  EXPECT_COMPLAINT(import_edges(options_), 65, "bad_y.npy: node 3 has label 2000000000");
  options_.labels = write_npy(scratch_ / "bad_y.npy", "<i8", "(4,)", std::vector<std::int64_t>{0, 1, 1, 2});
  EXPECT_COMPLAINT(import_edges(options_), 65, "labels of 4 nodes");
  options_ = good;
  options_.features = write_npy(scratch_ / "x.npy", "<f4", "(5, 1)", std::vector<float>{0, 1, 70000, 3, 4});
  EXPECT_COMPLAINT(import_edges(options_), 65, "row 2, column 0 is 70000");
  options_.feature_type = FeatureType::kF32;
  EXPECT_NO_THROW(import_edges(options_));
  options_.features = write_npy(scratch_ / "x.npy", "<f4", "(5, 1)", std::vector<float>{0, 1, 2, 3, INFINITY});
  EXPECT_COMPLAINT(import_edges(options_), 65, "row 4, column 0");
}

}  // namespace
}  // namespace salient
