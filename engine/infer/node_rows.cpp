// engine/infer/node_rows.cpp - see node_rows.h.
#include "engine/infer/node_rows.h"

#include <cstddef>
#include <cstdint>

namespace salient {

NodeRows::NodeRows(const CsrGraph& graph) : rows_(graph) {
  if (graph.slots == nullptr) return;
  const SlotTable& slots = *graph.slots;
  indptr_.reserve(graph.num_nodes() + 1);
  for (std::size_t t = 0; t < slots.num_types(); ++t)
    for (std::uint64_t i = 0; i < slots.num_nodes_of(t); ++i)
      indptr_.push_back(graph.indptr[slots.slot_begin[t] + i * slots.num_slots[t]]);
  indptr_.push_back(graph.indptr.back());
  rows_ = {.indptr = indptr_, .indices = graph.indices};
}

}  // namespace salient
