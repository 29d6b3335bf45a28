// sampler/device_hop.cu - see device_hop.h.
//
// Work split  a thread per row where draws depend on each other, else a thread per entry; grid stride.
// Access      row bounds, entries and slots are random reads of 8, 4 and 8 bytes: what limits it. Ids and slots of a
//             batch stay in the L2 cache, entries of the graph do not. Rows in pinned host memory are read over the
//             bus, 32 bytes an entry: what limits those is the translation of addresses.
// Sync        none inside a kernel but the two atomics of a slot; every result is independent of their order.
#include "sampler/device_hop.h"

#include "sampler/device_launch.cuh"
#include "sampler/ranked_entries.h"

namespace salient {
namespace {

constexpr NodeId kFree = 0xFFFFFFFF;  // never an id, and never an item

// ---- device code -----------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kBlockSize) narrow_kernel(DeviceValuedCsr graph, const NodeId* __restrict__ dst,
                                                            LocalId num_dst, DeviceTimes times, std::uint32_t most) {
  for (std::int64_t i = first_index(); i < num_dst; i += index_stride())
    times.admitted[i] =
        places_within(graph.times_of(dst[i]), graph.degree(dst[i]), times.bounds[times.of_node[i]], most);
}

template <class Rows>
struct CountKept {
  DeviceValuedCsr graph;
  Draw draw;
  Rows rows;
  LocalId num_rows;

  __device__ std::int64_t operator()(LocalId i) const {
    if (i >= num_rows) return 0;
    const HopRow row = rows.at(i);
    const auto part = rows.part(graph, i, row);
    if (draw == Draw::kWeighted) return drawable_of_row(graph.weights_of(row.row), part, row.fanout);
    return kept_of_row(part.length, row.fanout, draw);
  }
};

__global__ void __launch_bounds__(kBlockSize)
    indptr_kernel(const std::int64_t* __restrict__ offsets, std::int64_t count, LocalId* __restrict__ indptr) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) indptr[i] = static_cast<LocalId>(offsets[i]);
}

/// Limited fanouts. Single parameters instead of structs, as __restrict__ does not reach into a struct.
template <class Rows>
__global__ void __launch_bounds__(kBlockSize)
    pick_kernel(DeviceCsr graph, BatchKey key, Draw draw, Rows rows, LocalId num_rows,
                const std::int64_t* __restrict__ offsets, NodeId* __restrict__ kept) {
  for (std::int64_t i = first_index(); i < num_rows; i += index_stride()) {
    const HopRow row = rows.at(static_cast<LocalId>(i));
    if (row.fanout == kAllNeighbors) continue;
    const auto count = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
    pick_by_number(graph.row(row.row), rows.part(graph, static_cast<LocalId>(i), row), count,
                   draw == Draw::kWithReplacement, Draws(key, row.word, row.dst), kept + offsets[i]);
  }
}

/// All neighbours: a thread per entry, as rows may be long.
template <class Rows>
__global__ void __launch_bounds__(kBlockSize)
    whole_rows_kernel(DeviceCsr graph, Rows rows, LocalId num_rows, const std::int64_t* __restrict__ offsets,
                      LocalId num_edges, NodeId* __restrict__ kept) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride()) {
    const LocalId i = last_not_above(LocalId{0}, num_rows, e, [offsets](LocalId at) { return offsets[at]; });
    const HopRow row = rows.at(i);
    if (row.fanout == kAllNeighbors)
      kept[e] = graph.row(row.row)[rows.part(graph, i, row).place(static_cast<std::uint32_t>(e - offsets[i]))];
  }
}

/// Ids that are nodes: a slot has its id.
struct NodeKeys {
  const NodeId* dst;
  const NodeId* kept;
  LocalId num_dst;

  using Key = NodeId;
  __device__ Key of(std::int64_t item) const {
    return item < num_dst ? __ldg(dst + item) : __ldg(kept + (item - num_dst));
  }
  __device__ static std::uint32_t hash(Key id) { return id * 0x9E3779B1u; }  // Fibonacci hashing
  __device__ static NodeId held(Key id, std::int64_t) { return id; }
  __device__ bool is_held(Key id, NodeId found) const { return found == id; }
};

/// Ids that are nodes at times: a slot has an item that has its id.
struct TimedKeys {
  NodeKeys nodes;
  const std::uint32_t* of_node;
  const std::uint32_t* of_entry;

