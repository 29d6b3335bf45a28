// sampler/device_hop.cu - see device_hop.h.
//
// Work split  a thread per destination where draws depend on each other, else a thread per entry; grid stride.
// Access      row bounds, entries and slots are random reads of 8, 4 and 8 bytes: what limits it. Ids and slots of a
//             batch stay in the L2 cache, entries of the graph do not. Rows in pinned host memory are read over the
//             bus, 32 bytes an entry: what limits those is the translation of addresses.
// Sync        none inside a kernel but the two atomics of a slot; every result is independent of their order.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "core/cuda/cuda.h"
#include "sampler/device_hop.h"
#include "sampler/labor_entries.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

constexpr int kBlockSize = 256;
constexpr std::int64_t kMaxBlocks = 1 << 16;  // kernels stride past this; it bounds the launch, not the work
constexpr NodeId kFree = 0xFFFFFFFF;          // never an id

// ---- device code -----------------------------------------------------------------------------------------

__device__ std::int64_t first_index() { return std::int64_t{blockIdx.x} * kBlockSize + threadIdx.x; }
__device__ std::int64_t index_stride() { return std::int64_t{gridDim.x} * kBlockSize; }

struct CountKept {
  DeviceCsr graph;
  std::uint32_t limit;  // 2^32 - 1 = none
  bool always_limit;    // with replacement: the limit, however short the row is
  const NodeId* dst;
  LocalId num_dst;

  __device__ std::int64_t operator()(LocalId i) const {
    if (i >= num_dst) return 0;
    const std::uint32_t degree = graph.degree(dst[i]);
    return always_limit && degree > 0 ? limit : min(degree, limit);
  }
};

__global__ void __launch_bounds__(kBlockSize)
    narrow_kernel(const std::int64_t* __restrict__ offsets, std::int64_t count, LocalId* __restrict__ indptr) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) indptr[i] = static_cast<LocalId>(offsets[i]);
}

/// A limited fanout: first which entries of the row, by the same draws as on the host, then the entries themselves.
__global__ void __launch_bounds__(kBlockSize)
    pick_kernel(DeviceCsr graph, HopRule rule, const NodeId* __restrict__ dst, LocalId num_dst,
                const std::int64_t* __restrict__ offsets, NodeId* __restrict__ kept) {
  for (std::int64_t i = first_index(); i < num_dst; i += index_stride()) {
    const NodeId node = dst[i];
    const std::uint32_t degree = graph.degree(node);
    const auto count = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
    const NodeId* const row = graph.row(node);
    NodeId* const out = kept + offsets[i];
    Draws draws(rule.key, rule.hop, node);
    if (rule.draw == Draw::kWithReplacement) {
      for (std::uint32_t k = 0; k < count; ++k) out[k] = row[draws.below(k, degree)];
    } else if (count == degree) {
      for (std::uint32_t k = 0; k < count; ++k) out[k] = row[k];
    } else {
      for (std::uint32_t k = 0; k < count; ++k) {  // Floyd, see neighbor_sampler.cpp
        const std::uint32_t last = degree - count + k, choice = draws.below(k, last + 1);
        bool taken = false;
        for (std::uint32_t j = 0; j < k; ++j) taken |= out[j] == choice;
        out[k] = taken ? last : choice;
      }
      for (std::uint32_t k = 0; k < count; ++k) out[k] = row[out[k]];
    }
  }
}

/// All neighbours: a thread per entry, as rows may be long.
__global__ void __launch_bounds__(kBlockSize)
    whole_rows_kernel(DeviceCsr graph, const NodeId* __restrict__ dst, LocalId num_dst,
                      const std::int64_t* __restrict__ offsets, LocalId num_edges, NodeId* __restrict__ kept) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride()) {
    LocalId low = 0, high = num_dst;  // the row of e: the last whose offset is not above e
    while (high - low > 1) {
      const LocalId middle = low + (high - low) / 2;
      (offsets[middle] <= e ? low : high) = middle;
    }
    kept[e] = graph.row(dst[low])[e - offsets[low]];
  }
}

