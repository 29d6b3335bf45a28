// prepare/importers/feature_losses.h - what is lost where features become a smaller type: counted, and said once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/row_table.h"

namespace salient {

/// Counts, for each column of a feature matrix, the values that are not 0 and become 0, and the neighbouring values
/// (of a row and the one before; of sparse rows, of entries) that differ and become equal: of the first 4,096 rows of
/// all, then of one row in 64. Overflow is refused before.
///
/// Cost: about 0.2 ns a value of dense rows, nothing where no value can be lost; 20 bytes a column.
class FeatureLosses {
 public:
  /// The next values of the matrix, row by row, and what they became: a block may begin and end inside a row.
  /// @param type, dim  the same ones in every call
  void add(std::span<const float> values, const std::byte* stored, FeatureType type, int dim);
  void add(std::span<const double> values, const std::byte* stored, FeatureType type, int dim);

  /// The next value of a sparse matrix.
  void add_entry(std::size_t column, double value, const std::byte* stored, FeatureType type, int dim);

  /// "x.npy: 400 features that are not 0 become 0 in f16 (column 1); ..., f32 has room for them"; "" if none became 0,
  /// and in no column a sixteenth of the neighbours that differ became equal, of fp8 a quarter.
  /// @param names  of columns; empty: they have none
  /// @throws Error{kBadData, kHalfRange} if all rows are equal as stored, and were not
  std::string text(const std::string& file, std::span<const std::string> names = {}) const;

 private:
  template <class T, class Bits>
  void count(std::span<const T> values, const Bits* stored, FeatureType type, int dim, std::vector<T>& last);
  template <class T>
  void count(std::span<const T> values, const std::byte* stored, FeatureType type, int dim, std::vector<T>& last);
  void start(FeatureType type, int dim);

  FeatureType type_ = FeatureType::kF16;
  std::uint64_t row_ = 0;  ///< of the next value
  std::size_t column_ = 0;
  bool has_difference_ = false;                                     ///< two rows differ as they are stored
  std::vector<std::byte> first_{};                                  ///< the first row as it is stored
  std::vector<bool> has_entry_{};                                   ///< [dim] of sparse rows
  std::vector<std::uint32_t> differ_{}, merged_{}, became_zero_{};  ///< [dim]
  std::vector<std::uint32_t> stored_{};                             ///< [dim] bits of the last row
  std::vector<float> last_{};                                       ///< [dim] the last row; of doubles:
  std::vector<double> wide_last_{};
};

/// Warns of text(), if there is any. @throws as it
void say_losses(const FeatureLosses& losses, const std::string& file, std::span<const std::string> names = {});

}  // namespace salient
