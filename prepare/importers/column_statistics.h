// prepare/importers/column_statistics.h - mean, deviation and range of a column of numbers, block by block.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace salient {

/// NaN counts as blank. The same for any number of threads, as blocks come in the file's order.
class ColumnStatistics {
 public:
  /// @param values  every `stride`th is of the column    @param lines  [rows] of the file
  void add(std::span<const double> values, std::size_t stride, std::span<const std::uint64_t> lines) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0, row = 0; i < values.size(); i += stride, ++row) {
      const double value = values[i];
      if (std::isnan(value)) {
        ++num_blanks_;
        continue;
      }
      sum += value;
      ++count;
      is_binary_ = is_binary_ && (value == 0 || value == 1);
      if (std::fabs(value) <= largest_) continue;
      largest_ = std::fabs(value);
      value_ = value;
      line_ = lines[row];
    }
    if (count == 0) return;
    const double mean = sum / static_cast<double>(count);
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); i += stride)
      if (!std::isnan(values[i])) squares += (values[i] - mean) * (values[i] - mean);
    merge(mean, squares, static_cast<double>(count));
  }

  std::uint64_t count() const { return static_cast<std::uint64_t>(count_); }
  std::uint64_t num_blanks() const { return num_blanks_; }
  double mean() const { return mean_; }
  double deviation() const { return count_ > 0 ? std::sqrt(squares_ / count_) : 0; }  ///< of all rows, not a sample
  double largest() const { return largest_; }                                         ///< magnitude
  double value_of_largest() const { return value_; }
  std::uint64_t line_of_largest() const { return line_; }
  bool is_binary() const { return is_binary_; }  ///< 0 and 1 alone

 private:
  /// Chan, Golub and LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979.
  void merge(double mean, double squares, double count) {
    const double apart = mean - mean_, all = count_ + count;
    mean_ += apart * count / all;
    squares_ += squares + apart * apart * count_ * count / all;
    count_ = all;
  }

  double count_ = 0, mean_ = 0, squares_ = 0, largest_ = 0, value_ = 0;
  std::uint64_t num_blanks_ = 0, line_ = 0;
  bool is_binary_ = true;
};

}  // namespace salient
