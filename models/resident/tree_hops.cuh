// models/resident/tree_hops.cuh - the kernels of tree.h, of one hop each; for tree.cu alone.
//
// Work split  a group of lanes per node of a level, a lane per child; grid stride. In a hop of few entries, a thread
//             per node: then all nodes are under way at once, on few multiprocessors.
// Access      row bounds and entries are random reads of 8 and 4 bytes: what limits it.
//             Places of entries are written where they are kept; kernels that keep none are kernels of their own.
// Sync        the lanes of a group exchange their draws; one atomic per block for the number of entries. Children are
//             counted in chunks of nodes, so that a node's first child is a sum over chunks and one inside its own: two
//             launches a level. Sizes are read from device memory.
#pragma once

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "models/kernels/launch.cuh"
#include "models/resident/hop.cuh"
#include "models/resident/pick.cuh"
#include "models/resident/tree.h"

namespace salient {
namespace {

constexpr int kChunk = kThreadsPerBlock;  // nodes of a level whose children a block counts

/// offsets[i] = children of the nodes before i in its chunk, for i in [0, capacity], and sums[c] = children of chunk c.
/// Behind the level's end there are none.
template <class AnyHop>
__global__ void __launch_bounds__(kThreadsPerBlock)
    count_kernel(AnyHop hop, const NodeId* __restrict__ nodes, std::int64_t capacity, LocalId* __restrict__ offsets,
                 LocalId* __restrict__ sums, unsigned long long* __restrict__ num_edges) {
  using BlockScan = cub::BlockScan<LocalId, kThreadsPerBlock>;
  __shared__ typename BlockScan::TempStorage storage;
  const LocalId num_nodes = *hop.num_nodes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * kChunk; first <= capacity;
       first += std::int64_t{gridDim.x} * kChunk) {
    const std::int64_t i = first + threadIdx.x;
    const auto kept = i < num_nodes ? static_cast<LocalId>(hop.row_of(nodes[i]).kept) : 0;
    LocalId before = 0, sum = 0;
    BlockScan(storage).ExclusiveSum(kept, before, sum);
    if (i <= capacity) offsets[i] = before;
    if (threadIdx.x == 0) {
      sums[first / kChunk] = sum;
      if (sum > 0) atomicAdd(num_edges, static_cast<unsigned long long>(sum));
    }
    __syncthreads();  // before the scan's memory is written again
  }
}

/// What count_kernel found, and where a level grows to.
struct Growth {
  const LocalId* offsets;
  const LocalId* sums;
  std::int64_t capacity;
  LocalId* first_child;
  LocalId* num_grown;
  EdgeOffset* places;  // of the children; null: not kept

  /// Children of the chunks before that of node i. By all lanes of a warp.
  __device__ LocalId before_chunk_of(std::int64_t i) const {
    LocalId before = 0;
    for (std::int64_t c = threadIdx.x & 31; c < i / kChunk; c += 32) before += sums[c];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) before += __shfl_xor_sync(0xFFFFFFFF, before, offset);
    return before;
  }
};

/// Appends the children to `nodes`. Arrays are parameters of their own, since __restrict__ holds for those alone.
template <bool kKeepsPlaces, class AnyHop>
__global__ void __launch_bounds__(kThreadsPerBlock)
    grow_kernel(AnyHop hop, RowGroup group, Growth growth, LocalId* __restrict__ parent, NodeId* __restrict__ nodes) {
  const Lane lane = Lane::of(group);
  const int thread = static_cast<int>(threadIdx.x), rows_per_warp = 32 >> group.log_lanes;
  const std::int64_t rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const LocalId count = *hop.num_nodes;
  // the rows of a warp are in one chunk
  for (std::int64_t row = std::int64_t{blockIdx.x} * rows_per_block + thread / 32 * rows_per_warp;
       row <= growth.capacity; row += std::int64_t{gridDim.x} * rows_per_block) {
    const LocalId before = growth.before_chunk_of(row);
    const std::int64_t i = row + (thread % 32 >> group.log_lanes);
    if (i > growth.capacity) continue;
    const LocalId first = before + growth.offsets[i];
    if (lane.index == 0) growth.first_child[i] = first;
    if (lane.index == 0 && i == growth.capacity) *growth.num_grown = count + first;
    if (i >= count) continue;
    const NodeId node = nodes[i];
    const typename AnyHop::Row entries = hop.row_of(node);
    const std::uint32_t drawn = pick(hop.draws_of(node), entries.degree, entries.kept, hop.draw, lane);
    if (static_cast<std::uint32_t>(lane.index) >= entries.kept) continue;
    const std::uint32_t position = hop.position_in(entries, drawn);
    const LocalId child = first + lane.index;
    nodes[count + child] = hop.graph.indices[entries.begin + position];
    if constexpr (kKeepsPlaces) growth.places[child] = hop.place_of(node, position);
    parent[child] = static_cast<LocalId>(i);
  }
}

/// The entries that a node keeps, by one thread: neighbours[k] is entry k < Row::kept, at positions[k] of its row.
template <int kMaxFanout, class AnyHop>
__device__ __forceinline__ typename AnyHop::Row short_row_of(const AnyHop& hop, NodeId node,
                                                             NodeId (&neighbours)[kMaxFanout],
                                                             std::uint32_t (&positions)[kMaxFanout]) {
  const typename AnyHop::Row row = hop.row_of(node);
  pick_all(hop.draws_of(node), row.degree, row.kept, hop.draw, positions);
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxFanout; ++k) {
    if (k >= row.kept) continue;
    positions[k] = hop.position_in(row, positions[k]);
    neighbours[k] = hop.graph.indices[row.begin + positions[k]];
  }
  return row;
}

