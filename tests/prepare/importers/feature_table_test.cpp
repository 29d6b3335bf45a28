// tests/prepare/importers/feature_table_test.cpp - columns of a table as people have them become features.
#include "prepare/importers/feature_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch;
using test::write_bytes;
using Names = std::vector<std::string>;
using Values = std::vector<float>;

class FeatureTable : public ::testing::Test {
 protected:
  RawFeatures read(const std::string& table, const ColumnWishes& wishes = {}, NodeTableOptions options = {},
                   FeatureType type = FeatureType::kF32) {
    const auto path = write_bytes(scratch_ / "nodes.csv", table);
    ids_.clear();
    CodedFeatures read = read_feature_table(path, options, {wishes, type, !options.label_column.empty()},
                                            [&](std::string_view id) -> const char* {
                                              ids_.emplace_back(id);
                                              return nullptr;
                                            });
    coding_ = read.coding;
    return std::move(read.features);
  }

  static Values values(const RawFeatures& features) {
    Values values(features.rows.size() / sizeof(float));
    std::memcpy(values.data(), features.rows.data(), features.rows.size());
    return values;
  }

  const Scratch scratch_;
  Names ids_{};
  TableCoding coding_{};
};

const std::string kShop =
    "customer_id,country,age,income,newsletter\n"
    "c-1,DE,20,1000,True\n"
    "c-2,FR,,3000,False\n"
    "c-3,DE,40,2000,True\n";

