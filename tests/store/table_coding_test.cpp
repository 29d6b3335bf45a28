// tests/store/table_coding_test.cpp - fields become features the same way for a table and for a new row.
#include "store/table_coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using Values = std::vector<double>;
using Names = std::vector<std::string>;

TableCoding coding() {
  return {.columns = {{.name = "age", .mean = 40, .deviation = 10, .blank = 45, .marks_blanks = true},
                      {.name = "member", .kind = ColumnKind::kYesNo, .blank = 0.25},
                      {.name = "country", .kind = ColumnKind::kCategory, .categories = {"1", "DE", "FR"}},
                      {.name = "city", .kind = ColumnKind::kIndex, .categories = {"Bonn", "Paris"}}},
          .blanks = {"unknown"}};
}

Values coded(const Names& row) {
  const TableCoding table = coding();
  Values features;
  for (std::size_t c = 0; c < row.size(); ++c) {
    Values part(static_cast<std::size_t>(table.columns[c].width()), 7);  // whatever was there before
    const char* const rule = code_field(table, table.columns[c], row[c], part);
    EXPECT_EQ(rule, nullptr) << row[c];
    features.insert(features.end(), part.begin(), part.end());
  }
  return features;
}

TEST(TableCoding, FieldsAreNumbersYesAndNoOrWords) {
  EXPECT_EQ(coding().width(), 2 + 1 + 3 + 1);
  EXPECT_EQ(coding().feature_names(),
            (Names{"age", "age is missing", "member", "country=1", "country=DE", "country=FR", "city"}));
  EXPECT_EQ(coded({"50", "True", "DE", "Paris"}), (Values{1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(coded({"35", "n", "1", "Bonn"}), (Values{-0.5, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(coded({"40", "0", "FR", "Bonn"}), (Values{0, 0, 0, 0, 0, 1, 0}));
}

TEST(TableCoding, BlankFieldsAndUnknownWordsHaveADefinedAnswer) {
  EXPECT_EQ(coded({"", "NA", "?", "unknown"}), (Values{0.5, 1, 0.25, 0, 0, 0, -1}));
  EXPECT_EQ(coded({"unknown", "null", "SE", "Rome"}), (Values{0.5, 1, 0.25, 0, 0, 0, -1}));
}

TEST(TableCoding, AFieldThatFitsNoFeatureBreaksARule) {
  const TableCoding table = coding();
  Values out(2), one(1);
  EXPECT_STREQ(code_field(table, table.columns[0], "old", out), "is no number");
  EXPECT_STREQ(code_field(table, table.columns[0], "inf", out), "is not finite");
  EXPECT_STREQ(code_field(table, table.columns[1], "perhaps", one), "is neither yes nor no");
  EXPECT_STREQ(code_field(table, table.columns[1], "2", one), "is neither yes nor no");
  EXPECT_STREQ(code_number(table.columns[0], std::numeric_limits<double>::quiet_NaN(), out), "is not finite");
}

TEST(TableCoding, ANumberMayBeAWord) {
  const TableCoding table = coding();
  Values out(3);
  EXPECT_EQ(code_number(table.columns[2], 1, out), nullptr);
  EXPECT_EQ(out, (Values{1, 0, 0}));
}

TEST(TableCoding, IsKeptAsAnOriginAndReadBack) {
  EXPECT_EQ(coding_of(origin_of(coding()), "FILE"), coding());
  EXPECT_EQ(coding_of({}, "FILE"), std::nullopt);
  EXPECT_EQ(coding_of({{"kind", "random"}, {"seed", "0"}}, "FILE"), std::nullopt);
  const TableCoding plain{.columns = {{.name = "a"}, {.name = "b", .blank = 3}}};
  EXPECT_EQ(origin_of(plain), FeatureOrigin{}) << "numbers as they are come from the source";
  TableCoding tiny{.columns = {{.name = "a", .mean = 0.1, .deviation = 1.0 / 3, .blank = 1e-300}}};
  EXPECT_EQ(coding_of(origin_of(tiny), "FILE"), tiny) << "every bit";
}

TEST(TableCoding, TextThatIsNoCodingIsRefused) {
  const auto read = [](const std::string& text) { return coding_of({{"kind", "table"}, {"coding", text}}, "FILE"); };
  const std::string begin = R"({"blanks":[],"columns":[{"name":"a","kind":)";
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string(R"({"columns":[]})"), begin + R"("number"}]})",
        begin + R"("number","mean":0,"deviation":0,"blank":0,"marks_blanks":false}]})",
        begin + R"("number","mean":"0","deviation":1,"blank":0,"marks_blanks":false}]})",
        begin + R"("shape","blank":0,"marks_blanks":false}]})",
        begin + R"("category","categories":["b","a"],"marks_blanks":false}]})",
        begin + R"("category","categories":[1],"marks_blanks":false}]})"})
    EXPECT_COMPLAINT(read(text), 65, "FILE: does not say how its table was coded");
}

TEST(TableCoding, DifferencesAreNamedByColumn) {
  const TableCoding run = coding();
  TableCoding data = run;
  std::swap(data.columns[0], data.columns[2]);
  data.columns.push_back({.name = "more"});
  EXPECT_EQ(difference_of(run, data), "") << "another order, and further columns";
  data.columns[2].mean = 41;
  EXPECT_EQ(difference_of(run, data),
            "the column 'age' is a number less 41, by 10; of the run it is a number less 40, by 10");
  data = run;
  data.columns[2].categories = {"1", "DE", "SE"};
  EXPECT_NE(difference_of(run, data).find("'country'"), std::string::npos);
  data.columns.erase(data.columns.begin());
  EXPECT_EQ(difference_of(run, data), "it lacks the column 'age'");
}

}  // namespace
}  // namespace salient
