// models/resident/tree.cu - see tree.h.
//
// Work split  a group of lanes per node of a level, a lane per child; grid stride. In a hop of few entries, a thread
//             per node: then all nodes are under way at once, on few multiprocessors.
// Access      row bounds and entries are random reads of 8 and 4 bytes: what limits it.
// Sync        the lanes of a group exchange their draws; one atomic per block for the number of entries. Children are
//             counted in chunks of nodes, so that a node's first child is a sum over chunks and one inside its own: two
//             launches a level. Sizes are read from device memory.
#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <utility>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/resident/pick.cuh"
#include "models/resident/tree.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// A level of the tree and the hop that is sampled for it.
struct Hop {
  DeviceCsr graph;
  const StepHeader* header;
  const LocalId* num_nodes;
  std::uint32_t index;
  std::uint32_t fanout;
  Draw draw;

  struct Row {
    EdgeOffset begin;
    std::uint32_t degree, kept;
  };
  __device__ Row row_of(NodeId node) const {
    const std::uint32_t degree = graph.degree(node);
    return {graph.begin(node), degree, num_kept(degree, fanout, draw)};
  }
  __device__ Draws draws_of(NodeId node) const {
    return Draws({header->seed, header->epoch, header->batch}, index, node);
  }
};

constexpr int kChunk = kThreadsPerBlock;  // nodes of a level whose children a block counts

/// offsets[i] = children of the nodes before i in its chunk, for i in [0, capacity], and sums[c] = children of chunk c.
/// Behind the level's end there are none.
__global__ void __launch_bounds__(kThreadsPerBlock)
    count_kernel(Hop hop, const NodeId* __restrict__ nodes, std::int64_t capacity, LocalId* __restrict__ offsets,
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
__global__ void __launch_bounds__(kThreadsPerBlock)
    grow_kernel(Hop hop, RowGroup group, Growth growth, LocalId* __restrict__ parent, NodeId* __restrict__ nodes) {
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
    const Hop::Row entries = hop.row_of(node);
    const std::uint32_t position = pick(hop.draws_of(node), entries.degree, entries.kept, hop.draw, lane);
    if (static_cast<std::uint32_t>(lane.index) >= entries.kept) continue;
    const LocalId child = first + lane.index;
    nodes[count + child] = hop.graph.indices[entries.begin + position];
    parent[child] = static_cast<LocalId>(i);
  }
}

/// The entries that a node keeps, by one thread: neighbours[k] is entry k < Row::kept.
template <int kMaxFanout>
__device__ __forceinline__ Hop::Row short_row_of(const Hop& hop, NodeId node, NodeId (&neighbours)[kMaxFanout]) {
  const Hop::Row row = hop.row_of(node);
  std::uint32_t positions[kMaxFanout];
  pick_all(hop.draws_of(node), row.degree, row.kept, hop.draw, positions);
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxFanout; ++k)
    if (k < row.kept) neighbours[k] = hop.graph.indices[row.begin + positions[k]];
  return row;
}

/// The same as grow_kernel() for few entries.
template <int kMaxFanout>
__global__ void __launch_bounds__(kThreadsPerBlock)
    short_grow_kernel(Hop hop, Growth growth, LocalId* __restrict__ parent, NodeId* __restrict__ nodes) {
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
    const Hop::Row row = short_row_of(hop, nodes[i], neighbours);
#pragma unroll
    for (std::uint32_t k = 0; k < kMaxFanout; ++k) {
      if (k >= row.kept) continue;
      const LocalId child = first + static_cast<LocalId>(k);
      nodes[count + child] = neighbours[k];
      parent[child] = static_cast<LocalId>(i);
    }
  }
}