TEST_F(FeatureTable, NumbersAreScaledWordsAreColumnsAndBlanksAreMarked) {
  const RawFeatures features = read(kShop);
  EXPECT_EQ(ids_, (Names{"c-1", "c-2", "c-3"}));
  EXPECT_EQ(features.column_names,
            (Names{"country=DE", "country=FR", "age", "age is missing", "income", "newsletter"}));
  const auto wide = static_cast<float>(std::sqrt(1.5));
  EXPECT_EQ(values(features), (Values{1, 0, -1, 0, -wide, 1, 0, 1, 0, 1, wide, 0, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(coding_.columns[1],
            (ColumnCoding{.name = "age", .mean = 30, .deviation = 10, .blank = 30, .marks_blanks = true}));
}

TEST_F(FeatureTable, ColumnsOfOneScaleStayAsTheyAre) {
  const RawFeatures features = read("id,a,b,c\n1,0,0.5,-3\n2,1,2.5,4\n3,0,1,0.25\n");
  EXPECT_EQ(values(features), (Values{0, 0.5, -3, 1, 2.5, 4, 0, 1, 0.25}));
  EXPECT_EQ(origin_of(coding_), FeatureOrigin{});
  EXPECT_EQ(values(read("id,a\n1,0.001\n2,0.003\n")), (Values{-1, 1})) << "but narrow ones do not";
  EXPECT_EQ(values(read("id,a\n1,7000\n2,7000\n")), (Values{0, 0})) << "nor one far value";
  EXPECT_EQ(values(read("id,a\n1,7000\n2,7002\n", {.scaling = FeatureScaling::kNone})), (Values{7000, 7002}));
  EXPECT_EQ(values(read("id,a\n1,0\n2,1\n", {.scaling = FeatureScaling::kStandard})), (Values{-1, 1}));
}

TEST_F(FeatureTable, TheUserSaysWhatAColumnIs) {
  EXPECT_EQ(read(kShop, {.dropped = {"age", "3"}}).column_names, (Names{"country=DE", "country=FR", "newsletter"}));
  EXPECT_EQ(read("id,zip\n1,10\n2,9\n3,10\n", {.categories = {"zip"}}).column_names, (Names{"zip=10", "zip=9"}));
  EXPECT_EQ(values(read("id,zip\n1,10\n2,9\n3,?\n", {.indices = {"1"}})), (Values{0, 0, 1, 0, -1, 1}));
  EXPECT_EQ(values(read("id,a\n1,2\n2,unknown\n3,4\n", {.blanks = {"unknown"}})), (Values{2, 0, 3, 1, 4, 0}));
  EXPECT_COMPLAINT(read(kShop, {.dropped = {"shoe"}}), 65, "nodes.csv: has no column 'shoe'");
  EXPECT_COMPLAINT(read(kShop, {.categories = {"7"}}), 65, "has 5 columns, none is '7'");
}

TEST_F(FeatureTable, WhatFitsNoColumnIsRefusedByItsName) {
  EXPECT_COMPLAINT(read("id,a\n1,2\n2,3\n3,x\n"), 65, "nodes.csv: line 4: column 'a' is no number: 'x'");
  EXPECT_COMPLAINT(read("id,a\n1,2\n2,inf\n"), 65, "nodes.csv: line 3: column 'a' is not finite: 'inf'");
  EXPECT_COMPLAINT(read("id;a\n1;2,5\n2;3,25\n"), 65, "column 'a' has numbers with commas");
  EXPECT_COMPLAINT(read("id,a\n1,\"1,000\"\n2,20\n"), 65, "column 'a' has numbers with commas");
  EXPECT_COMPLAINT(read("id,day\n1,2024-05-01\n2,2024-05-02\n"), 65, "column 'day' has dates");
  EXPECT_COMPLAINT(read("id,day\n1,1.5.2024 12:00\n2,2.5.2024 13:00\n"), 65, "column 'day' has dates");
  EXPECT_COMPLAINT(read("id,a\n1,70000\n2,1\n", {.scaling = FeatureScaling::kNone}, {}, FeatureType::kF16), 65,
                   "line 2: column 'a' is 70000, beyond the f16 range");
}

TEST_F(FeatureTable, ALateFieldThatDoesNotFitIsRefused) {
  std::string numbers = "id,a,b\n", truths = "id,a\n";
  for (int i = 0; i < 1500; ++i) {
    numbers += std::to_string(i) + "," + std::to_string(i % 7) + ",DE\n";
    truths += std::to_string(i) + "," + (i % 2 == 0 ? "yes" : "no") + "\n";
  }
  EXPECT_COMPLAINT(read(numbers + "1500,old,DE\n"), 65, "nodes.csv: line 1502: column 'a' is no number: 'old'");
  EXPECT_COMPLAINT(read(truths + "1500,perhaps\n"), 65, "line 1502: column 'a' is neither yes nor no: 'perhaps'");
  EXPECT_EQ(read(numbers + "1500,1,FR\n").column_names, (Names{"a", "b=DE", "b=FR"})) << "a late word is a word";
}

TEST_F(FeatureTable, ColumnsOfTooManyWordsAreLeftOut) {
  std::string table = "id,name,a\n";
  for (int i = 0; i < 150; ++i) table += std::to_string(i) + ",n" + std::to_string(i) + ",1\n";
  EXPECT_EQ(read(table).column_names, (Names{"a"}));
  EXPECT_EQ(read(table, {.categories = {"name"}}).dim, 151) << "unless they are wished";
  EXPECT_EQ(read("id,a,b\n1,,2\n2,NA,3\n").column_names, (Names{"b"})) << "nor is a column without a value a feature";
  EXPECT_COMPLAINT(read("id,a\n1,\n2,NA\n"), 65, "has no column that can be a feature");
}

TEST_F(FeatureTable, AnotherTableIsCodedAsTheFirst) {
  (void)read(kShop);
  const TableCoding coding = coding_;
  const RawFeatures other =
      read("customer_id,newsletter,income,shoes,age,country\nc-9,False,4000,44,30,SE\n", {.coding = coding});
  EXPECT_EQ(coding_, coding);
  const auto far = static_cast<float>(2 * std::sqrt(1.5));
  EXPECT_EQ(values(other), (Values{0, 0, 0, 0, far, 0})) << "by name, with the first table's scales and words";
  EXPECT_COMPLAINT(read("customer_id,age\nc-9,3\n", {.coding = coding}), 65, "nodes.csv: has no column 'country'");
}

TEST_F(FeatureTable, TheSameBytesForAnyNumberOfThreads) {
  std::string table = "id,a,b,c\n";
  for (int i = 0; i < 200'000; ++i)
    table += std::to_string(i) + "," + std::to_string((i * 7919) % 1013) + "," + (i % 3 == 0 ? "x" : "y") + "," +
             (i % 11 == 0 ? "" : std::to_string(i % 13)) + "\n";
  const RawFeatures one = read(table, {}, {.num_threads = 1}), four = read(table, {}, {.num_threads = 4});
  EXPECT_EQ(one.rows, four.rows);
  EXPECT_EQ(one.column_names, (Names{"a", "b=x", "b=y", "c", "c is missing"}));
}

}  // namespace
}  // namespace salient
