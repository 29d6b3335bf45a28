// tests/prepare/importers/scaled_array_test.cpp - columns of arrays get mean 0 and deviation 1, as those of tables do.
#include "prepare/importers/scaled_array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/npy.h"
#include "prepare/importers/edges_importer.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

class ScaledArray : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::vector<double>& values,
                              std::vector<std::uint64_t> shape) {
    NpyWriter writer(scratch_ / name, "<f8", std::move(shape));
    writer.write(values);
    writer.close();
    return scratch_ / name;
  }
  static std::vector<float> floats_of(const RawFeatures& features) {
    std::vector<float> values(features.rows.size() / sizeof(float));
    std::memcpy(values.data(), features.rows.data(), features.rows.size());
    return values;
  }
  const test::Scratch scratch_;
};

TEST_F(ScaledArray, HasMeanZeroAndDeviationOneInEachColumn) {
  const auto file = write("x.npy", {1e6, 0, 5, 3e6, 2, 5, 2e6, 1, 5}, {3, 3});
  const CodedFeatures read = read_scaled_array(file, FeatureType::kF32, {});
  const auto far = static_cast<float>(std::sqrt(1.5));
  const std::vector<float> expected{-far, -far, 0, far, far, 0, 0, 0, 0};
  const std::vector<float> found = floats_of(read.features);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
  EXPECT_EQ(read.features.column_names, (std::vector<std::string>{"column 0", "column 1", "column 2"}));
  EXPECT_EQ(read.coding.columns[0].mean, 2e6);
}

TEST_F(ScaledArray, AnotherArrayIsScaledAsTheFirst) {
  const CodedFeatures first = read_scaled_array(write("x.npy", {10, 30, 20}, {3}), FeatureType::kF32, {});
  const auto other = write("z.npy", {20, 40}, {2, 1});
  const CodedFeatures second = read_scaled_array(other, FeatureType::kF32, {}, first.coding);
  EXPECT_NEAR(floats_of(second.features)[0], 0, 1e-6);
  EXPECT_NEAR(floats_of(second.features)[1], 20 / std::sqrt(200.0 / 3), 1e-5);
  EXPECT_EQ(second.coding, first.coding);
  EXPECT_COMPLAINT(read_scaled_array(write("w.npy", {1, 2}, {1, 2}), FeatureType::kF32, {}, first.coding),
                   ErrorKind::kBadData, "an array of 2 columns");
  TableCoding of_table = first.coding;
  of_table.columns[0].name = "age";
  EXPECT_COMPLAINT(read_scaled_array(other, FeatureType::kF32, {}, of_table), ErrorKind::kBadData, "is to be coded as");
}

TEST_F(ScaledArray, IsFinite) {
  const auto file = write("x.npy", {1, 2, 3, INFINITY}, {2, 2});
  EXPECT_COMPLAINT(read_scaled_array(file, FeatureType::kF32, {}), ErrorKind::kBadData,
                   "x.npy: row 1, column 1 is inf; features are finite");
}

TEST_F(ScaledArray, IsWhatTheImporterTakesWhereItIsAskedTo) {
  const EdgesOptions options{.edges = test::write_bytes(scratch_ / "e.csv", "0,1\n1,2\n"),
                             .features = write("x.npy", {1e6, 3e6, 2e6}, {3}),
                             .wishes = {.scaling = FeatureScaling::kStandard}};
  EXPECT_TRUE(problems(options).empty());
  const RawGraph graph = import_edges(options);
  EXPECT_EQ(coding_of(graph.feature_origin, "x.npy")->columns[0].mean, 2e6);
  EdgesOptions words = options;
  words.wishes.categories = {"0"};
  ASSERT_EQ(problems(words).size(), 1U);
  EXPECT_EQ(problems(words)[0].field, "features");
  EdgesOptions plain = options;
  plain.wishes = {};
  EXPECT_COMPLAINT(import_edges(plain), ErrorKind::kBadData, "beyond the f16 range");
}

}  // namespace
}  // namespace salient
