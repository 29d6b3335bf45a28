// tests/core/files/json_reader_test.cpp - fields come out as they are, or the error names field, line and column.
#include "core/files/json_reader.h"

#include <gtest/gtest.h>

#include "core/files/json_text.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr const char* kText =
    "{\"name\": \"wordnet\",\n"
    " \"nodes\": 7,\n"
    " \"less\": -1, \"half\": 0.5,\n"
    " \"symmetric\": true,\n"
    " \"files\": {\"nodes\": {\"bytes\": 18446744073709551615}}}";

JsonObject parse(const std::string& text) { return JsonObject::parse(text, "FILE"); }

std::string brackets(std::size_t count) { return "{\"a\":" + std::string(count, '[') + std::string(count, ']') + "}"; }

TEST(JsonReader, FieldsComeOut) {
  const JsonObject root = parse(kText);
  EXPECT_EQ(root.string("name"), "wordnet");
  EXPECT_EQ(root.integer("nodes", 7, 7), 7u);
  EXPECT_TRUE(root.boolean("symmetric"));
  EXPECT_EQ(root.object("files").object("nodes").integer("bytes", 0, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(root.object("files").keys(), std::vector<std::string>{"nodes"});
}

TEST(JsonReader, AWrongFieldIsNamedWithItsPlace) {
  const JsonObject root = parse(kText);
  EXPECT_COMPLAINT(root.string("nodes"), 65, "FILE: line 2, column 2: field 'nodes' is not a string");
  EXPECT_COMPLAINT((void)root.integer("nodes", 8, 9), 65, "field 'nodes' is 7, allowed are 8 to 9");
  EXPECT_COMPLAINT((void)root.integer("less", 0, 9), 65, "line 3, column 2: field 'less' is -1, allowed are 0 to 9");
  EXPECT_COMPLAINT((void)root.integer("half", 0, 9), 65, "line 3, column 14: field 'half' is not a whole number");
  EXPECT_COMPLAINT((void)root.boolean("name"), 65, "line 1, column 2: field 'name' is neither true nor false");
  EXPECT_COMPLAINT((void)root.object("name"), 65, "is not an object");
  EXPECT_COMPLAINT((void)root.boolean("none"), 65, "field 'none' is missing");
  const JsonObject nodes = root.object("files").object("nodes");
  EXPECT_COMPLAINT(nodes.refuse("bytes", "are\nmany"), 65,
                   "line 5, column 22: field 'files / nodes / bytes' are\\nmany");
}

TEST(JsonReader, WhatIsNoObjectIsRefused) {
  EXPECT_COMPLAINT(parse(""), 65, "FILE: line 1, column 1: not JSON");
  EXPECT_COMPLAINT(parse("{\n\"a\": }"), 65, "FILE: line 2, column 6: not JSON");
  EXPECT_COMPLAINT(parse("[1]"), 65, "not a JSON object");
}

TEST(JsonReader, HundredThousandBracketsAreRefusedNotACrash) {
  EXPECT_EQ(parse(brackets(kMaxJsonDepth)).keys().size(), 1u);
  EXPECT_COMPLAINT(parse(brackets(kMaxJsonDepth + 1)), 65, "FILE: more than 64 levels of brackets");
  EXPECT_COMPLAINT(parse(brackets(100'000)), 65, "FILE: more than 64 levels");
  EXPECT_COMPLAINT(parse(std::string(100'000, '[')), 65, "FILE: more than 64 levels");
}

TEST(JsonReader, WhatFollowsANulAndAKeyThatIsThereTwiceAreRefused) {
  EXPECT_COMPLAINT(parse(std::string("{\"a\":\n1}\0anything", 17)), 65, "FILE: line 2, column 3: not JSON: a NUL");
  EXPECT_COMPLAINT(parse(std::string("{\"a\":1}\0", 8)), 65, "FILE: line 1, column 8: not JSON: a NUL");
  EXPECT_COMPLAINT(parse(R"({"a": {"b": 1, "b": 1}})"), 65, "FILE: the key \"b\" twice in one object");
  EXPECT_COMPLAINT(parse(R"({"a": 1, "\u0061": 2})"), 65, "FILE: the key \"a\" twice in one object");
  EXPECT_EQ(parse(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})").keys().size(), 2u);
}

TEST(JsonText, IsDiscardedWhenItIsTooDeepOrNoJson) {
  EXPECT_EQ(parse_json("[1, {\"a\": null}]").dump(), "[1,{\"a\":null}]");
  EXPECT_FALSE(parse_json(brackets(kMaxJsonDepth)).is_discarded());
  EXPECT_TRUE(parse_json(std::string_view("1\0", 2)).is_discarded());
  EXPECT_TRUE(parse_json(R"([{"a": 1, "a": 1}])").is_discarded());
  EXPECT_TRUE(parse_json(brackets(kMaxJsonDepth + 1)).is_discarded());
  EXPECT_TRUE(parse_json(std::string(100'000, '[')).is_discarded());
  EXPECT_TRUE(parse_json<nlohmann::ordered_json>(brackets(100'000)).is_discarded());
  EXPECT_TRUE(parse_json("{").is_discarded());
}

}  // namespace
}  // namespace salient