  using Key = std::uint64_t;
  __device__ Key of(std::int64_t item) const {
    const std::uint32_t time = item < nodes.num_dst ? __ldg(of_node + item) : __ldg(of_entry + (item - nodes.num_dst));
    return std::uint64_t{time} << 32 | nodes.of(item);
  }
  __device__ static std::uint32_t hash(Key id) { return static_cast<std::uint32_t>((id * 0x9E3779B97F4A7C15u) >> 32); }
  __device__ static NodeId held(Key, std::int64_t item) { return static_cast<NodeId>(item); }
  __device__ bool is_held(Key id, NodeId found) const { return of(found) == id; }
};

template <class Keys>
__device__ std::uint32_t find_or_claim(const DeviceIdTable& table, const Keys& keys, std::int64_t item) {
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << table.log_size) - 1);
  const auto id = keys.of(item);
  std::uint32_t at = Keys::hash(id) >> (32 - table.log_size);
  for (;; at = (at + 1) & mask) {
    NodeId* const slot = &table.slots[at].id;
    NodeId found = *const_cast<volatile NodeId*>(slot);
    if (found == kFree) found = atomicCAS(slot, kFree, Keys::held(id, item));
    if (found == kFree || keys.is_held(id, found)) return at;
  }
}

template <class Keys>
__global__ void __launch_bounds__(kBlockSize) claim_kernel(Keys keys, LocalId num_dst, std::int64_t num_items,
                                                           DeviceIdTable table, std::uint32_t* __restrict__ slot_of) {
  for (std::int64_t item = first_index(); item < num_items; item += index_stride()) {
    const std::uint32_t at = find_or_claim(table, keys, item);
    std::uint32_t* const number = &table.slots[at].number;
    // It only falls, so a stale value costs an atomic and nothing else.
    if (*const_cast<volatile std::uint32_t*>(number) > item) atomicMin(number, static_cast<std::uint32_t>(item));
    if (item >= num_dst) slot_of[item - num_dst] = at;
  }
}

/// An entry is seen at the time of its row's destination.
__global__ void __launch_bounds__(kBlockSize)
    time_entries_kernel(const std::int64_t* __restrict__ offsets, LocalId num_dst, LocalId num_edges,
                        const std::uint32_t* __restrict__ of_node, std::uint32_t* __restrict__ of_entry) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride())
    of_entry[e] = of_node[last_not_above(LocalId{0}, num_dst, e, [offsets](LocalId at) { return offsets[at]; })];
}

struct IsNewId {
  const DeviceIdTable::Slot* slots;
  const std::uint32_t* slot_of;
  LocalId num_dst, num_edges;

  __device__ LocalId operator()(LocalId e) const {
    return e < num_edges && slots[slot_of[e]].number == static_cast<std::uint32_t>(num_dst) + e ? 1 : 0;
  }
};

struct RowsOfNewId {
  IsNewId is_new;
  DeviceSlots slots;
  const NodeId* kept;

  __device__ std::uint64_t operator()(LocalId e) const {
    return is_new(e) != 0 ? nodes_and_rows::one_node(slots.num_slots_of(kept[e])) : 0;
  }
};

IsNewId is_new_id(const DeviceHop& hop) { return {hop.table.slots, hop.slot_of, hop.num_dst, hop.num_edges}; }

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
    append_times_kernel(LocalId num_dst, const std::uint32_t* __restrict__ of_entry, const LocalId* __restrict__ rank,
                        LocalId num_edges, std::uint32_t* __restrict__ of_node) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride())
    if (rank[e] != rank[e + 1]) of_node[num_dst + rank[e]] = of_entry[e];
}

