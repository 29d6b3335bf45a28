// sampler/device_rows.h - the rows of a hop as threads of a GPU see them, and what one thread does. Needs no CUDA
// toolkit, so that tests play the threads on the host.
//
// Rows of a plain graph's hop are its destinations, those of a typed graph's the slots of its destinations. Kernels are
// templates over RowsOfNodes and RowsOfSlots: what tells them apart is where a row is, its word and its fanout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/philox.h"
#include "core/slot_table.h"
#include "core/types.h"
#include "sampler/device_csr.h"
#include "sampler/device_exclusions.h"
#include "sampler/draws.h"
#include "sampler/sampling_rule.h"
#include "sampler/search.h"
#include "sampler/time_rule.h"

namespace salient {

/// A graph whose entries have weights or times, in the order of the graph's own entries also where rows are in tiers.
struct DeviceValuedCsr : DeviceCsr {
  const float* weights = nullptr;       ///< [E]; null: not wanted
  const std::int64_t* times = nullptr;  ///< [E] every row ascends by them; null: not wanted
  bool ascends = true;                  ///< rows do, by neighbour: those of a graph without times

  SALIENT_HOST_DEVICE const float* weights_of(std::size_t v) const { return weights + indptr[v]; }
  SALIENT_HOST_DEVICE const std::int64_t* times_of(std::size_t v) const { return times + indptr[v]; }
};

/// The times that a seed sees: [first, last]; none if last is below first.
struct TimeBounds {
  std::int64_t first = 1, last = 0;
};

/// The law of admitted(), as a graph on a device asks for it.
inline TimeBounds bounds_of(std::int64_t seed_time, const TimeRule& rule) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const bool is_before = rule.order == TimeOrder::kBefore;
  if (is_before && seed_time == kLeast) return {};
  TimeBounds bounds{kLeast, is_before ? seed_time - 1 : seed_time};
  if (rule.window && seed_time >= kLeast + *rule.window) bounds.first = seed_time - *rule.window + (is_before ? 0 : 1);
  return bounds;
}

/// The places of a row whose times are within the bounds; of those the last `most`. @param times  [degree] ascending
SALIENT_HOST_DEVICE inline TimeRange places_within(const std::int64_t* times, std::uint32_t degree, TimeBounds bounds,
                                                   std::uint32_t most) {
  const std::uint32_t end = first_not_below(degree, [&](std::uint32_t i) { return times[i] <= bounds.last; });
  std::uint32_t begin = first_not_below(end, [&](std::uint32_t i) { return times[i] < bounds.first; });
  if (end - begin > most) begin = end - most;
  return {begin, end};
}

/// One type of a SlotTable.
struct DeviceNodeType {
  std::uint64_t node_begin, slot_begin;
  std::uint32_t num_slots, relation_begin;
};

inline std::vector<DeviceNodeType> device_types_of(const SlotTable& slots) {
  std::vector<DeviceNodeType> types;
  for (std::size_t t = 0; t < slots.num_types(); ++t)
    types.push_back({slots.node_begin[t], slots.slot_begin[t], slots.num_slots[t], slots.relation_begin[t]});
  return types;
}

/// A row of a typed hop: a slot of a destination.
struct alignas(16) HopSlot {
  std::uint64_t row;             ///< of the graph
  NodeId dst;                    ///< the node whose slot it is
  std::uint16_t slot, relation;  ///< slots of a node are far fewer than 2^16, see SlotTable
};

/// A SlotTable in device memory.
struct DeviceSlots {
  const DeviceNodeType* types = nullptr;     ///< [num_types]
  const std::uint16_t* relations = nullptr;  ///< as SlotTable has them
  int num_types = 0;

  SALIENT_HOST_DEVICE int type_of(NodeId node) const {
    return last_not_above(0, num_types, std::uint64_t{node}, [this](int t) { return types[t].node_begin; });
  }
  SALIENT_HOST_DEVICE std::uint32_t num_slots_of(NodeId node) const { return types[type_of(node)].num_slots; }
  SALIENT_HOST_DEVICE HopSlot row_of(NodeId node, std::uint32_t slot) const {
    const DeviceNodeType& type = types[type_of(node)];
    return {type.slot_begin + (node - type.node_begin) * type.num_slots + slot, node, static_cast<std::uint16_t>(slot),
            relations[type.relation_begin + slot]};
  }
};

/// What a thread knows of its row.
struct HopRow {
  std::size_t row;     ///< of the graph
  NodeId dst;          ///< in its draws
  std::uint32_t word;  ///< in the place of the hop in them
  int fanout;          ///< or kAllNeighbors; of a relation also 0
};

/// The entries that a row is drawn from: places [first, first + length) of it.
struct RowPart {
  std::uint32_t first, length;

  SALIENT_HOST_DEVICE std::uint32_t place(std::uint32_t entry) const { return first + entry; }
};

