// tests/prepare/formats/table_line_test.cpp - fields of CSV and its relatives, by hand-written lines.
#include "prepare/formats/table_line.h"

#include <gtest/gtest.h>

#include <array>

#include "core/csv_text.h"

namespace salient {
namespace {

using Fields = std::vector<std::string>;

Fields split(std::string_view text, Separator separator) {
  TableLine line;
  if (const char* rule = line.split(text, separator)) return {"!", rule};
  return {line.fields().begin(), line.fields().end()};
}

TEST(TableLine, TheFirstMarkOutsideOfQuotesParts) {
  EXPECT_EQ(separator_of("a b"), Separator::kBlanks);
  EXPECT_EQ(separator_of("a, b"), Separator::kComma);
  EXPECT_EQ(separator_of("a, b; c"), Separator::kSemicolon);
  EXPECT_EQ(separator_of("a, b; c\td"), Separator::kTab);
  EXPECT_EQ(separator_of("\"a, b; c\td\" e"), Separator::kBlanks);
}

TEST(TableLine, SplitsByEachSeparator) {
  EXPECT_EQ(split(" 1 \t 2 ", Separator::kBlanks), (Fields{"1", "2"}));
  EXPECT_EQ(split("New York , 2,", Separator::kComma), (Fields{"New York", "2", ""}));
  EXPECT_EQ(split(";a;;b c", Separator::kSemicolon), (Fields{"", "a", "", "b c"}));
  EXPECT_EQ(split("a b\t\tc", Separator::kTab), (Fields{"a b", "", "c"}));
  EXPECT_EQ(split("", Separator::kComma), (Fields{""}));
  EXPECT_EQ(split("  ", Separator::kBlanks), (Fields{}));
  EXPECT_EQ(split("0 , 1", Separator::kAny), (Fields{"0", "1"}));
  EXPECT_EQ(split("0,,1 2,", Separator::kAny), (Fields{"0", "", "1", "2", ""}));
}

TEST(TableLine, QuotesHoldAnything) {
  EXPECT_EQ(split("\"a,b\",\"c \"\"d\"\"\",\"\"", Separator::kComma), (Fields{"a,b", "c \"d\"", ""}));
  EXPECT_EQ(split("\" a\" \"b\"", Separator::kBlanks), (Fields{" a", "b"}));
  EXPECT_EQ(split("5\" disk,x", Separator::kComma), (Fields{"5\" disk", "x"})) << "a quote inside is a character";
  EXPECT_EQ(split("\"a,b", Separator::kComma), (Fields{"!", "a quoted field does not end on its line"}));
  EXPECT_EQ(split("\"a\"b,c", Separator::kComma), (Fields{"!", "there is text behind a quoted field"}));
  EXPECT_EQ(split("\"a\" b,c", Separator::kComma), (Fields{"!", "there is text behind a quoted field"}));
}

TEST(TableLine, CsvFieldIsTheInverse) {
  for (const char* text : {"plain", "a,b", "\"", "say \"hi\"", " blank ", "", "#x", "a;b\tc", "{a"}) {
    const std::string line = csv_field(text) + ",end";
    EXPECT_EQ(split(line, Separator::kComma), (Fields{text, "end"})) << line;
  }
}

TEST(TableLine, IdsAreWholeNumbers) {
  std::uint64_t id = 0;
  EXPECT_TRUE(parse_id("18446744073709551615", id));
  EXPECT_EQ(id, UINT64_MAX);
  for (const char* text : {"3", "3.0", "3.", "0.3e1"}) EXPECT_TRUE(parse_id(text, id) && id == 3) << text;
  for (const char* text : {"", "-1", "-0.5", "3.5", "1e16", "nan", "inf", "0x3", "3a", " 3", "1e400"})
    EXPECT_FALSE(parse_id(text, id)) << text;
  for (const char* text :
       {"9007199254740993.0", "3.0000000000000000000001", "0.99999999999999999999", "-0", "+3", ".", "e3"})
    EXPECT_FALSE(parse_id(text, id)) << text << " is near a whole number, or has a sign";
  EXPECT_TRUE(parse_id("9007199254740992.000", id) && id == std::uint64_t{1} << 53);
  EXPECT_TRUE(parse_id("0.0e-7", id) && id == 0);
  EXPECT_TRUE(parse_id("1230000e-4", id) && id == 123);
  for (const char* text : {"0", "70", "3.0"}) EXPECT_EQ(id_form(text, id), IdForm::kPlain) << text;
  for (const char* text : {"007", "1e3", "2E0"}) EXPECT_EQ(id_form(text, id), IdForm::kUnusual) << text;
}

TEST(TableLine, DataInBracesAreTheLastField) {
  EXPECT_EQ(split("0 1 {'a': 1.0, 'b c': {}}", Separator::kBlanks), (Fields{"0", "1", "{'a': 1.0, 'b c': {}}"}));
  EXPECT_EQ(split("0,1,{'a': 1, 'b': 2} ", Separator::kComma), (Fields{"0", "1", "{'a': 1, 'b': 2}"}));
  EXPECT_EQ(split("{a} {b}", Separator::kBlanks), (Fields{"{a}", "{b}"}));
  EXPECT_EQ(split("a}b}, {c", Separator::kComma), (Fields{"a}b}", "{c"}));
  EXPECT_EQ(separator_of("0 1 {'a': 1, 'b': 2}"), Separator::kBlanks);
}

TEST(TableLine, AMissingValueIsNoIdUnlessInQuotes) {
  TableLine line;
  const std::string text = "NA,\"NA\",,\"\",none";
  ASSERT_EQ(line.split(text, Separator::kComma), nullptr);
  const std::array<bool, 5> are_ids = {false, true, false, false, true};
  for (std::size_t i = 0; i < are_ids.size(); ++i)
    EXPECT_EQ(broken_id_rule(line.fields()[i], text) == nullptr, are_ids[i]) << i;
}

}  // namespace
}  // namespace salient