__device__ std::uint32_t find_or_claim(const DeviceIdTable& table, NodeId id) {
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << table.log_size) - 1);
  std::uint32_t at = (id * 0x9E3779B1u) >> (32 - table.log_size);  // Fibonacci hashing
  for (;; at = (at + 1) & mask) {
    NodeId* const slot = &table.slots[at].id;
    NodeId found = *const_cast<volatile NodeId*>(slot);
    if (found == kFree) found = atomicCAS(slot, kFree, id);
    if (found == kFree || found == id) return at;
  }
}

__global__ void __launch_bounds__(kBlockSize)
    claim_kernel(const NodeId* __restrict__ dst, LocalId num_dst, const NodeId* __restrict__ kept,
                 std::int64_t num_items, DeviceIdTable table, std::uint32_t* __restrict__ slot_of) {
  for (std::int64_t item = first_index(); item < num_items; item += index_stride()) {
    const std::uint32_t at = find_or_claim(table, item < num_dst ? dst[item] : kept[item - num_dst]);
    std::uint32_t* const number = &table.slots[at].number;
    // It only falls, so a stale value costs an atomic and nothing else.
    if (*const_cast<volatile std::uint32_t*>(number) > item) atomicMin(number, static_cast<std::uint32_t>(item));
    if (item >= num_dst) slot_of[item - num_dst] = at;
  }
}

struct IsNewId {
  const DeviceIdTable::Slot* slots;
  const std::uint32_t* slot_of;
  LocalId num_dst, num_edges;

  __device__ LocalId operator()(LocalId e) const {
    return e < num_edges && slots[slot_of[e]].number == static_cast<std::uint32_t>(num_dst) + e ? 1 : 0;
  }
};

/// Single parameters instead of a DeviceHop, as __restrict__ does not reach into a struct.
__global__ void __launch_bounds__(kBlockSize)
    append_kernel(LocalId num_dst, const NodeId* __restrict__ kept, const std::uint32_t* __restrict__ slot_of,
                  const LocalId* __restrict__ rank, LocalId num_edges, DeviceIdTable table,
                  NodeId* __restrict__ nodes) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride()) {
    if (rank[e] == rank[e + 1]) continue;
    const LocalId number = num_dst + rank[e];
    nodes[number] = kept[e];
    table.slots[slot_of[e]].number = static_cast<std::uint32_t>(number);
  }
}

__global__ void __launch_bounds__(kBlockSize)
    number_kernel(const std::uint32_t* __restrict__ slot_of, LocalId num_edges, DeviceIdTable table,
                  LocalId* __restrict__ indices) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride())
    indices[e] = static_cast<LocalId>(table.slots[slot_of[e]].number);
}

/// A thread per node, and two binary searches in its row: for the node itself and for what comes after it.
__global__ void __launch_bounds__(kBlockSize) degrees_kernel(DeviceCsr graph, const NodeId* __restrict__ nodes,
                                                             LocalId num_nodes, NodeDegree* __restrict__ degrees) {
  for (std::int64_t i = first_index(); i < num_nodes; i += index_stride()) {
    const NodeId node = nodes[i];
    const NodeId* const row = graph.row(node);
    const std::uint32_t length = graph.degree(node);
    const auto first_above = [&](bool or_equal) {
      std::uint32_t low = 0, high = length;
      while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        row[middle] < node || (!or_equal && row[middle] == node) ? low = middle + 1 : high = middle;
      }
      return low;
    };
    constexpr std::uint32_t kMost = 0x7FFFFFFF;
    degrees[i] = {static_cast<LocalId>(min(length, kMost)),
                  static_cast<LocalId>(min(first_above(false) - first_above(true), kMost))};
  }
}

// ---- host code -------------------------------------------------------------------------------------------

