// tests/prepare/formats/text_fields_test.cpp - a field is a number from its first to its last character, or it is none.
#include "prepare/formats/text_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

template <class T>
bool is_number(std::string_view text) {
  T value{};
  return parse_number(text, value);
}

TEST(TextFields, NumbersAreStrict) {
  std::uint32_t id = 7;
  EXPECT_TRUE(parse_number("4294967295", id));
  EXPECT_EQ(id, 4294967295u);
  for (const char* bad : {"", " 1", "1 ", "+1", "-1", "1.0", "4294967296", "0x1", "1e3", "nan", "1,", "١"})
    EXPECT_FALSE(is_number<std::uint32_t>(bad)) << bad;
  double value = 0;
  EXPECT_TRUE(parse_number("-5.7943e-02", value));
  EXPECT_EQ(value, -5.7943e-02);
  for (const char* good : {"0", "-0.0", "1e3", ".5", "5.", "nan", "inf"}) EXPECT_TRUE(is_number<double>(good)) << good;
  for (const char* bad : {"", " 1", "1 ", "+1", "0x1p3", "1e999", "1,5", "--1", "1e", "e5", "."})
    EXPECT_FALSE(is_number<double>(bad)) << bad;
}

TEST(TextFields, SplittingKeepsEmptyFields) {
  const auto fields_of = [](std::string_view line) {
    std::vector<std::string> fields;
    FieldSplitter splitter(line, ',');
    for (std::string_view field; splitter.next(field);) fields.emplace_back(field);
    return fields;
  };
  using Fields = std::vector<std::string>;
  EXPECT_EQ(fields_of("1,22,3"), (Fields{"1", "22", "3"}));
  EXPECT_EQ(fields_of(""), (Fields{""}));
  EXPECT_EQ(fields_of(",a,,"), (Fields{"", "a", "", ""}));
}

TEST(TextFields, ComplaintsStayOnOneReadableLine) {
  EXPECT_EQ(in_quotes("a,b"), "'a,b'");
  EXPECT_EQ(in_quotes(std::string_view("a\n\0\xff", 4)), "'a\\x0a\\x00\\xff'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_COMPLAINT(fail_at_line("D/edge.csv.gz", 17, "1;2", "two ids are expected"), ErrorKind::kBadData,
                   "D/edge.csv.gz: line 17: two ids are expected: '1;2'");
}

}  // namespace
}  // namespace salient
