// models/products/split_problem.h - a product of f32 matrices, as kernels see it that split factors into short numbers.
#pragma once

#include <cstdint>

namespace salient::split {

/// A block computes a tile of kTile x kTile of the result; parts of a sum are multiples of kDepthUnit terms.
inline constexpr int kTile = 128, kDepthUnit = 64;

/// Which dimension of a factor's matrix is contiguous.
enum class Order : std::uint8_t {
  kAlongSum,   ///< rows are those, or columns, of the result; their elements are added up
  kAcrossSum,  ///< a row has an element of each row, or column, of the result
};

struct Matrix {
  const float* data;    ///< 16-byte aligned
  std::int64_t stride;  ///< elements from one row to the next; a multiple of 4
  std::int64_t count;   ///< rows or columns of the result; below 2^31; a multiple of 8 in the order kAcrossSum
  Order order;
};

struct Problem {
  Matrix a, b;
  std::int64_t depth;       ///< terms of the sum; below 2^31; a multiple of 8 in the order kAlongSum
  std::int64_t part_depth;  ///< of one part of it; a multiple of kDepthUnit
  std::int64_t num_parts;
  float* out;  ///< [parts, a.count, b.count]; b.count is a multiple of 8
  bool has_relu;
};

}  // namespace salient::split