/// The last hop's entries, in rows of their own, and how many there are in each; 0 behind the level's end.
/// More than six parameters: each array is one of its own, for __restrict__.
__global__ void __launch_bounds__(kThreadsPerBlock, 5)
    last_hop_kernel(Hop hop, RowGroup group, const NodeId* __restrict__ nodes, std::int64_t capacity,
                    NodeId* __restrict__ entries, LocalId* __restrict__ num_entries,
                    unsigned long long* __restrict__ num_edges) {
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
  for (Hop::Row next_row = hop.row_of(next); i < capacity; i += step) {
    const NodeId node = next;
    const Hop::Row row = next_row;
    next = node_at(i + step);  // its reads are under way while this node's entries are drawn
    next_row = hop.row_of(next);
    if (i >= count) {
      if (lane.index == 0) num_entries[i] = 0;
      continue;
    }
    const std::uint32_t position = pick(hop.draws_of(node), row.degree, row.kept, hop.draw, lane);
    if (static_cast<std::uint32_t>(lane.index) < row.kept) {
      entries[i * hop.fanout + lane.index] = hop.graph.indices[row.begin + position];
      ++sum;
    }
    if (lane.index == 0) num_entries[i] = static_cast<LocalId>(row.kept);
  }
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(num_edges, static_cast<unsigned long long>(sum));
}

/// The same for few entries.
template <int kMaxFanout>
__global__ void __launch_bounds__(kThreadsPerBlock)
    short_last_hop_kernel(Hop hop, const NodeId* __restrict__ nodes, std::int64_t capacity,
                          NodeId* __restrict__ entries, LocalId* __restrict__ num_entries,
                          unsigned long long* __restrict__ num_edges) {
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
    const Hop::Row row = short_row_of(hop, nodes[i], neighbours);
#pragma unroll
    for (std::uint32_t k = 0; k < kMaxFanout; ++k)
      if (k < row.kept) entries[i * hop.fanout + k] = neighbours[k];
    num_entries[i] = static_cast<LocalId>(row.kept);
    sum += static_cast<int>(row.kept);
  }
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(num_edges, static_cast<unsigned long long>(sum));
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

constexpr int kMaxShortGrowth = 10;           // entries that one thread draws for a level
constexpr unsigned kMaxLastHopBlocks = 2048;  // as many as fill any GPU, so that a group of lanes has several nodes

std::vector<std::int64_t> tree_capacities(const std::vector<int>& fanouts, std::int64_t max_seeds) {
  std::vector<std::int64_t> capacities{max_seeds};
  for (std::size_t h = 0; h + 1 < fanouts.size(); ++h) capacities.push_back(capacities.back() * (1 + fanouts[h]));
  return capacities;
}

SampledTree::SampledTree(DeviceCsr graph, SamplingRule rule, std::int64_t max_seeds)
    : graph_(graph),
      rule_(std::move(rule)),
      capacities_(tree_capacities(rule_.fanouts, max_seeds)),
      header_(make_device_array<StepHeader>(1)),
      nodes_(make_device_array<NodeId>(static_cast<std::size_t>(capacities_.back()))),
      sizes_(make_device_array<LocalId>(capacities_.size())),
      num_children_(make_device_array<LocalId>(static_cast<std::size_t>(capacities_.back()) + 1)),
      entries_(make_device_array<NodeId>(static_cast<std::size_t>(capacities_.back() * rule_.fanouts.back()))),
      chunk_sums_(make_device_array<LocalId>(static_cast<std::size_t>(capacities_.back() / kChunk) + 1)),
      num_edges_(make_device_array<unsigned long long>(2 * rule_.fanouts.size())) {
  require(std::ranges::all_of(rule_.fanouts, [](int fanout) { return fanout >= 1 && fanout <= kMaxResidentFanout; }),
          "a tree's fanouts are in [1, 32]");
  require(has_tree_draw(rule_.draw), "a tree's nodes draw by themselves");
  require(capacities_.back() < std::int64_t{1} << 31, "a tree has fewer than 2^31 nodes");
  for (std::size_t h = 0; h + 1 < rule_.fanouts.size(); ++h) {
    first_child_.push_back(make_device_array<LocalId>(static_cast<std::size_t>(capacities_[h]) + 1));
    parent_.push_back(make_device_array<LocalId>(static_cast<std::size_t>(capacities_[h + 1] - capacities_[h])));
  }
  clear_counts();
}

TreeGrowth SampledTree::growth(std::size_t level) const {
  return {size_of(level),       size_of(level + 1), first_child_[level].get(),
          parent_[level].get(), capacity(level),    capacity(level + 1)};
}

LastHop SampledTree::last_hop() const {
  const std::size_t level = capacities_.size() - 1;
  return {nodes(), size_of(level), entries_.get(), num_children_.get(), capacity(level), rule_.fanouts.back()};
}

