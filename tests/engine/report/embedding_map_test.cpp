// tests/engine/report/embedding_map_test.cpp - embeddings in the plane of their main directions.
#include "engine/report/embedding_map.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/files/npy.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch;

/// Normal values in `width` columns, column c with deviation deviations[c], turned in the plane of columns 0 and 2.
std::vector<float> turned_cloud(std::size_t num_rows, const std::vector<double>& deviations, double angle) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<float> rows;
  for (std::size_t r = 0; r < num_rows; ++r) {
    std::vector<double> row;
    for (const double deviation : deviations) row.push_back(5 + deviation * normal(random));
    const double a = row[0], b = row[2];
    row[0] = std::cos(angle) * a - std::sin(angle) * b;
    row[2] = std::sin(angle) * a + std::cos(angle) * b;
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

/// Share of the variance along a direction.
double share_along(const std::vector<float>& rows, const std::vector<double>& direction) {
  const std::size_t width = direction.size(), num_rows = rows.size() / width;
  std::vector<double> mean(width);
  for (std::size_t i = 0; i < rows.size(); ++i) mean[i % width] += rows[i] / static_cast<double>(num_rows);
  double all = 0, along = 0, length = 0;
  for (const double weight : direction) length += weight * weight;
  for (std::size_t r = 0; r < num_rows; ++r) {
    double part = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double value = rows[r * width + c] - mean[c];
      all += value * value;
      part += value * direction[c];
    }
    along += part * part / length;
  }
  return along / all;
}

TEST(EmbeddingMap, TheFirstDirectionsHaveTheLargestVariance) {
  const std::vector<float> rows = turned_cloud(1500, {4, 0.5, 1, 2, 0.1}, 0.6);
  const PlaneMap map = main_plane(rows, 5);
  ASSERT_EQ(map.x.size(), 1500U);
  EXPECT_NEAR(map.share_x, share_along(rows, {std::cos(0.6), 0, std::sin(0.6), 0, 0}), 2e-3);
  EXPECT_NEAR(map.share_y, share_along(rows, {0, 0, 0, 1, 0}), 2e-3);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> direction(5);
    for (double& weight : direction) weight = normal(random);
    EXPECT_LE(share_along(rows, direction), map.share_x + 1e-9);
  }
  double x = 0, y = 0, xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < map.x.size(); ++i) {
    x += map.x[i], y += map.y[i];
    xx += map.x[i] * map.x[i], yy += map.y[i] * map.y[i], xy += map.x[i] * map.y[i];
  }
  EXPECT_NEAR(x / 1500, 0, 1e-4);
  EXPECT_NEAR(y / 1500, 0, 1e-4);
  EXPECT_NEAR(xy / std::sqrt(xx * yy), 0, 1e-3) << "uncorrelated";
}

TEST(EmbeddingMap, FewFittedRowsGiveNearlyTheSamePlane) {
  const std::vector<float> rows = turned_cloud(6000, {4, 0.5, 1, 2, 0.1}, 0.6);
  const PlaneMap all = main_plane(rows, 5, 6000), some = main_plane(rows, 5, 500);
  ASSERT_EQ(some.x.size(), 6000U);
  EXPECT_NEAR(all.share_x, some.share_x, 0.01);
  EXPECT_NEAR(all.share_y, some.share_y, 0.01);
}

TEST(EmbeddingMap, EqualRowsOneColumnAndValuesThatAreNotFiniteAreMapped) {
  const PlaneMap same = main_plane(std::vector<float>(12, 3.0F), 3);
  EXPECT_EQ(same.x, std::vector<float>(4, 0.0F));
  EXPECT_EQ(same.share_x + same.share_y, 0);
  const PlaneMap line = main_plane(std::vector<float>{1, 2, 6}, 1);
  EXPECT_EQ(line.x, (std::vector<float>{-2, -1, 3}));
  EXPECT_EQ(line.y, (std::vector<float>{0, 0, 0})) << "there is no second direction";
  std::vector<float> rows = turned_cloud(50, {4, 0.5, 1, 2, 0.1}, 0.6);
  rows[7] = std::numeric_limits<float>::quiet_NaN();
  rows[11] = std::numeric_limits<float>::infinity();
  for (const float value : main_plane(rows, 5).x) EXPECT_TRUE(std::isfinite(value));
}

template <class T>
void write(const std::filesystem::path& path, const char* dtype, std::vector<std::uint64_t> shape,
           const std::vector<T>& values) {
  std::filesystem::create_directories(path.parent_path());
  std::filesystem::remove(path);
  NpyWriter writer(path, dtype, std::move(shape));
  writer.write(values);
  (void)writer.close();
}

TEST(EmbeddingMap, OfARunIsThatOfItsNewestPredictions) {
  const Scratch scratch;
  EXPECT_TRUE(embedding_map(scratch.path()).is_null());
  const std::filesystem::path folder = scratch / "predictions", old = folder / "a" / "embeddings.npy";
  write<float>(old, "<f4", {3, 2}, {0, 0, 1, 0, 2, 0});
  std::filesystem::last_write_time(old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(embedding_map(scratch.path())["folder"], "a");
  write<float>(folder / "b" / "embeddings.npy", "<f4", {4, 2}, {0, 0, 10, 0, 5, 1, 0, 0});
  write<std::int32_t>(folder / "b" / "predictions.npy", "<i4", {4, 2}, {3, 0, 1, 0, 2, 0, 3, 1});
  const Json map = embedding_map(scratch.path());
  EXPECT_EQ(map["folder"], "b");
  EXPECT_EQ(map["nodes"], 4);
  EXPECT_EQ(map["classes"], Json::parse("[3, 1, 2, 3]"));
  EXPECT_EQ(map["x"][0], 0);
  EXPECT_EQ(map["x"][1], 999);
}

TEST(EmbeddingMap, ManyRowsAreThinnedAndWhatIsNoMatrixHasNone) {
  const Scratch scratch;
  const std::filesystem::path file = scratch / "predictions" / "all" / "embeddings.npy";
  write<float>(file, "<f4", {45001, 1}, std::vector<float>(45001, 1.0F));
  write<float>(file.parent_path() / "predictions.npy", "<f4", {45001}, std::vector<float>(45001));
  const Json map = embedding_map(scratch.path());
  EXPECT_EQ(map["nodes"], 45001);
  EXPECT_EQ(map["x"].size(), 15001U);
  EXPECT_EQ(map["classes"], Json::array()) << "values are no classes";
  write<float>(file, "<f4", {6}, std::vector<float>(6));
  EXPECT_TRUE(embedding_map(scratch.path()).is_null());
  test::write_bytes(file, "no array");
  EXPECT_TRUE(embedding_map(scratch.path()).is_null());
}

}  // namespace
}  // namespace salient
