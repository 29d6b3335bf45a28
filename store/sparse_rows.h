// store/sparse_rows.h - feature rows of which only the values that are not zero are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/enum_names.h"

namespace salient {

/// How a store keeps feature rows.
enum class FeatureLayout : std::uint8_t {
  kDense,  ///< every value: features.npy
  kCsr,    ///< those that are not zero: feature_begin.npy, feature_columns.npy, feature_values.npy
};

constexpr auto names_of(FeatureLayout) {
  return std::to_array<EnumName<FeatureLayout>>({{FeatureLayout::kDense, "dense"}, {FeatureLayout::kCsr, "csr"}});
}

/// How many values the longest rows have: what a batch needs room for, before it is known which rows it has.
class LongestRows {
 public:
  LongestRows() = default;
  /// @param begin  [V + 1] ascending from 0; empty for no rows
  explicit LongestRows(std::span<const std::int64_t> begin);

  /// Values of the `num_rows` longest rows together, all for more than there are.
  /// Cost: the number of different lengths.
  std::uint64_t num_values(std::uint64_t num_rows) const;

 private:
  struct Rows {
    std::uint64_t count, length;
  };
  std::vector<Rows> by_length_{};  // longest first
};

/// Row v has values[k] in columns[k] for begin[v] <= k < begin[v + 1], and 0 in every other column. Borrows the arrays;
/// empty where a data set's rows are dense.
struct SparseRowTable {
  std::span<const std::int64_t> begin{};     ///< [V + 1]
  std::span<const std::uint32_t> columns{};  ///< [N] ascending in each row
  const std::byte* values = nullptr;         ///< [N] of the data set's feature_type
  LongestRows longest{};

  std::uint64_t num_values() const { return columns.size(); }
  std::uint64_t num_bytes(std::size_t value_bytes) const {
    return begin.size_bytes() + columns.size_bytes() + columns.size() * value_bytes;
  }
};

}  // namespace salient
