// models/resident/tf32x3_product.h - products of f32 matrices by tensor cores, as exact as f32 arithmetic (3xTF32).
//
// An f32 number is the sum of two tf32 numbers but for 2^-23 of it, and a product of two such sums has three terms that
// matter. Tensor cores multiply tf32 more than three times as fast as CUDA cores multiply f32.
#pragma once

#include <span>

#include "core/cuda/cuda.h"
#include "models/resident/products.h"

namespace salient {

/// Whether this GPU computes it so: f32 factors and result, widths that are multiples of 8, aligned memory.
bool has_tf32x3_product(const ProductShape& shape, const ProductMatrices& matrices);

/// Enqueues and returns. A gradient of a weight is added up in parts, always in the same order.
///
/// @param workspace  room for the parts of a gradient of a weight, as many of them as fit
/// Determinism: the same bits on GPUs with as many multiprocessors
void tf32x3_product(const ProductShape& shape, const ProductMatrices& matrices, std::span<float> workspace,
                    cudaStream_t stream);

}  // namespace salient