/// The same, and the rows of new nodes. Single parameters, see above.
__global__ void __launch_bounds__(kBlockSize)
    append_slots_kernel(LocalId num_dst, LocalId num_rows, const NodeId* __restrict__ kept,
                        const std::uint32_t* __restrict__ slot_of, const std::uint64_t* __restrict__ ranks,
                        LocalId num_edges, DeviceIdTable table, NodeId* __restrict__ nodes,
                        LocalId* __restrict__ row_begin) {
  for (std::int64_t e = first_index(); e < num_edges; e += index_stride()) {
    const LocalId before = nodes_and_rows::nodes(ranks[e]);
    if (before == nodes_and_rows::nodes(ranks[e + 1])) continue;
    const LocalId number = num_dst + before;
    nodes[number] = kept[e];
    row_begin[number + 1] = num_rows + static_cast<LocalId>(nodes_and_rows::rows(ranks[e + 1]));
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

void number_all(const DeviceHop& hop, LocalId* indices, cudaStream_t stream) {
  launch(hop.num_edges, stream, number_kernel, hop.slot_of, hop.num_edges, hop.table, indices);
}

}  // namespace

void narrow_rows(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop, cudaStream_t stream) {
  const auto most = static_cast<std::uint32_t>(rule.keeps_last ? rule.fanout : kAllNeighbors);  // that: no limit
  launch(hop.num_dst, stream, narrow_kernel, graph, hop.dst, hop.num_dst, hop.times, most);
}

void scan_kept(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop,
               DeviceBuffer<std::byte>& scratch, cudaStream_t stream) {
  with_rows(rule, hop, [&]<class Rows>(const Rows& rows) {
    exclusive_sum(CountKept<Rows>{graph, rule.draw, rows, hop.num_rows}, hop.num_rows + 1, hop.offsets, scratch,
                  stream);
  });
}

void pick_entries(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop, LocalId* indptr,
                  cudaStream_t stream) {
  const std::int64_t num_offsets = std::int64_t{hop.num_rows} + 1;
  launch(num_offsets, stream, indptr_kernel, hop.offsets, num_offsets, indptr);
  if (rule.draw == Draw::kWeighted || (rule.draw == Draw::kLabor && rule.whole != WholeRows::kAll))
    return pick_ranked_entries(graph, rule, hop, stream);
  with_rows(rule, hop, [&]<class Rows>(const Rows& rows) {
    if (rule.whole != WholeRows::kAll)
      launch(hop.num_rows, stream, pick_kernel<Rows>, graph, rule.key, rule.draw, rows, hop.num_rows, hop.offsets,
             hop.kept);
    if (rule.whole != WholeRows::kNone)
      launch(hop.num_edges, stream, whole_rows_kernel<Rows>, graph, rows, hop.num_rows, hop.offsets, hop.num_edges,
             hop.kept);
  });
}

void claim_slots(const DeviceHop& hop, cudaStream_t stream) {
  const std::int64_t num_items = std::int64_t{hop.num_dst} + hop.num_edges;
  const NodeKeys nodes{hop.dst, hop.kept, hop.num_dst};
  const DeviceTimes& times = hop.times;
  if (!times.are_seen())
    return launch(num_items, stream, claim_kernel<NodeKeys>, nodes, hop.num_dst, num_items, hop.table, hop.slot_of);
  launch(hop.num_edges, stream, time_entries_kernel, hop.offsets, hop.num_dst, hop.num_edges, times.of_node,
         times.of_entry);
  launch(num_items, stream, claim_kernel<TimedKeys>, TimedKeys{nodes, times.of_node, times.of_entry}, hop.num_dst,
         num_items, hop.table, hop.slot_of);
}

void rank_new_ids(const DeviceHop& hop, DeviceBuffer<std::byte>& scratch, cudaStream_t stream) {
  exclusive_sum(is_new_id(hop), hop.num_edges + 1, hop.rank, scratch, stream);
}

void rank_new_ids(const DeviceHop& hop, const DeviceSlots& slots, DeviceBuffer<std::byte>& scratch,
                  cudaStream_t stream) {
  exclusive_sum(RowsOfNewId{is_new_id(hop), slots, hop.kept}, hop.num_edges + 1, hop.ranks, scratch, stream);
}

void number_entries(const DeviceHop& hop, NodeId* nodes, LocalId* indices, cudaStream_t stream) {
  launch(hop.num_edges, stream, append_kernel, hop.num_dst, hop.kept, hop.slot_of, hop.rank, hop.num_edges, hop.table,
         nodes);
  if (hop.times.are_seen())
    launch(hop.num_edges, stream, append_times_kernel, hop.num_dst, hop.times.of_entry, hop.rank, hop.num_edges,
           hop.times.of_node);
  number_all(hop, indices, stream);
}

void number_entries(const DeviceHop& hop, NodeId* nodes, LocalId* row_begin, LocalId* indices, cudaStream_t stream) {
  launch(hop.num_edges, stream, append_slots_kernel, hop.num_dst, hop.num_rows, hop.kept, hop.slot_of, hop.ranks,
         hop.num_edges, hop.table, nodes, row_begin);
  number_all(hop, indices, stream);
}

void read_degrees(const DeviceCsr& graph, const NodeId* nodes, LocalId num_nodes, NodeDegree* degrees,
                  cudaStream_t stream) {
  launch(num_nodes, stream, degrees_kernel, graph, nodes, num_nodes, degrees);
}

}  // namespace salient
