// tests/prepare/importers/triples_importer_test.cpp - triples by name and by number, repeats, and what is wrong.
#include "prepare/importers/triples_importer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/archives.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::Complaint, test::complaint_of, test::Scratch, test::write_bytes;
using Ids = std::vector<NodeId>;
using Relations = std::vector<std::uint16_t>;

class Triples : public ::testing::Test {
 protected:
  Triples() {
    options_.name = "mine";
    give("a\tlikes\tb\nb\tlikes\tc\na\tknows of\tc\n", "c\tlikes\ta\n", "b\tknows of\td\n");
  }
  void give(const std::string& train, const std::string& valid, const std::string& test) {
    options_.train = write_bytes(scratch_ / "train.txt", train);
    options_.valid = write_bytes(scratch_ / "valid.txt", valid);
    options_.test = write_bytes(scratch_ / "test.txt", test);
  }
  fs::path file(const std::string& name, const std::string& text) const { return write_bytes(scratch_ / name, text); }
  TypedGraph read() const { return import_triples(options_).graph; }
  void expect_refused(const std::vector<std::string>& parts) const {
    const Complaint complaint = complaint_of([&] { (void)read(); });
    EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
    for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
  }

  Scratch scratch_;
  TriplesOptions options_{};
};

TEST_F(Triples, BecomeEntitiesRelationsAndLinks) {
  const TypedGraph graph = read();
  ASSERT_EQ(graph.schema.node_types.size(), 1u);
  EXPECT_EQ(graph.schema.node_types[0].name, "entity");
  EXPECT_EQ(graph.schema.node_types[0].count, 4u);
  ASSERT_EQ(graph.schema.relations.size(), 4u);
  EXPECT_EQ(graph.schema.relations[1].name, "knows of");
  EXPECT_EQ(graph.schema.relations[3].name, "rev_knows of");
  EXPECT_EQ(graph.schema.relations[3].reverse_of, 1);
  EXPECT_EQ(graph.edges[0].sources, (Ids{0, 1})) << "training triples alone";
  EXPECT_EQ(graph.edges[0].destinations, (Ids{1, 2}));
  EXPECT_EQ(graph.edges[1].sources, (Ids{0}));
  EXPECT_TRUE(graph.edges[2].sources.empty()) << "it is the first one's";
  EXPECT_EQ(graph.links[0].ends, (Ids{0, 1, 1, 2, 0, 2})) << "in the file's order";
  EXPECT_EQ(graph.links[0].relations, (Relations{0, 0, 1}));
  EXPECT_EQ(graph.links[1].ends, (Ids{2, 0}));
  EXPECT_EQ(graph.links[2].ends, (Ids{1, 3})) << "d is in the test set alone";
  ASSERT_EQ(graph.node_names.size(), 4u);
  EXPECT_EQ(graph.node_names[3], "d");
}

TEST_F(Triples, FieldsMayBeInAnyOrder) {
  const Relations expected = read().links[0].relations;
  give("likes\tx\ta\tb\nlikes\tx\tb\tc\nknows of\tx\ta\tc\n", "", "");
  options_.columns = {"r", "-", "h", "t"};
  EXPECT_EQ(read().links[0].relations, expected);
  options_.columns.clear();
  give("a likes b\nb  likes c\n\na knows c\n", "", "");
  EXPECT_EQ(read().links[0].ends, (Ids{0, 1, 1, 2, 0, 2})) << "blanks";
  give("a,likes,b\nb,likes,c\na,knows,c\n", "", "");
  EXPECT_EQ(read().links[0].ends, (Ids{0, 1, 1, 2, 0, 2})) << "commas";
  give(test::gzip("a\tlikes\tb\n"), "", "");
  EXPECT_EQ(read().links[0].ends, (Ids{0, 1})) << "gzip";
}

TEST_F(Triples, NumbersHaveTheirNamesInTables) {
  give("2\n1 0 1\n0 3 0\n", "1\n2 0 0\n", "0\n");
  options_.entities = file("entity2id.txt", "4\nx y\t1\nb\t0\nc\t3\nd\t2\n");
  options_.relations = file("relation2id.txt", "2\nis\t0\nhas\t1\n");
  const TypedGraph graph = read();
  EXPECT_EQ(graph.links[0].ends, (Ids{1, 0, 0, 3})) << "head, tail, relation";
  EXPECT_EQ(graph.links[0].relations, (Relations{1, 0}));
  EXPECT_EQ(graph.node_names[1], "x y");
  EXPECT_EQ(graph.schema.relations[1].name, "has");
  EXPECT_EQ(graph.links[2].relations.size(), 0u);
  file("train.txt", "1\n1 4 1\n");
  expect_refused({"train.txt: line 2", "no number of an entity, they are 0 to 3", "'4'"});
  file("train.txt", "1\n1 x 1\n");
  expect_refused({"train.txt: line 2", "no number of an entity", "'x'"});
  file("train.txt", "1\n1 0 2\n");
  expect_refused({"no number of a relation, they are 0 to 1"});
  file("train.txt", "3\n1 0 1\n0 3 0\n");
  expect_refused({"train.txt: line 1 says 3 triples, there are 2"});
}

TEST_F(Triples, TablesOfNamesKeepTheirRules) {
  options_.relations = file("relation2id.txt", "is\t0\n");
  const auto refused = [&](const std::string& table, const std::vector<std::string>& parts) {
    options_.entities = file("entity2id.txt", table);
    expect_refused(parts);
  };
  refused("a\t0\nb\n", {"entity2id.txt: line 2", "expected a name, a tab and a number"});
  refused("a\t0\nb\t2\n", {"the number of 'b' is 2; numbers are 0 to 1, each once"});
  refused("a\t0\nb\t0\n", {"the number of 'b' is 0"});
  refused("a\t0\na\t1\n", {"line 2", "this name has a line already"});
  refused("3\na\t0\n", {"line 1 says 3 names, there are 1"});
}

