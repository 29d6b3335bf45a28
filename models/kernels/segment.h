// models/kernels/segment.h - sum, mean and maximum of neighbours' rows, and their gradients; no torch or CUDA header.
// By hand, as torch's index_select and index_add write and read every edge's row once more: operators_bench.
#pragma once

#include <cstdint>

#include "models/kernels/half.h"
#include "models/kernels/hop_edges.h"

namespace salient {

enum class Reduce : std::uint8_t { kSum, kMean };

/// The sum of a row's entries or their mean; if there are weights, each x[j, :] is multiplied by that of j before.
struct Reduction {
  Reduction(Reduce how) : reduce(how) {}  // NOLINT(google-explicit-constructor): mostly there are none
  Reduction(Reduce how, const float* weights) : reduce(how), weight_of_source(weights) {}

  Reduce reduce;
  const float* weight_of_source = nullptr;  ///< [num_src], in the memory of x, or null
};

/// out[i, :] = the reduction of x[j, :] over the entries j of row i; 0 for an empty row.
///
/// @param x     [num_src, width] f16 or f32, host
/// @param out   [num_dst, width] f32, host; overwritten, must not overlap x
/// Determinism: terms are added in the row's order in f32 and scaled once: the same bits for any thread count, from the
///              reference, and from the device version.
/// Threads:     runs on the caller's oneTBB arena.
/// Cost:        reads edges * width values of x, writes num_dst * width; bound by memory, see segment.cpp.
/// Oracle:      segment_reduce_reference()
template <class T>
void segment_reduce(const HopEdges& hop, const Reduction& reduction, const T* x, std::int64_t width, float* out);
template <class T>
void segment_reduce_reference(const HopEdges& hop, const Reduction& reduction, const T* x, std::int64_t width,
                              float* out);

/// The gradient of segment_reduce in x: grad_x[j, :] = the weight of j * sum of scale(i) * grad_out[i, :] over all
/// entries (i, j).
///
/// @param grad_out  [num_dst, width] f32, host
/// @param grad_x    [num_src, width] f32, host; overwritten
/// Determinism:     terms are added in ascending i: the same bits for any thread count and from the reference.
/// Cost:            sorts the edges by source, then moves what the forward pass moves.
void segment_reduce_backward(const HopEdges& hop, const Reduction& reduction, const float* grad_out, std::int64_t width,
                             float* grad_x);
void segment_reduce_backward_reference(const HopEdges& hop, const Reduction& reduction, const float* grad_out,
                                       std::int64_t width, float* grad_x);

/// out[i, c] = the largest x[j, c] over the entries j of row i, 0 for an empty row; winner[i, c] = the position in
/// hop.indices of the first entry that has it, -1 for an empty row. Otherwise as segment_reduce().
template <class T>
void segment_max(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner);
template <class T>
void segment_max_reference(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner);

/// The gradient of segment_max: grad_x[j, c] = sum of grad_out[i, c] over the rows whose winner is an entry j.
/// Determinism, Cost: as segment_reduce_backward(); the winners are read beside the gradient.
void segment_max_backward(const HopEdges& hop, const LocalId* winner, const float* grad_out, std::int64_t width,
                          float* grad_x);
void segment_max_backward_reference(const HopEdges& hop, const LocalId* winner, const float* grad_out,
                                    std::int64_t width, float* grad_x);

/// The same on device memory: enqueues on `stream` and returns. All buffers must live until the stream has passed.
template <class T>
void segment_reduce(const HopEdges& hop, const Reduction& reduction, const T* x, std::int64_t width, float* out,
                    CUstream_st* stream);

template <class T>
void segment_max(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner, CUstream_st* stream);

/// Determinism: the host's bits if the edges by source are given; without them rows are added in any order, by
///              atomics or, without weights, by way of bins, see source_bins.h; `stream` carries edges and bins.
void segment_reduce_backward(const HopEdges& hop, const Reduction& reduction, const float* grad_out, std::int64_t width,
                             float* grad_x, const BackwardStream& stream);
void segment_max_backward(const HopEdges& hop, const LocalId* winner, const float* grad_out, std::int64_t width,
                          float* grad_x, const BackwardStream& stream);

inline float weight_of(const Reduction& reduction, std::int64_t source) {
  return reduction.weight_of_source == nullptr ? 1.0f : reduction.weight_of_source[source];
}

/// 1 / (number of entries) for a mean, 1 for a sum; 0 or 1 for an empty row, whose sum is 0 anyway.
inline float row_scale(const HopEdges& hop, Reduce reduce, std::int64_t row) {
  const LocalId count = hop.indptr[row + 1] - hop.indptr[row];
  return reduce == Reduce::kSum ? 1.0f : count == 0 ? 0.0f : 1.0f / static_cast<float>(count);
}

}  // namespace salient
