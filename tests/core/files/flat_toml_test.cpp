// tests/core/files/flat_toml_test.cpp - what a configuration file may hold, and how what it may not is named.
#include "core/files/flat_toml.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

std::string value_of(const std::string& text) {
  const std::vector<TomlItem> items = parse_flat_toml("key = " + text, "f.toml");
  return items.size() == 1 ? items[0].value : std::to_string(items.size()) + " items";
}

TEST(FlatToml, Values) {
  EXPECT_EQ(value_of("12"), "12");
  EXPECT_EQ(value_of("-1.5e-3 # small"), "-0.0015");
  EXPECT_EQ(value_of("0.003"), "0.003");
  EXPECT_EQ(value_of("2.0"), "2.0") << "no whole number";
  EXPECT_EQ(value_of("1e300"), "1e+300");
  EXPECT_EQ(value_of("nan"), "nan");
  EXPECT_EQ(value_of("4000000000"), "4000000000");
  EXPECT_EQ(value_of("true\r\n"), "true");
  EXPECT_EQ(value_of("\"a # b\" # c"), "a # b");
  EXPECT_EQ(value_of(R"("say \"hi\" \\ \t")"), "say \"hi\" \\ \t");
  EXPECT_EQ(value_of(R"('C:\new "x"')"), R"(C:\new "x")");
  EXPECT_EQ(value_of("\"\""), "");
  EXPECT_EQ(value_of("[15, 10,5]"), "15,10,5");
  EXPECT_EQ(value_of("[ # all\n -1, \n 'a',\n]"), "-1,a");
  EXPECT_EQ(value_of("[]"), "");
}

TEST(FlatToml, LinesOfTheKeys) {
  const std::vector<TomlItem> items = parse_flat_toml("\n# one\n a-b = 1\n\nc_d=[2,\n3]\ne='x'", "f.toml");
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].key, "a-b");
  EXPECT_EQ(items[0].line, 3);
  EXPECT_EQ(items[1].line, 5);
  EXPECT_EQ(items[2].line, 7);
  EXPECT_TRUE(parse_flat_toml("", "f.toml").empty());
  EXPECT_TRUE(parse_flat_toml("# nothing", "f.toml").empty());
}

TEST(FlatToml, SectionsAndValuesInBraces) {
  const TomlTable file = parse_toml_tables(
      "name = 'acm'\n[nodes]\npaper = { features = 'p.npy', labels = \"l.npy\" }\nauthor = { count = 7167 }\n"
      "[edges]\n\"paper:by:author\" = { file = 'pa.txt' }\n[split]\nof = 'paper'\nparts = [0.6, 0.2, 0.2]\n",
      "g.toml");
  ASSERT_EQ(file.items.size(), 1u);
  EXPECT_EQ(file.items[0].value, "acm");
  ASSERT_EQ(file.tables.size(), 3u);
  EXPECT_EQ(file.tables[0].key, "nodes");
  ASSERT_EQ(file.tables[0].tables.size(), 2u);
  EXPECT_EQ(file.tables[0].tables[0].key, "paper") << "in the order of the lines";
  EXPECT_EQ(file.tables[0].tables[0].line, 3);
  EXPECT_EQ(file.tables[0].tables[1].items[0].value, "7167");
  EXPECT_EQ(file.tables[1].tables[0].key, "paper:by:author");
  EXPECT_EQ(file.tables[2].items[1].value, "0.6,0.2,0.2");
  EXPECT_COMPLAINT(parse_toml_tables("[a]\nb = { c = { d = 1 } }\n", "g.toml"), ErrorKind::kUsage,
                   "g.toml: line 2: a table too deep in others");
  EXPECT_COMPLAINT(parse_toml_tables("[a]\n[a]\n", "g.toml"), ErrorKind::kUsage, "g.toml: line 2");
  EXPECT_COMPLAINT(parse_toml_tables("a = 2026-11-22\n", "g.toml"), ErrorKind::kUsage, "g.toml: line 1: expected a");
}

TEST(FlatToml, Refusals) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      (void)parse_flat_toml(text, "f.toml");
      return "none";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
  };
  const auto begins = [&](const std::string& text, const std::string& expected) {
    EXPECT_EQ(complaint(text).substr(0, expected.size()), expected);
  };
  EXPECT_EQ(complaint("a = 1\n[b]\n"), "f.toml: line 2: sections are not used");
  EXPECT_EQ(complaint("a = 1\n [[b]]\n"), "f.toml: line 2: sections are not used");
  begins("a = 1\nb = 2\na = 3", "f.toml: line 3: Error while parsing key-value pair: cannot redefine");
  begins("a = \"open\nb = 1", "f.toml: line 1: Error while parsing string");
  begins("a = 'open", "f.toml: line 1: Error while parsing literal string");
  begins("a 1", "f.toml: line 1: Error while parsing key-value pair: expected '='");
  begins("\na = 1 2", "f.toml: line 2: Error while parsing key-value pair: expected a comment or whitespace");
  begins("a =", "f.toml: line 1: Error while parsing");
  begins("a = [1 2]", "f.toml: line 1: Error while parsing array: expected comma");
  begins("a = sage", "f.toml: line 1: Error while parsing value");
  begins(
      "\x7F"
      "ELF",
      "f.toml: line 1: Error while parsing root table");
  begins(R"(a = "\x")", "f.toml: line 1: Error while parsing string: escape sequence");
  begins("a = \"\x01\"", "f.toml: line 1: Error while parsing string");
  begins("a = '\xE9'", "f.toml: line 1: Encountered invalid utf-8");
  const std::string allowed = "expected a string, a number, true, false, or a list of them";
  EXPECT_EQ(complaint("a = [1, [2]]"), "f.toml: line 1: " + allowed);
  EXPECT_EQ(complaint("a = {b = 1}"), "f.toml: line 1: " + allowed);
  EXPECT_EQ(complaint("\na.b = 1"), "f.toml: line 2: " + allowed);
  EXPECT_EQ(complaint("a = 2026-11-22"), "f.toml: line 1: " + allowed);
  EXPECT_EQ(complaint("\"a b\" = 1"), "f.toml: line 1: expected a key of letters, digits, - and _");
}

TEST(FlatToml, DeepNestingIsRefused) {
  std::string tables, dots;
  for (int i = 0; i < 100'000; ++i) {
    tables += "{a=";
    dots += "a.";
  }
  const std::string brackets(100'000, '[');
  for (const std::string& text : {brackets, "a = " + brackets, "a = " + tables, dots + "a = 1", "[" + dots + "a]"})
    EXPECT_COMPLAINT((void)parse_flat_toml(text, "f.toml"), ErrorKind::kUsage, "f.toml: line 1: ");
  std::string lines = "a = [\n";  // each short enough, all together deep
  for (int i = 0; i < 100; ++i) lines += "1, [\n";
  EXPECT_COMPLAINT((void)parse_flat_toml(lines, "f.toml"), ErrorKind::kUsage, "nested");
}

TEST(FlatToml, StringsComeBack) {
  for (const std::string text :
       {"", "plain", "a # b", "\"", "\\", "\\n", "\n\t\r\b\f", "both \" and '", "\xC3\xA9", "\x1b[31m\x01\x7f"})
    EXPECT_EQ(value_of(toml_string(text)), text);
  EXPECT_THROW((void)toml_string("\xE9"), Error);
}

}  // namespace
}  // namespace salient
