// tests/prepare/formats/block_yaml_test.cpp - descriptions as yaml.dump() and people write them, and what is refused.
#include "prepare/formats/block_yaml.h"

#include <gtest/gtest.h>

#include "tests/support/scratch.h"

namespace salient {
namespace {

/// {a: b, c: [d, e]} as one line.
std::string text_of(const YamlNode& node) {
  std::string text;
  for (const auto& [key, value] : node.fields) text += (text.empty() ? "" : ", ") + key + ": " + text_of(value);
  if (node.is_map()) return "{" + text + "}";
  for (const YamlNode& item : node.items) text += (text.empty() ? "" : ", ") + text_of(item);
  return node.is_list() ? "[" + text + "]" : node.scalar;
}

std::string read(const std::string& text) { return text_of(parse_block_yaml(text, "m.yaml")); }

TEST(BlockYaml, MapsAndListsInEachOther) {
  EXPECT_EQ(read("a: 1\nb:\n  c: x y\n  d:\n    - 1\n    - 2\ne: z\n"), "{a: 1, b: {c: x y, d: [1, 2]}, e: z}");
  EXPECT_EQ(read("a:\n- b: 1\n  c: 2\n- b: 3\nd: 4\n"), "{a: [{b: 1, c: 2}, {b: 3}], d: 4}") << "as yaml.dump() writes";
  EXPECT_EQ(read("- a\n- b:\n    c: 1\n-\n  d: 2\n- - x\n  - y\n"), "[a, {b: {c: 1}}, {d: 2}, [x, y]]");
  EXPECT_EQ(read("a:\n  - data:\n      - name: s\n        path: p\n    type: t\n"),
            "{a: [{data: [{name: s, path: p}], type: t}]}");
}

TEST(BlockYaml, Scalars) {
  EXPECT_EQ(read("a: 'x: y # z'  # comment\n# a line\n\nb: \"q\"\nc: null\nd: ~\ne: []\nf: a:b:c\ng: http://x#y\n"),
            "{a: x: y # z, b: q, c: , d: , e: , f: a:b:c, g: http://x#y}");
  EXPECT_EQ(read("---\na: 1\r\nb: 2\r\n...\nc: 3\n"), "{a: 1, b: 2}");
  EXPECT_EQ(read("'a b': 1\n"), "{a b: 1}");
  EXPECT_EQ(parse_block_yaml("a: 1\nb:\n  c: 2\n", "m.yaml").find("b")->find("c")->line, 3u);
  EXPECT_EQ(parse_block_yaml("a: 1\n", "m.yaml").find("b"), nullptr);
}

TEST(BlockYaml, Refusals) {
  const auto refused = [](const std::string& text, const std::string& words) {
    EXPECT_COMPLAINT(parse_block_yaml(text, "m.yaml"), ErrorKind::kBadData, words);
  };
  refused("", "m.yaml: says nothing");
  refused("a: 1\na: 2\n", "m.yaml: line 2: 'a' is there twice");
  refused("a: [1, 2]\n", "m.yaml: line 1: a value of the form '[1, 2]' is not read");
  refused("a: {b: 1}\n", "is not read");
  refused("a: |\n  text\n", "is not read");
  refused("a: &x 1\n", "is not read");
  refused("a: 1\n   b: 2\n", "line 2: is indented like no line above");
  refused("a:\n\tb: 1\n", "line 2: a tab indents");
  refused("just text\n", "line 1: KEY: VALUE or - ITEM is expected");
  refused("a: 'x\n", "text in quotes");
  refused("a: 1\n- b\n", "line 2: is indented like no line above");
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "- ";
  refused(deep + "x\n", "blocks too deep in others");
}

}  // namespace
}  // namespace salient