/// One thread per item; no launch for none.
template <class... Parameters, class... Arguments>
void launch(std::int64_t num_items, cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments) {
  if (num_items == 0) return;  // CUDA refuses a grid of zero blocks
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (num_items + kBlockSize - 1) / kBlockSize));
  kernel<<<blocks, kBlockSize, 0, stream>>>(arguments...);
  cuda_check(cudaGetLastError());
}

/// sums[i] = value_of(0) + ... + value_of(i - 1), for i in [0, count).
template <class Sum, class ValueOf>
void exclusive_sum(const ValueOf& value_of, LocalId count, Sum* sums, DeviceBuffer<std::byte>& scratch,
                   cudaStream_t stream) {
  const auto values = thrust::make_transform_iterator(thrust::counting_iterator<LocalId>(0), value_of);
  std::size_t bytes = 0;
  cuda_check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, values, sums, count, stream));
  cuda_check(cub::DeviceScan::ExclusiveSum(scratch.reserve(bytes), bytes, values, sums, count, stream));
}

}  // namespace

void scan_kept(const DeviceCsr& graph, const HopRule& rule, const DeviceHop& hop, DeviceBuffer<std::byte>& scratch,
               cudaStream_t stream) {
  const bool always_limit = keeps_fanout_of_any_row(rule.fanout, rule.draw);
  const CountKept count_kept{graph, static_cast<std::uint32_t>(rule.fanout), always_limit, hop.dst, hop.num_dst};
  exclusive_sum(count_kept, hop.num_dst + 1, hop.offsets, scratch, stream);
}

void pick_entries(const DeviceCsr& graph, const HopRule& rule, const DeviceHop& hop, LocalId* indptr,
                  cudaStream_t stream) {
  const std::int64_t num_offsets = std::int64_t{hop.num_dst} + 1;
  launch(num_offsets, stream, narrow_kernel, hop.offsets, num_offsets, indptr);
  if (rule.fanout == kAllNeighbors)
    return launch(hop.num_edges, stream, whole_rows_kernel, graph, hop.dst, hop.num_dst, hop.offsets, hop.num_edges,
                  hop.kept);
  switch (rule.draw) {
    case Draw::kLabor: return pick_labor_entries(graph, rule, hop, stream);
    case Draw::kUniform:
    case Draw::kWithReplacement:
      return launch(hop.num_dst, stream, pick_kernel, graph, rule, hop.dst, hop.num_dst, hop.offsets, hop.kept);
    case Draw::kWeighted: break;  // DeviceSampler has no such rule
  }
}

void claim_slots(const DeviceHop& hop, cudaStream_t stream) {
  const std::int64_t num_items = std::int64_t{hop.num_dst} + hop.num_edges;
  launch(num_items, stream, claim_kernel, hop.dst, hop.num_dst, hop.kept, num_items, hop.table, hop.slot_of);
}

void rank_new_ids(const DeviceHop& hop, DeviceBuffer<std::byte>& scratch, cudaStream_t stream) {
  exclusive_sum(IsNewId{hop.table.slots, hop.slot_of, hop.num_dst, hop.num_edges}, hop.num_edges + 1, hop.rank, scratch,
                stream);
}

void number_entries(const DeviceHop& hop, NodeId* nodes, LocalId* indices, cudaStream_t stream) {
  launch(hop.num_edges, stream, append_kernel, hop.num_dst, hop.kept, hop.slot_of, hop.rank, hop.num_edges, hop.table,
         nodes);
  launch(hop.num_edges, stream, number_kernel, hop.slot_of, hop.num_edges, hop.table, indices);
}

void read_degrees(const DeviceCsr& graph, const NodeId* nodes, LocalId num_nodes, NodeDegree* degrees,
                  cudaStream_t stream) {
  launch(num_nodes, stream, degrees_kernel, graph, nodes, num_nodes, degrees);
}

}  // namespace salient
