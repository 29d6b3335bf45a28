// engine/links/row_optimiser.h - Adam and Adagrad over rows: all of a table, or those that a step touches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/enum_names.h"

namespace salient {

enum class RowRule : std::uint8_t {
  kAdagrad,  ///< s += g^2; x -= lr g / (sqrt(s) + 1e-10)
  kAdam,     ///< torch's, betas 0.9 and 0.999, eps 1e-8; of rows that a step does not touch nothing moves
};

constexpr auto names_of(RowRule) {
  return std::to_array<EnumName<RowRule>>({{RowRule::kAdagrad, "adagrad"}, {RowRule::kAdam, "adam"}});
}

/// The state of one table of parameters.
struct RowMoments {
  std::vector<float> first{};   ///< of kAdam, as the table
  std::vector<float> second{};  ///< sums of squares, or their mean
  std::int64_t steps = 0;

  bool operator==(const RowMoments&) const = default;
};

/// Which rows a step moves.
struct MovedRows {
  std::span<const std::uint32_t> numbers{};
  bool are_all = false;  ///< then numbers are not read
};

struct RowOptimiser {
  RowRule rule = RowRule::kAdagrad;
  float lr = 0.1F;
  float weight_decay = 0;  ///< added to gradients, times the row

  /// Empty moments of a table.
  RowMoments moments_of(const std::vector<float>& table) const;

  /// One step of some rows of `table`. @param gradients  of all rows, or row after row those of rows.numbers
  /// Runs on the caller's oneTBB arena; equal bits for any number of threads.
  void step(std::vector<float>& table, std::int64_t width, const MovedRows& rows, const float* gradients,
            RowMoments& moments) const;
};

}  // namespace salient