/// Row i is that of destination i.
struct RowsOfNodes {
  const NodeId* dst;
  std::uint32_t hop;
  int fanout;
  const TimeRange* admitted;  ///< [rows]; null: all entries are

  SALIENT_HOST_DEVICE HopRow at(LocalId i) const { return {dst[i], dst[i], hop, fanout}; }
  SALIENT_HOST_DEVICE RowPart part(const DeviceCsr& graph, LocalId i, const HopRow& row) const {
    if (admitted == nullptr) return {0, graph.degree(row.row)};
    return {admitted[i].begin, admitted[i].end - admitted[i].begin};
  }
};

struct RowsOfSlots {
  const HopSlot* rows;
  std::uint32_t hop;
  const int* fanouts;  ///< of the hop, by relation

  SALIENT_HOST_DEVICE HopRow at(LocalId i) const {
    const HopSlot row = rows[i];
    return {row.row, row.dst, word_of_slot(hop, row.slot), fanouts[row.relation]};
  }
  SALIENT_HOST_DEVICE RowPart part(const DeviceCsr& graph, LocalId, const HopRow& row) const {
    return {0, graph.degree(row.row)};
  }
};

/// The same rows without what a batch must not see of them. @tparam Rows  of which all entries are admitted
template <class Rows>
struct RowsWithout {
  Rows rows;
  DeviceExclusions excluded;

  /// Places of the entries that are left.
  struct Part {
    std::uint32_t length;
    RestOfRow rest;

    SALIENT_HOST_DEVICE std::uint32_t place(std::uint32_t entry) const { return rest.place_of(entry); }
  };

  SALIENT_HOST_DEVICE HopRow at(LocalId i) const { return rows.at(i); }
  SALIENT_HOST_DEVICE Part part(const DeviceCsr& graph, LocalId, const HopRow& row) const {
    const RestOfRow rest = excluded.rest_of(static_cast<std::uint32_t>(row.row));
    return {graph.degree(row.row) - rest.num_excluded(), rest};
  }
};

/// Entries that a row keeps by any draw but kWeighted.
SALIENT_HOST_DEVICE inline std::uint32_t kept_of_row(std::uint32_t degree, int fanout, Draw draw) {
  const auto limit = static_cast<std::uint32_t>(fanout);  // kAllNeighbors becomes 2^32 - 1: no limit
  if (draw == Draw::kWithReplacement && fanout != kAllNeighbors && degree > 0) return limit;
  return degree < limit ? degree : limit;
}

/// Entries that a row keeps by kWeighted. @param weights  of the whole row
template <class Part>
SALIENT_HOST_DEVICE std::uint32_t drawable_of_row(const float* weights, const Part& part, int fanout) {
  const auto limit = static_cast<std::uint32_t>(fanout);  // kAllNeighbors: none
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < part.length && count < limit; ++i) count += weights[part.place(i)] > 0 ? 1u : 0u;
  return count;
}

/// First which entries of the part, by the same draws as on the host, then the entries themselves.
/// @param row  the whole one    @param count  kept_of_row()   @param out  [count]
template <class Part>
SALIENT_HOST_DEVICE void pick_by_number(const NodeId* row, const Part& part, std::uint32_t count, bool may_repeat,
                                        Draws draws, NodeId* out) {
  if (may_repeat) {
    for (std::uint32_t k = 0; k < count; ++k) out[k] = row[part.place(draws.below(k, part.length))];
  } else if (count == part.length) {
    for (std::uint32_t k = 0; k < count; ++k) out[k] = row[part.place(k)];
  } else {
    for (std::uint32_t k = 0; k < count; ++k) {  // Floyd, see pick.h
      const std::uint32_t last = part.length - count + k, choice = draws.below(k, last + 1);
      bool taken = false;
      for (std::uint32_t j = 0; j < k; ++j) taken |= out[j] == choice;
      out[k] = taken ? last : choice;
    }
    for (std::uint32_t k = 0; k < count; ++k) out[k] = row[part.place(out[k])];
  }
}

/// A number of nodes and one of their rows, added up as one: 31 bits and 33.
namespace nodes_and_rows {
inline constexpr int kNodeBits = 31;
inline constexpr std::uint64_t kMostRows = (std::uint64_t{1} << (64 - kNodeBits)) - 1;

SALIENT_HOST_DEVICE constexpr std::uint64_t one_node(std::uint32_t num_rows) {
  return std::uint64_t{num_rows} << kNodeBits | 1;
}
SALIENT_HOST_DEVICE constexpr LocalId nodes(std::uint64_t sum) {
  return static_cast<LocalId>(sum & ((std::uint64_t{1} << kNodeBits) - 1));
}
SALIENT_HOST_DEVICE constexpr std::uint64_t rows(std::uint64_t sum) { return sum >> kNodeBits; }
}  // namespace nodes_and_rows

}  // namespace salient
