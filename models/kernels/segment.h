// models/kernels/segment.h - sum, mean and maximum of neighbours' rows, forward and backward; plain pointers, no torch, no CUDA header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.h"
#include "models/kernels/half.h"

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

/// The edges of a hop grouped by source, on the device; borrows its arrays. None: a gradient is added up by atomics, whose
/// order nobody knows.
struct SourceEdges {
  const LocalId* indptr = nullptr;       ///< [num_src + 1]
  const LocalId* destination = nullptr;  ///< [edges] ascending within a source
  const LocalId* edge = nullptr;         ///< [edges] position in HopEdges::indices
};

/// Where a gradient is computed on the device: the stream, and the edges by source if its bits must not depend on timing.
struct BackwardStream {
  BackwardStream(CUstream_st* on) : stream(on) {}  // NOLINT(google-explicit-constructor): a stream is enough
  BackwardStream(CUstream_st* on, const SourceEdges& edges) : stream(on), by_source(edges) {}
  operator CUstream_st*() const { return stream; }  // NOLINT(google-explicit-constructor): for what needs no more
  bool is_ordered() const { return by_source.indptr != nullptr; }

  CUstream_st* stream;
  SourceEdges by_source{};
};

/// Sorts the edges by source, on the device: stable, so the result is that of transpose().
///
/// @param num_edges    hop.indptr[num_dst], which is on the device
/// @param indptr       [num_src + 1]   @param destination, edge, keys  [num_edges]; keys is scratch
/// @param scratch      transpose_scratch_bytes(num_edges)
/// Cost: a radix sort of 8-byte pairs, a search per edge and per source.
void transpose(const HopEdges& hop, std::int64_t num_edges, LocalId* indptr, LocalId* destination, LocalId* edge,
               LocalId* keys, void* scratch, std::size_t scratch_bytes, CUstream_st* stream);
std::size_t transpose_scratch_bytes(std::int64_t num_edges);

/// The same on device memory: enqueues on `stream` and returns. All buffers must live until the stream has passed.
template <class T>
void segment_reduce(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out,
                    CUstream_st* stream);

template <class T>
void segment_max(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner, CUstream_st* stream);

/// Determinism: the host's bits if the edges by source are given; without them rows are added by atomics, in any order.
void segment_reduce_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                             float* grad_x, const BackwardStream& stream);
void segment_max_backward(const HopEdges& hop, const LocalId* winner, const float* grad_out, std::int64_t width,
                          float* grad_x, const BackwardStream& stream);

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
