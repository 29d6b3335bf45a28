// tests/core/files/flat_toml_test.cpp - what a configuration file may say, and the line that is named when it says something else.
#include "core/files/flat_toml.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace salient {
namespace {

std::string value_of(const std::string& text) {
  const std::vector<TomlItem> items = parse_flat_toml("key = " + text, "f.toml");
  return items.size() == 1 ? items[0].value : std::to_string(items.size()) + " items";
}

TEST(FlatToml, Values) {
  EXPECT_EQ(value_of("12"), "12");
  EXPECT_EQ(value_of("-1.5e-3 # small"), "-1.5e-3");
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
  EXPECT_EQ(complaint("a = 1\n[b]\n"), "f.toml: line 2: sections are not used");
  EXPECT_EQ(complaint("a = 1\nb = 2\na = 3"), "f.toml: line 3: a is set twice");
  EXPECT_EQ(complaint("a = \"open\nb = 1"), "f.toml: line 1: a string has no closing \"");
  EXPECT_EQ(complaint("a = 'open"), "f.toml: line 1: a string has no closing '");
  EXPECT_EQ(complaint("a 1"), "f.toml: line 1: expected = after a");
  EXPECT_EQ(complaint("a = 1 2"), "f.toml: line 1: something follows the value of a");
  EXPECT_EQ(complaint("a ="),
            "f.toml: line 1: expected a value: a string in quotes, a number, true, false, or a list of them");
  EXPECT_EQ(complaint("a = [1 2]"), "f.toml: line 1: expected , or ] in a list");
  EXPECT_EQ(complaint("\x7F"
                      "ELF"),
            "f.toml: line 1: expected a key of letters, digits, - and _");
  EXPECT_NE(complaint(R"(a = "\x")").find("after a backslash"), std::string::npos);
  EXPECT_EQ(complaint("a = \"\x01\""), "f.toml: line 1: a string holds a control character");
  EXPECT_EQ(complaint("a = [1, [2]]").substr(0, 24), "f.toml: line 1: expected");
}

TEST(FlatToml, StringsComeBack) {
  for (const std::string text : {"", "plain", "a # b", "\"", "\\", "\\n", "\n\t\r\b\f", "both \" and '", "\xC3\xA9"})
    EXPECT_EQ(value_of(toml_string(text)), text);
  EXPECT_THROW((void)toml_string("\x01"), Error);
}

}  // namespace
}  // namespace salient
