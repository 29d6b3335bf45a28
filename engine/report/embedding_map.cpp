// engine/report/embedding_map.cpp - see embedding_map.h.
#include "engine/report/embedding_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/npy.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// `a` without its part along the unit vector `unit`.
void remove_direction(Vector& a, const Vector& unit) {
  const double part = dot(a, unit);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= part * unit[i];
}

/// To length 1, its largest weight positive; 0 stays 0.
void normalise(Vector& a) {
  const double length = std::sqrt(dot(a, a));
  const auto larger = [](double x, double y) { return std::abs(x) < std::abs(y); };
  const double sign = *std::ranges::max_element(a, larger) < 0 ? -1 : 1;
  const double scale = length > 1e-300 ? sign / length : 0;
  for (double& value : a) value *= scale;
}

/// Some rows of a matrix, less their mean.
class CentredRows {
 public:
  CentredRows(std::span<const float> rows, std::size_t num_columns, std::size_t most)
      : rows_(rows), row_(num_columns), mean_(num_columns) {
    const std::size_t num_rows = rows.size() / num_columns;
    step_ = std::max<std::size_t>(1, (num_rows + most - 1) / most);
    Vector sum(num_columns);
    std::size_t num_visited = 0;
    for_each([&](const Vector& row) {
      for (std::size_t c = 0; c < num_columns; ++c) sum[c] += row[c];
      ++num_visited;
    });
    for (std::size_t c = 0; c < num_columns; ++c)
      mean_[c] = num_visited > 0 ? sum[c] / static_cast<double>(num_visited) : 0;
  }

  /// Calls visit(row less the mean) for every step_-th row, or for all.
  template <class Visit>
  void for_each(Visit&& visit, bool is_all = false) {
    const std::size_t width = mean_.size(), num_rows = rows_.size() / width;
    for (std::size_t r = 0; r < num_rows; r += is_all ? 1 : step_) {
      const std::span<const float> row = rows_.subspan(r * width, width);
      for (std::size_t c = 0; c < width; ++c) row_[c] = (std::isfinite(row[c]) ? row[c] : 0.0) - mean_[c];
      visit(row_);
    }
  }

 private:
  std::span<const float> rows_;
  std::size_t step_ = 1;
  Vector row_, mean_;
};

/// The two directions of the largest variance, or 0 where there is none.
std::array<Vector, 2> main_directions(CentredRows& rows, std::size_t width) {
  std::array<Vector, 2> directions{Vector(width, 1.0), Vector(width)};
  for (std::size_t c = 0; c < width; ++c) directions[1][c] = c % 2 == 0 ? 1.0 + static_cast<double>(c) : -1.0;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    std::array<Vector, 2> sums{Vector(width), Vector(width)};
    rows.for_each([&](const Vector& row) {
      for (std::size_t k = 0; k < 2; ++k) {
        const double along = dot(row, directions[k]);
        for (std::size_t c = 0; c < width; ++c) sums[k][c] += along * row[c];
      }
    });
    normalise(sums[0]);
    remove_direction(sums[1], sums[0]);
    normalise(sums[1]);
    directions = std::move(sums);
  }
  return directions;
}

fs::path newest_embeddings(const fs::path& run_directory) {
  std::error_code error;
  fs::path newest;
  for (const auto& folder : fs::directory_iterator(run_directory / "predictions", error)) {
    const fs::path file = folder.path() / "embeddings.npy";
    if (!fs::is_regular_file(file, error)) continue;
    if (newest.empty() || fs::last_write_time(file, error) > fs::last_write_time(newest, error)) newest = file;
  }
  return newest;
}

/// Of each `step`-th row its class, the first of several; none where they are no classes of these rows.
std::vector<std::int64_t> classes_of(const fs::path& file, std::uint64_t num_rows, std::uint64_t step) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  const NpyFile array(file);
  const NpyHeader& header = array.header();
  if (header.kind != 'i' || header.item_bytes != 4 || header.shape.empty() || header.shape[0] != num_rows) return {};
  const std::uint64_t width = header.num_items() / std::max<std::uint64_t>(1, num_rows);
  std::vector<std::int64_t> classes;
  for (std::uint64_t row = 0; row < num_rows; row += step)
    convert_to_int64(header, array.data().data() + row * width * 4, 1, &classes.emplace_back());
  return classes;
}

/// From 0 to 999.
std::vector<int> to_thousand(const std::vector<float>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const double scale = high > low ? 999 / (static_cast<double>(high) - low) : 0;
  std::vector<int> whole;
  for (const float value : values) whole.push_back(static_cast<int>(std::lround((value - low) * scale)));
  return whole;
}

Json map_of(const fs::path& file) {
  const NpyFile array(file);
  const NpyHeader& header = array.header();
  if (header.dtype() != "<f4" || header.is_fortran_order || header.shape.size() != 2 || header.num_items() == 0)
    return {};
  const std::uint64_t num_rows = header.shape[0], width = header.shape[1];
  const std::uint64_t step = (num_rows + kMostMapped - 1) / kMostMapped;
  std::vector<float> rows;
  const std::span<const float> all = array.items<float>();
  for (std::uint64_t row = 0; row < num_rows; row += step) {
    const std::span<const float> one = all.subspan(row * width, width);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  const PlaneMap map = main_plane(rows, width);
  Json json{{"folder", file.parent_path().filename().string()}, {"nodes", num_rows}, {"width", width}};
  json["share"] = {map.share_x, map.share_y};
  json["x"] = to_thousand(map.x);
  json["y"] = to_thousand(map.y);
  json["classes"] = classes_of(file.parent_path() / "predictions.npy", num_rows, step);
  return json;
}

}  // namespace

PlaneMap main_plane(std::span<const float> rows, std::size_t num_columns, std::size_t num_fitted) {
  require(num_columns > 0 && num_fitted > 0, "a matrix with columns, some rows of which are fitted");
  CentredRows centred(rows, num_columns, num_fitted);
  const std::array<Vector, 2> directions = main_directions(centred, num_columns);
  PlaneMap map;
  double all = 0, along_x = 0, along_y = 0;
  centred.for_each(
      [&](const Vector& row) {
        const double x = dot(row, directions[0]), y = dot(row, directions[1]);
        map.x.push_back(static_cast<float>(x));
        map.y.push_back(static_cast<float>(y));
        all += dot(row, row), along_x += x * x, along_y += y * y;
      },
      /*is_all=*/true);
  if (all > 0) map.share_x = along_x / all, map.share_y = along_y / all;
  return map;
}

Json embedding_map(const fs::path& run_directory) {
  const fs::path file = newest_embeddings(run_directory);
  if (file.empty()) return {};
  try {
    return map_of(file);
  } catch (const Error& error) {
    log_debug(std::string("report: ") + error.what());
    return {};
  }
}

}  // namespace salient