TEST_F(Triples, RepeatsAreLeftOutAndCounted) {
  give("a r b\na r b\nb r a\n", "a r c\na r c\n", "c r a\n");
  const ImportedTriples imported = import_triples(options_);
  EXPECT_EQ(imported.repeats, (std::array<std::uint64_t, 3>{1, 1, 0}));
  EXPECT_EQ(imported.graph.links[0].ends, (Ids{0, 1, 1, 0})) << "a reverse is another triple";
  EXPECT_EQ(imported.graph.links[1].ends, (Ids{0, 2}));
}

TEST_F(Triples, ATripleOfTwoSplitsIsRefusedOrDropped) {
  give("a r b\nb r c\n", "c r a\n\nb r c\n", "a r b\nc r a\nc r b\n");
  expect_refused({"valid.txt: line 3", "is also line 2 of train.txt, as 3 triples are of two splits", "'b r c'"});
  options_.between = RepeatsBetween::kDrop;
  const ImportedTriples imported = import_triples(options_);
  EXPECT_EQ(imported.dropped, (std::array<std::uint64_t, 3>{0, 1, 2}));
  EXPECT_EQ(imported.graph.links[1].ends, (Ids{2, 0}));
  EXPECT_EQ(imported.graph.links[2].ends, (Ids{2, 1}));
}

TEST_F(Triples, NamesOfReversesAreNew) {
  give("a x b\na rev_x b\n", "", "");
  const TypedGraph graph = read();
  ASSERT_EQ(graph.schema.relations.size(), 4u);
  EXPECT_EQ(graph.schema.relations[2].name, "rev_rev_x");
  EXPECT_EQ(graph.schema.relations[3].name, "rev_rev_rev_x");
  options_.reverses = Reverses::kNone;
  EXPECT_EQ(read().schema.relations.size(), 2u);
}

TEST_F(Triples, BadLinesAreNamed) {
  const auto refused = [&](const std::string& train, const std::vector<std::string>& parts) {
    give(train, "", "");
    expect_refused(parts);
  };
  refused("a\tr\tb\na\tr\n", {"train.txt: line 2: 2 fields, expected head, relation, tail: 'a\\x09r'"});
  refused("a\tr\tb\tc\n", {"line 1: 4 fields, expected head, relation, tail"});
  refused("a\tr\tb\na\t\tb\n", {"line 2: field 2 is empty"});
  refused("a\tr\x01\tb\n", {"line 1: field 2", "control character"});
  refused("", {"train.txt: no triple"});
  refused("0\n", {"train.txt: no triple"});
  std::string many;
  for (int r = 0; r <= 4096; ++r) many += "a r" + std::to_string(r) + " b\n";
  refused(many, {"8194 relations lead to node type 'entity', at most 4096 are possible"});
  options_.train = scratch_ / "none.txt";
  EXPECT_EQ(complaint_of([&] { (void)read(); }).exit_code, 66);
}

TEST_F(Triples, OptionsHaveRules) {
  const auto field_of = [&] {
    const std::vector<FieldProblem> found = problems(options_);
    return found.empty() ? "" : found[0].field;
  };
  EXPECT_EQ(field_of(), "");
  for (const std::vector<std::string>& columns :
       {std::vector<std::string>{"h", "r"}, {"h", "r", "h"}, {"h", "r", "x"}, {"h", "r", "t", "t"}}) {
    options_.columns = columns;
    EXPECT_EQ(field_of(), "columns");
  }
  options_.columns = {"t", "-", "-", "h", "r"};
  EXPECT_EQ(field_of(), "");
  options_.entities = "entities.txt";
  EXPECT_EQ(field_of(), "entities");
  options_.train.clear();
  EXPECT_EQ(field_of(), "train");
}

/// The sizes that the sets are published with.
TEST_F(Triples, RealSetsHaveTheirSizes) {
  const fs::path data = test::real_data_or_empty();
  if (data.empty() || !fs::exists(data / "kg-tiny")) GTEST_SKIP() << test::kNoRealData;
  struct Expected {
    std::string folder;
    std::size_t entities, relations, train, valid, test;
    std::vector<std::string> columns{};
  };
  for (const Expected& set :
       {Expected{"kg-tiny/umls", 135, 46, 5216, 652, 661},
        Expected{"kg-tiny/kinship", 104, 25, 8548, 1069, 1069, {"r", "h", "t"}},
        Expected{"wn18rr", 40943, 11, 86835, 3034, 3134}, Expected{"wn18", 40943, 18, 141442, 5000, 5000},
        Expected{"codex-s", 2034, 42, 32888, 1827, 1828}}) {
    const fs::path folder = data / set.folder;
    options_ = {.train = folder / "train.txt",
                .valid = folder / "valid.txt",
                .test = folder / "test.txt",
                .columns = set.columns};
    const TypedGraph graph = read();
    EXPECT_EQ(graph.schema.node_types[0].count, set.entities) << set.folder;
    EXPECT_EQ(graph.schema.relations.size(), 2 * set.relations) << set.folder;
    EXPECT_EQ(graph.links[0].relations.size(), set.train) << set.folder;
    EXPECT_EQ(graph.links[1].relations.size(), set.valid) << set.folder;
    EXPECT_EQ(graph.links[2].relations.size(), set.test) << set.folder;
  }
}

}  // namespace
}  // namespace salient
