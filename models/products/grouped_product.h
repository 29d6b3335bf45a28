// models/products/grouped_product.h - rows in groups times a matrix for each group: one launch on the GPU for all.
// By hand, as cuBLAS has a launch for each group, and hundreds of relations have as many.
#pragma once

#include <cstdint>
#include <span>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// Rows follow each other group by group. A group's matrix has `blocks` blocks on its diagonal, and zeros elsewhere.
struct GroupedShape {
  std::span<const std::int64_t> begin;  ///< [G + 1] group g has the rows begin[g] .. begin[g + 1]; below 2^31; host
  std::int64_t blocks;
  std::int64_t in, out;  ///< of a block

  std::int64_t num_rows() const { return begin.back() - begin.front(); }
  GroupedShape transposed() const { return {begin, blocks, out, in}; }
};

/// The blocks [G, blocks, in, out] f32, of which rows, or columns, are contiguous. Device memory.
struct GroupedWeight {
  const float* data;
  std::int64_t group, block, in, out;  ///< elements from one to the next

  GroupedWeight transposed() const { return {data, group, block, out, in}; }
};

/// Whether this GPU has the kernels, of compute capability 8.0 or later, for widths that are multiples of 8, aligned to
/// 16 bytes, and they are the faster way: cuBLAS is where the product of a group is large.
bool has_grouped_product(const GroupedShape& shape, const GroupedWeight& weight);

/// y [rows, blocks * out] = x [rows, blocks * in] times the matrices of the rows' groups; f32, contiguous, device
/// memory aligned to 16 bytes. Enqueues and returns. The gradient of x is that of the transposed shape and weight.
///
/// @param is_exact  factors are split, so that sums are as exact as those of f32 (split_product.h); otherwise they are
///                  rounded to tf32
/// Determinism: the same bits each time
/// Oracle: products of each group by LibTorch, tests/models/products/grouped_product_gpu_test.cpp
void grouped_product(const GroupedShape& shape, const float* x, const GroupedWeight& weight, float* y, bool is_exact,
                     CUstream_st* stream);

/// The factors of a weight's gradient: x as above, and the gradient of y.
struct GroupedFactors {
  const float *x, *grad;
};

/// gradient [G, blocks, in, out], contiguous; 0 for a group without rows. Otherwise as above.
/// @param workspace  device memory, grouped_gradient_workspace() values; sums are added up in parts, in a fixed order
void grouped_weight_gradient(const GroupedShape& shape, const GroupedFactors& factors, float* gradient,
                             float* workspace, bool is_exact, CUstream_st* stream);
std::int64_t grouped_gradient_workspace(const GroupedShape& shape);

}  // namespace salient
