// prepare/importers/column_statistics.h - mean, deviation and range of a column of numbers, block by block.
#pragma once

#include <cmath>
#include <cstdint>

namespace salient {

/// NaN counts as blank. Values of a block are added on any thread, blocks merged in the file's order: the same bits for
/// any number of threads.
class ColumnStatistics {
 public:
  /// @param line  of the file
  void add(double value, std::uint64_t line) {
    if (std::isnan(value)) {
      ++num_blanks_;
      return;
    }
    if (count_ == 0) shift_ = value;
    const double apart = value - shift_;
    count_ += 1;
    sum_ += apart;
    squares_ += apart * apart;
    is_binary_ = is_binary_ && (value == 0 || value == 1);
    if (count_ > 1 && std::fabs(value) <= std::fabs(largest_)) return;
    largest_ = value;
    line_ = line;
  }

  /// Chan, Golub and LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979.
  void merge(const ColumnStatistics& more) {
    num_blanks_ += more.num_blanks_;
    if (more.count_ == 0) return;
    const double apart = more.mean() - mean(), all = count_ + more.count_;
    const double own = moment(), mean_of_all = mean() + apart * more.count_ / all;
    const double moment_of_all = own + more.moment() + apart * apart * count_ * more.count_ / all;
    if (count_ == 0 || std::fabs(more.largest_) > std::fabs(largest_)) {
      largest_ = more.largest_;
      line_ = more.line_;
    }
    is_binary_ = is_binary_ && more.is_binary_;
    count_ = all;
    shift_ = mean_of_all;
    sum_ = 0;
    squares_ = moment_of_all;
  }

  std::uint64_t count() const { return static_cast<std::uint64_t>(count_); }
  std::uint64_t num_blanks() const { return num_blanks_; }
  double mean() const { return count_ > 0 ? shift_ + sum_ / count_ : 0; }
  double deviation() const { return count_ > 0 ? std::sqrt(std::fmax(moment(), 0) / count_) : 0; }  ///< of all rows
  double largest() const { return largest_; }  ///< the value of the largest magnitude
  std::uint64_t line_of_largest() const { return line_; }
  bool is_binary() const { return is_binary_; }  ///< 0 and 1 alone

 private:
  /// The sum of the squares of distances from the mean.
  double moment() const { return count_ > 0 ? squares_ - sum_ * sum_ / count_ : 0; }

  double shift_ = 0, count_ = 0, sum_ = 0, squares_ = 0, largest_ = 0;  ///< sums of distances from shift_
  std::uint64_t num_blanks_ = 0, line_ = 0;
  bool is_binary_ = true;
};

}  // namespace salient