TreeStart SampledTree::start() const {
  return {header_.get(), nodes_.get(), sizes_.get(), num_edges_.get(),
          static_cast<std::uint32_t>(rule_.fanouts.size())};
}

void SampledTree::begin(const SeedBatch& batch, cudaStream_t stream) {
  require(batch.header.num_seeds <= capacity(0), "a batch has no more seeds than was said");
  start_tree(batch, start(), stream);
}

void SampledTree::begin_announced(const SeedBatch* batch, cudaStream_t stream) { start_tree(batch, start(), stream); }

void SampledTree::sample_levels(cudaStream_t stream) {
  for (std::size_t h = 0; h + 1 < rule_.fanouts.size(); ++h) {
    const Hop hop{graph_,
                  header_.get(),
                  size_of(h),
                  static_cast<std::uint32_t>(h),
                  static_cast<std::uint32_t>(rule_.fanouts[h]),
                  rule_.draw};
    const std::int64_t capacity = capacities_[h];
    count_kernel<<<blocks_for(capacity + 1), kThreadsPerBlock, 0, stream>>>(
        hop, nodes_.get(), capacity, num_children_.get(), chunk_sums_.get(), num_edges_.get() + h);
    cuda_check(cudaGetLastError());
    const RowGroup group = RowGroup::make(rule_.fanouts[h]);
    const Growth growth{num_children_.get(), chunk_sums_.get(), capacity, first_child_[h].get(), sizes_.get() + h + 1};
    if (rule_.fanouts[h] <= kMaxShortGrowth)
      short_grow_kernel<kMaxShortGrowth>
          <<<blocks_for(capacity + 1), kThreadsPerBlock, 0, stream>>>(hop, growth, parent_[h].get(), nodes_.get());
    else
      grow_kernel<<<blocks_for((capacity + 1) << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
          hop, group, growth, parent_[h].get(), nodes_.get());
    cuda_check(cudaGetLastError());
  }
}

void SampledTree::sample_last_hop(cudaStream_t stream) {
  const std::size_t h = rule_.fanouts.size() - 1;
  const Hop hop{
      graph_,    header_.get(), size_of(h), static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(rule_.fanouts[h]),
      rule_.draw};
  const RowGroup group = RowGroup::make(rule_.fanouts[h]);
  const std::int64_t capacity = capacities_[h];
  unsigned long long* const num_edges = num_edges_.get() + h;
  if (rule_.fanouts[h] <= 8) {
    const auto kernel = rule_.fanouts[h] <= 5 ? short_last_hop_kernel<5> : short_last_hop_kernel<8>;
    kernel<<<blocks_for(capacity), kThreadsPerBlock, 0, stream>>>(hop, nodes_.get(), capacity, entries_.get(),
                                                                  num_children_.get(), num_edges);
  } else {
    const unsigned blocks = std::min(kMaxLastHopBlocks, blocks_for(capacity << group.log_lanes));
    last_hop_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(hop, group, nodes_.get(), capacity, entries_.get(),
                                                             num_children_.get(), num_edges);
  }
  cuda_check(cudaGetLastError());
}

void SampledTree::clear_counts() {
  cuda_check(cudaMemset(num_edges_.get(), 0, 2 * rule_.fanouts.size() * sizeof(unsigned long long)));
  cuda_check(cudaDeviceSynchronize());
}

std::vector<std::int64_t> SampledTree::num_edges(Counted which, cudaStream_t stream) const {
  const std::size_t hops = rule_.fanouts.size();
  std::vector<unsigned long long> counts(2 * hops);
  cuda_check(cudaMemcpyAsync(counts.data(), num_edges_.get(), counts.size() * sizeof counts[0], cudaMemcpyDeviceToHost,
                             stream));
  cuda_check(cudaStreamSynchronize(stream));
  std::vector<std::int64_t> result(counts.begin() + static_cast<std::ptrdiff_t>(hops), counts.end());
  for (std::size_t h = 0; h < hops && which == Counted::kAllBatches; ++h)
    result[h] += static_cast<std::int64_t>(counts[h]);
  return result;
}

}  // namespace salient
