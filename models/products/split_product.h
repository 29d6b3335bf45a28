// models/products/split_product.h - products of f32 matrices by tensor cores, as exact as f32 arithmetic: each factor
// is a sum of shorter numbers, which are multiplied with each other, but for pairs whose product is too small.
#pragma once

#include <cstdint>
#include <span>

#include "core/cuda/cuda.h"
#include "models/products/products.h"

namespace salient {

/// What an f32 number becomes. Tensor cores multiply such numbers more than so many times as fast as CUDA cores f32.
enum class Splitting : std::uint8_t {
  kTf32x3,  ///< two tf32 numbers, three products: GPUs of compute capability 8.0 and later
  kBf16x6,  ///< three bf16 numbers, six products, by instructions of compute capability 9.0
};

/// Whether this GPU computes it so: f32 factors and result, widths that are multiples of 8, aligned memory.
bool has_split_product(Splitting splitting, const ProductShape& shape, const ProductMatrices& matrices);

/// Enqueues and returns. A gradient of a weight is added up in parts, always in the same order.
///
/// @param workspace  room for the parts of a gradient of a weight, as many of them as fit
/// Determinism: the same bits on GPUs with as many multiprocessors
void split_product(Splitting splitting, const ProductShape& shape, const ProductMatrices& matrices,
                   std::span<float> workspace, cudaStream_t stream);

}  // namespace salient
