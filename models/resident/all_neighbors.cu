// models/resident/all_neighbors.cu - see all_neighbors.h.
//
// Work split  a group of lanes per row: the power of two up to a warp that the row's chunks of eight columns fill. A
//             row of more than kLongRow entries waits for a second kernel, where a block adds it up.
// Access      rows of the table in random order, 16 bytes a lane; eight entries are in flight before the first is
//             added.
// Limit       memory: one row read per entry.
// Sync        none; for long rows a block-wide sum in a fixed order.
#include <cfloat>

#include "models/kernels/launch.cuh"
#include "models/resident/all_neighbors.h"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/pick.cuh"
#include "models/resident/row_chunk.cuh"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 8, kLongRow = 512, kLongThreads = 512, kLongBlocks = 528;

__device__ void store_eight(const float (&values)[8], __half* to) {
  unsigned pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 two = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
    pairs[i] = *reinterpret_cast<const unsigned*>(&two);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

constexpr float kLargestHalf = 65504;

/// Every row of a table that is read is noted here at the latest: as the own row of its node.
__device__ void note_beyond(const float (&values)[8], float largest, std::int32_t* beyond) {
  bool is_within = true;
#pragma unroll
  for (const float value : values) is_within = is_within && fabsf(value) <= largest;  // false for a NaN
  if (!is_within) *beyond = 1;
}

struct Rows {
  DeviceCsr graph;
  NodeBlock block;

  __device__ NodeId node_of(std::int64_t i) const {
    return block.nodes == nullptr ? block.first + static_cast<NodeId>(i) : block.nodes[i];
  }
};

/// Where a mean goes: into an operand, beside the node's own row.
template <class T, int kPack>
struct ToOperand {
  const T* table;
  std::int64_t width;
  float unit;
  __half* out;
  std::int32_t* beyond;

  __device__ void store(std::int64_t i, NodeId node, std::int64_t chunk, std::int64_t chunks,
                        const float (&mean)[8]) const {
    float own[8] = {};
    Chunk<T, kPack>::load(table + std::int64_t{node} * width, width, chunk).add_to(own);
#pragma unroll
    for (float& value : own) value *= unit;
    note_beyond(mean, kLargestHalf, beyond);
    note_beyond(own, kLargestHalf, beyond);
    store_eight(mean, out + (i * 2 * chunks + chunk) * 8);
    store_eight(own, out + ((i * 2 + 1) * chunks + chunk) * 8);
  }
};

/// ... or onto sums.
struct ToSums {
  float* sums;
  std::int32_t* beyond;

  __device__ void store(std::int64_t i, NodeId, std::int64_t chunk, std::int64_t chunks, const float (&mean)[8]) const {
    float* const at = sums + (i * chunks + chunk) * 8;
    float values[8];
    load_eight(at, values);
#pragma unroll
    for (int c = 0; c < 8; ++c) values[c] += mean[c];
    note_beyond(values, FLT_MAX, beyond);
    salient::store_eight(values, at);
  }
};

/// Entries [begin, end) of the graph.
struct Entries {
  EdgeOffset begin, end;
};

/// sums += the rows of entries, one chunk of each. All lanes of the group call it; they load an entry's id each, and
/// tell it to the others.
template <class T, int kPack>
__device__ void add_entries(const Rows& rows, const FeatureRows& table, Entries of, Lane lane, std::int64_t chunk,
                            float (&sums)[8]) {
  using C = Chunk<T, kPack>;
  const T* const x = reinterpret_cast<const T*>(table.data);
  for (EdgeOffset first = of.begin; first < of.end; first += lane.count) {
    const auto count = static_cast<int>(min(EdgeOffset{lane.count}, of.end - first));
    const NodeId mine = lane.index < count ? rows.graph.indices[first + lane.index] : 0;
    for (int at = 0; at < count; at += kInFlight) {
      C loaded[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const NodeId entry = lane.from((at + k) & (lane.count - 1), mine);
        if (at + k < count) loaded[k] = C::load(x + std::int64_t{entry} * table.width, table.width, chunk);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (at + k < count) loaded[k].add_to(sums);
    }
  }
}

template <class T, int kPack, class To>
__global__ void __launch_bounds__(kThreadsPerBlock)
    short_rows_kernel(Rows rows, FeatureRows table, RowGroup group, NeighborNotes notes, To to) {
  const Lane lane = Lane::of(group);
  const std::int64_t rows_per_block = kThreadsPerBlock >> group.log_lanes, chunks = padded(table.width) / 8;
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
       i < rows.block.count; i += std::int64_t{gridDim.x} * rows_per_block) {
    const NodeId node = rows.node_of(i);
    const EdgeOffset begin = rows.graph.begin(node), end = begin + rows.graph.degree(node);
    if (end - begin > kLongRow) {
      if (lane.index == 0) notes.long_rows[atomicAdd(notes.num_long_rows, 1)] = static_cast<std::int32_t>(i);
      continue;
    }
    const float scale = end == begin ? 0.0f : table.unit / static_cast<float>(end - begin);
    for (std::int64_t chunk = lane.index; (chunk - lane.index) < chunks; chunk += lane.count) {
      float sums[8] = {};
      add_entries<T, kPack>(rows, table, {begin, end}, lane, chunk, sums);
#pragma unroll
      for (float& sum : sums) sum *= scale;
      if (chunk < chunks) to.store(i, node, chunk, chunks, sums);
    }
  }
}

template <class T, int kPack, class To>
__global__ void __launch_bounds__(kLongThreads)
    long_rows_kernel(Rows rows, FeatureRows table, RowGroup group, NeighborNotes notes, To to) {
  __shared__ float partial[kLongThreads][8];
  const Lane lane = Lane::of(group);
  const int part = static_cast<int>(threadIdx.x) >> group.log_lanes, parts = kLongThreads >> group.log_lanes;
  const std::int64_t chunks = padded(table.width) / 8;
  for (int at = static_cast<int>(blockIdx.x); at < *notes.num_long_rows; at += static_cast<int>(gridDim.x)) {
    const std::int64_t i = notes.long_rows[at];
    const NodeId node = rows.node_of(i);
    const EdgeOffset begin = rows.graph.begin(node), end = begin + rows.graph.degree(node);
    const EdgeOffset share = (end - begin + parts - 1) / parts, first = begin + part * share;
    for (std::int64_t chunk = lane.index; (chunk - lane.index) < chunks; chunk += lane.count) {
      float sums[8] = {};
      add_entries<T, kPack>(rows, table, {first, min(first + share, end)}, lane, chunk, sums);
#pragma unroll
      for (int c = 0; c < 8; ++c) partial[threadIdx.x][c] = sums[c];
      __syncthreads();
      if (part == 0 && chunk < chunks) {
        float mean[8] = {};
        for (int p = 0; p < parts; ++p)
#pragma unroll
          for (int c = 0; c < 8; ++c) mean[c] += partial[(p << group.log_lanes) + lane.index][c];
#pragma unroll
        for (float& value : mean) value = value * table.unit / static_cast<float>(end - begin);
        to.store(i, node, chunk, chunks, mean);
      }
      __syncthreads();
    }
  }
}

// ---- host code -------------------------------------------------------------------------------------------

template <class T, int kPack, class To>
void launch(const Rows& rows, const FeatureRows& table, const NeighborNotes& notes, const To& to, cudaStream_t stream) {
  if (rows.block.count == 0) return;
  const RowGroup group = RowGroup::make(padded(table.width) / 8);
  cuda_check(cudaMemsetAsync(notes.num_long_rows, 0, sizeof *notes.num_long_rows, stream));
  short_rows_kernel<T, kPack>
      <<<blocks_for(rows.block.count << group.log_lanes), kThreadsPerBlock, 0, stream>>>(rows, table, group, notes, to);
  cuda_check(cudaGetLastError());
  long_rows_kernel<T, kPack><<<kLongBlocks, kLongThreads, 0, stream>>>(rows, table, group, notes, to);
  cuda_check(cudaGetLastError());
}

template <class T, int kPack>
void launch_operand(const Rows& rows, const FeatureRows& table, const NeighborNotes& notes, void* out,
                    cudaStream_t stream) {
  launch<T, kPack>(rows, table, notes,
                   ToOperand<T, kPack>{reinterpret_cast<const T*>(table.data), table.width, table.unit,
                                       static_cast<__half*>(out), notes.beyond_f16},
                   stream);
}

}  // namespace

