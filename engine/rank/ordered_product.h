// engine/rank/ordered_product.h - products of matrices whose elements do not depend on how the work is cut.
//
// By hand: libraries choose blocks, and with them the order of sums, by the sizes and the number of threads; then the
// score of one pair differs from block to block, and equal scores are no ties.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace salient {

/// How a pair of rows is scored.
enum class PairScore : std::uint8_t {
  kDot,       ///< sum of a[k] b[k]
  kDistance,  ///< minus the square root of the sum of (a[k] - b[k])^2
};

/// A matrix inside an array: element (i, k) is at data[i * row + k * column].
struct MatrixView {
  const float* data = nullptr;
  std::int64_t row = 0, column = 1;

  const float& at(std::int64_t i, std::int64_t k) const { return data[i * row + k * column]; }
};

struct ProductSize {
  std::int64_t rows = 0, columns = 0, inner = 0;
};

/// out[i, j] = a[i, .] . b[., j]: from 0, or from what out has if `adds`, one fused multiply-add for each k, ascending.
/// So each element has the same bits in whatever block it is computed, for any number of threads.
///
/// @param a    [rows, inner]   @param b  [inner, columns]
/// @param out  [rows, columns], row after row at a distance of out_row
/// Runs on the caller's oneTBB arena. Memory: rows * inner floats, and 64 * inner bytes a thread.
/// Oracle: pair_sum(), an element
void ordered_product(const ProductSize& size, MatrixView a, MatrixView b, float* out, std::int64_t out_row,
                     bool adds = false);

/// out[i, j] = the score of row i of a and row j of b, in the same way.
/// @param a  [rows, inner]   @param b  [columns, inner]
void pair_scores(PairScore kind, const ProductSize& size, MatrixView a, MatrixView b, float* out, std::int64_t out_row);

/// The score of one pair of rows: the bits that pair_scores() gives.
float pair_score(PairScore kind, const float* a, const float* b, std::int64_t inner);

}  // namespace salient
