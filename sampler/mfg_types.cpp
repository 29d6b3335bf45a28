// sampler/mfg_types.cpp - see mfg_types.h.
#include "sampler/mfg_types.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace salient {
namespace {

bool has_entries(const MfgHop& hop, std::size_t row) { return hop.indptr[row] < hop.indptr[row + 1]; }

/// Of the first `count` nodes, of each type.
std::vector<LocalId> count_types(std::span<const std::uint8_t> type_of, LocalId count, std::size_t num_types) {
  std::vector<LocalId> found(num_types, 0);
  for (const std::uint8_t type : type_of.first(static_cast<std::size_t>(count))) ++found[type];
  return found;
}

void copy_hop(const MfgHop& hop, std::vector<LocalId> next, const TypedHopMemory& to) {
  std::ranges::copy(hop.row_begin, to.row_begin);
  for (std::size_t dst = 0; dst + 1 < hop.row_begin.size(); ++dst)
    std::fill(to.row_dst + hop.row_begin[dst], to.row_dst + hop.row_begin[dst + 1], static_cast<LocalId>(dst));
  for (std::size_t row = 0; row < hop.row_relation.size(); ++row)
    if (has_entries(hop, row)) to.relation_rows[next[hop.row_relation[row]]++] = static_cast<LocalId>(row);
}

}  // namespace

void MfgTypes::count(const Mfg& mfg, const SlotTable& slots, MfgShape& shape) {
  std::vector<std::uint8_t> types = std::move(type_of_);
  types.resize(mfg.nodes.size());
  std::ranges::transform(mfg.nodes, types.begin(),
                         [&](NodeId node) { return static_cast<std::uint8_t>(slots.type_of(node)); });
  count(mfg, slots, std::move(types), shape);
}

void MfgTypes::count(const Mfg& mfg, const SlotTable& slots, std::vector<std::uint8_t> type_of_node, MfgShape& shape) {
  const std::size_t num_types = slots.num_types(), num_relations = slots.relations.size();
  type_of_ = std::move(type_of_node);
  shape.num_nodes_of_type = count_types(type_of_, shape.num_nodes, num_types);
  shape.typed_hops.resize(mfg.hops.size());
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const MfgHop& hop = mfg.hops[h];
    TypedHopShape& typed = shape.typed_hops[h];
    typed.num_rows = static_cast<LocalId>(hop.row_relation.size());
    typed.num_src_of_type = count_types(type_of_, hop.num_src, num_types);
    typed.num_dst_of_type = count_types(type_of_, hop.num_dst, num_types);
    typed.relation_begin.assign(num_relations + 1, 0);
    for (std::size_t row = 0; row < hop.row_relation.size(); ++row)
      if (has_entries(hop, row)) ++typed.relation_begin[hop.row_relation[row] + std::size_t{1}];
    std::partial_sum(typed.relation_begin.begin(), typed.relation_begin.end(), typed.relation_begin.begin());
  }
}

void MfgTypes::copy_to(const Mfg& mfg, const MfgShape& shape, std::span<const TypedHopMemory> hops,
                       std::span<LocalId* const> nodes) const {
  std::vector<LocalId*> next(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < type_of_.size(); ++i) *next[type_of_[i]]++ = static_cast<LocalId>(i);
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) copy_hop(mfg.hops[h], shape.typed_hops[h].relation_begin, hops[h]);
}

}  // namespace salient
