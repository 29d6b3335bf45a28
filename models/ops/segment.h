// models/ops/segment.h - sum and mean of neighbours' rows, forward and backward; plain pointers, no torch, no CUDA header.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/types.h"
#include "models/ops/half.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// A hop's edges, grouped by destination. Borrows both arrays.
struct HopEdges {
  const LocalId* indptr;   ///< [num_dst + 1]
  const LocalId* indices;  ///< [indptr[num_dst]], each in [0, num_src)
  std::int64_t num_dst;
  std::int64_t num_src;
};

enum class Reduce : std::uint8_t { kSum, kMean };

/// out[i, :] = sum or mean of x[j, :] over the entries j of row i; 0 for an empty row.
///
/// @param x     [num_src, width] f16 or f32, host
/// @param out   [num_dst, width] f32, host; overwritten, must not overlap x
/// Determinism: terms are added in the row's order in f32 and scaled once: the same bits for any thread count, from the
///              reference, and from the device version.
/// Threads:     runs on the caller's oneTBB arena.
/// Cost:        reads edges * width values of x, writes num_dst * width; bound by memory, see segment.cpp.
/// Oracle:      segment_reduce_reference()
template <class T>
void segment_reduce(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out);
template <class T>
void segment_reduce_reference(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out);

/// The gradient of segment_reduce: grad_x[j, :] = sum of scale(i) * grad_out[i, :] over all entries (i, j).
///
/// @param grad_out  [num_dst, width] f32, host
/// @param grad_x    [num_src, width] f32, host; overwritten
/// Determinism:     terms are added in ascending i: the same bits for any thread count and from the reference.
/// Cost:            sorts the edges by source, then moves what the forward pass moves.
void segment_reduce_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                             float* grad_x);
void segment_reduce_backward_reference(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                                       float* grad_x);

/// The same on device memory: enqueues on `stream` and returns. All buffers must live until the stream has passed.
template <class T>
void segment_reduce(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out,
                    CUstream_st* stream);

/// Determinism: none in the last bits: rows are added by atomics, in any order.
void segment_reduce_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                             float* grad_x, CUstream_st* stream);

/// The same edges grouped by source, with the position each had before.
struct TransposedHop {
  std::vector<LocalId> indptr;       ///< [num_src + 1]
  std::vector<LocalId> destination;  ///< [edges] ascending within a source
  std::vector<LocalId> edge;         ///< [edges] position in HopEdges::indices
};

/// Counting sort, stable. Cost: two passes over the edges, one of them random; one thread.
TransposedHop transpose(const HopEdges& hop);

/// 1 / (number of entries) for a mean, 1 for a sum; 0 or 1 for an empty row, whose sum is 0 anyway.
inline float row_scale(const HopEdges& hop, Reduce reduce, std::int64_t row) {
  const LocalId count = hop.indptr[row + 1] - hop.indptr[row];
  return reduce == Reduce::kSum ? 1.0f : count == 0 ? 0.0f : 1.0f / static_cast<float>(count);
}

}  // namespace salient