void all_neighbors_operand(const DeviceCsr& graph, const NodeBlock& block, const FeatureRows& table,
                           const NeighborNotes& notes, void* out, cudaStream_t stream) {
  const Rows rows{graph, block};
  if (table.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(table.data, table.width)) return launch_operand<Half, 8>(rows, table, notes, out, stream);
    if (is_packable<Half, 4>(table.data, table.width)) return launch_operand<Half, 4>(rows, table, notes, out, stream);
    return launch_operand<Half, 1>(rows, table, notes, out, stream);
  }
  if (table.type == FeatureType::kFp8) {
    if (is_packable<Fp8, 8>(table.data, table.width)) return launch_operand<Fp8, 8>(rows, table, notes, out, stream);
    if (is_packable<Fp8, 4>(table.data, table.width)) return launch_operand<Fp8, 4>(rows, table, notes, out, stream);
    return launch_operand<Fp8, 1>(rows, table, notes, out, stream);
  }
  if (is_packable<float, 4>(table.data, table.width)) return launch_operand<float, 4>(rows, table, notes, out, stream);
  launch_operand<float, 1>(rows, table, notes, out, stream);
}

void add_mean_of_neighbors(const DeviceCsr& graph, const NodeBlock& block, const FeatureRows& table,
                           const NeighborNotes& notes, float* sums, cudaStream_t stream) {
  launch<Half, 8>(Rows{graph, block}, table, notes, ToSums{sums, notes.beyond_f16}, stream);
}

}  // namespace salient