/// The same as grow_kernel() for few entries.
template <int kMaxFanout, bool kKeepsPlaces, class AnyHop>
__global__ void __launch_bounds__(kThreadsPerBlock)
    short_grow_kernel(AnyHop hop, Growth growth, LocalId* __restrict__ parent, NodeId* __restrict__ nodes) {
  const LocalId count = *hop.num_nodes;
  // the nodes of a warp are in one chunk
  for (std::int64_t first_node = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x / 32 * 32;
       first_node <= growth.capacity; first_node += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const LocalId before = growth.before_chunk_of(first_node);
    const std::int64_t i = first_node + threadIdx.x % 32;
    if (i > growth.capacity) continue;
    const LocalId first = before + growth.offsets[i];
    growth.first_child[i] = first;
    if (i == growth.capacity) *growth.num_grown = count + first;
    if (i >= count) continue;
    NodeId neighbours[kMaxFanout];
    std::uint32_t positions[kMaxFanout];
    const NodeId node = nodes[i];
    const auto row = short_row_of(hop, node, neighbours, positions);
#pragma unroll
    for (std::uint32_t k = 0; k < kMaxFanout; ++k) {
      if (k >= row.kept) continue;
      const LocalId child = first + static_cast<LocalId>(k);
      nodes[count + child] = neighbours[k];
      if constexpr (kKeepsPlaces) growth.places[child] = hop.place_of(node, positions[k]);
      parent[child] = static_cast<LocalId>(i);
    }
  }
}

/// The last hop's entries, in rows of their own, and how many there are in each; 0 behind the level's end.
/// More than six parameters: each array is one of its own, for __restrict__.
template <bool kKeepsPlaces, class AnyHop>
__global__ void __launch_bounds__(kThreadsPerBlock, 5)
    last_hop_kernel(AnyHop hop, RowGroup group, const NodeId* __restrict__ nodes, std::int64_t capacity,
                    NodeId* __restrict__ entries, LocalId* __restrict__ num_entries,
                    unsigned long long* __restrict__ num_edges, EdgeOffset* __restrict__ places) {
  using BlockReduce = cub::BlockReduce<int, kThreadsPerBlock>;
  __shared__ typename BlockReduce::TempStorage storage;
  const Lane lane = Lane::of(group);
  const std::int64_t rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const LocalId count = *hop.num_nodes;
  const std::int64_t step = std::int64_t{gridDim.x} * rows_per_block;
  const auto node_at = [&](std::int64_t i) { return i < count ? nodes[i] : NodeId{0}; };
  int sum = 0;
  std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
  NodeId next = node_at(i);
  for (auto next_row = hop.row_of(next); i < capacity; i += step) {
    const NodeId node = next;
    const auto row = next_row;
    next = node_at(i + step);  // its reads are under way while this node's entries are drawn
    next_row = hop.row_of(next);
    if (i >= count) {
      if (lane.index == 0) num_entries[i] = 0;
      continue;
    }
    const std::uint32_t drawn = pick(hop.draws_of(node), row.degree, row.kept, hop.draw, lane);
    if (static_cast<std::uint32_t>(lane.index) < row.kept) {
      const std::uint32_t position = hop.position_in(row, drawn);
      entries[i * hop.fanout + lane.index] = hop.graph.indices[row.begin + position];
      if constexpr (kKeepsPlaces) places[i * hop.fanout + lane.index] = hop.place_of(node, position);
      ++sum;
    }
    if (lane.index == 0) num_entries[i] = static_cast<LocalId>(row.kept);
  }
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(num_edges, static_cast<unsigned long long>(sum));
}

/// The same for few entries. More than six parameters: likewise.
template <int kMaxFanout, bool kKeepsPlaces, class AnyHop>
__global__ void __launch_bounds__(kThreadsPerBlock)
    short_last_hop_kernel(AnyHop hop, const NodeId* __restrict__ nodes, std::int64_t capacity,
                          NodeId* __restrict__ entries, LocalId* __restrict__ num_entries,
                          unsigned long long* __restrict__ num_edges, EdgeOffset* __restrict__ places) {
  using BlockReduce = cub::BlockReduce<int, kThreadsPerBlock>;
  __shared__ typename BlockReduce::TempStorage storage;
  const LocalId count = *hop.num_nodes;
  int sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < capacity;
       i += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    if (i >= count) {
      num_entries[i] = 0;
      continue;
    }
    NodeId neighbours[kMaxFanout];
    std::uint32_t positions[kMaxFanout];
    const NodeId node = nodes[i];
    const auto row = short_row_of(hop, node, neighbours, positions);
#pragma unroll
    for (std::uint32_t k = 0; k < kMaxFanout; ++k) {
      if (k >= row.kept) continue;
      entries[i * hop.fanout + k] = neighbours[k];
      if constexpr (kKeepsPlaces) places[i * hop.fanout + k] = hop.place_of(node, positions[k]);
    }
    num_entries[i] = static_cast<LocalId>(row.kept);
    sum += static_cast<int>(row.kept);
  }
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(num_edges, static_cast<unsigned long long>(sum));
}

}  // namespace
}  // namespace salient
