// tests/store/graph_schema_test.cpp - the rules of a schema, each with its message, and its way through JSON.
#include "store/graph_schema.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "store/schema_fields.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

/// paper 4, author 3, subject 0; cites, written_by and its reverse.
GraphSchema good_schema() {
  GraphSchema schema{.node_types = {{.name = "paper", .count = 4, .features = {.dim = 2}},
                                    {.name = "author", .count = 3},
                                    {.name = "subject", .count = 0}},
                     .relations = {{.src = 0, .dst = 0, .name = "cites", .num_entries = 5},
                                   {.src = 0, .dst = 1, .name = "written_by", .num_entries = 6},
                                   {.src = 1, .dst = 0, .name = "rev_written_by", .num_entries = 6, .reverse_of = 1}}};
  number_slots(schema);
  return schema;
}

std::string rule_after(const std::function<void(GraphSchema&)>& change) {
  GraphSchema schema = good_schema();
  change(schema);
  return broken_rule(schema);
}

TEST(GraphSchema, SlotsCountTheRelationsIntoAType) {
  const GraphSchema schema = good_schema();
  EXPECT_EQ(broken_rule(schema), "");
  EXPECT_EQ(schema.relations[2].slot, 1u) << "behind cites";
  const SlotTable slots = slot_table_of(schema);
  EXPECT_EQ(slots.num_slots, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_EQ(slots.num_rows(), 11u);
  EXPECT_EQ(text_of(schema, schema.relations[1]), "paper:written_by:author");
  EXPECT_EQ(type_names(schema), "paper, author, subject");
  EXPECT_EQ(slot_table_of({}), SlotTable());
}

TEST(GraphSchema, NamesTheFirstRuleThatIsBroken) {
  const auto expect = [](const std::function<void(GraphSchema&)>& change, const std::string& part) {
    const std::string rule = rule_after(change);
    EXPECT_NE(rule.find(part), std::string::npos) << "'" << rule << "' lacks " << part;
  };
  expect([](GraphSchema& s) { s.node_types[1].name = "paper"; }, "two node types are called 'paper'");
  for (const char* name : {"", "a:b", "a b", "a,b", "a=b", "a/b", "a\n"})
    expect([&](GraphSchema& s) { s.node_types[1].name = name; }, "is no name of a node type");
  expect([](GraphSchema& s) { s.node_types.resize(256, {.name = "x"}); }, "256 node types, at most 255");
  expect([](GraphSchema& s) { s.node_types[2].count = 0xFFFFFFF8; }, "more than 4294967294 nodes together");
  expect([](GraphSchema& s) { s.node_types[2].count = ~std::uint64_t{0}; }, "more than 4294967294 nodes together");
  expect(
      [](GraphSchema& s) {
        for (NodeType& type : s.node_types) type.count = 0;
      },
      "no node type has a node");
  expect([](GraphSchema& s) { s.relations[0].dst = 3; }, "relation 'cites' has an end that is no node type");
  expect([](GraphSchema& s) { s.relations[0].name = "a\tb"; }, "is no name of a relation");
  expect([](GraphSchema& s) { s.relations.push_back(s.relations[0]); }, "'paper:cites:paper' is there twice");
  expect([](GraphSchema& s) { s.relations[2].slot = 0; }, "'author:rev_written_by:paper' has slot 0");
  expect([](GraphSchema& s) { s.relations[2].reverse_of = 7; }, "is the reverse of one that is not there");
  expect([](GraphSchema& s) { s.relations[2].reverse_of = 0; }, "is no reverse of 'paper:cites:paper'");
  expect([](GraphSchema& s) { s.relations[2].num_entries = 5; }, "is no reverse of 'paper:written_by:author'");
  expect([](GraphSchema& s) { s.relations[0].num_entries = std::uint64_t{1} << 63; }, "2^63 entries or more");
  expect([](GraphSchema& s) { s.target_type = 3; }, "the target type is none of the node types");
  expect(
      [](GraphSchema& s) {
        for (int r = 0; r < 4096; ++r) s.relations.push_back({.src = 1, .dst = 1, .name = "r" + std::to_string(r)});
        number_slots(s);
      },
      "4097 relations lead to node type 'author', at most 4096");
  expect([](GraphSchema& s) { s.node_types[0].count = 0x80000000; }, "4294967299 slots of nodes, at most 4294967294");
}

TEST(GraphSchema, SurvivesJson) {
  const nlohmann::json text = good_schema();
  EXPECT_EQ(text.get<GraphSchema>(), good_schema());
  EXPECT_EQ(nlohmann::json(GraphSchema{}).get<GraphSchema>(), GraphSchema{});
}

TEST(GraphSchema, FieldsAreNamedWithTheirPlace) {
  const auto refused = [](const char* pointer, const nlohmann::json& value, const std::string& part) {
    nlohmann::json root = good_schema();
    root[nlohmann::json::json_pointer(pointer)] = value;
    const test::Complaint complaint =
        test::complaint_of([&] { (void)read_schema(JsonObject::parse(root.dump(2), "FILE")); });
    EXPECT_EQ(complaint.exit_code, 65);
    EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
  };
  refused("/node_types", 3, "'node_types' is not an array");
  refused("/node_types/1", 3, "'node_types' has an item that is not an object, number 1");
  refused("/node_types", nlohmann::json::array(), "'node_types' has no node type");
  refused("/node_types/1/count", "3", "FILE: line 10, column 7: field 'node_types / 1 / count' is not a whole number");
  refused("/node_types/0/feature_dtype", "f64", "'node_types / 0 / feature_dtype' is 'f64', allowed are f16, f32");
  refused("/relations/1/dst", "autor", "'relations / 1 / dst' is 'autor', node types are paper, author, subject");
  refused("/relations/1/slot", 4096, "allowed are 0 to 4095");
  refused("/relations/2/reverse_of", "x", "'relations / 2 / reverse_of' is 'x', which is no relation");
  refused("/relations/2/slot", 0, "'node_types' is refused: relation 'author:rev_written_by:paper' has slot 0");
  refused("/target_type", "x", "'target_type' is 'x', node types are");
}

}  // namespace
}  // namespace salient
