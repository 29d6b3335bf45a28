// models/products/bf16x6_product.h - launch of the kernel that splits f32 factors into three bf16 numbers each, on GPUs
// of compute capability 9.0. See split_product.h.
#pragma once

#include "core/cuda/cuda.h"
#include "models/products/split_problem.h"

namespace salient {

/// Enqueues and returns. A factor along the sum may not follow one across it.
/// @param multiprocessors  of the GPU
void bf16x6_product(const split::Problem& problem, int multiprocessors, cudaStream_t stream);

}  // namespace salient
