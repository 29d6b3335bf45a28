// sampler/slot_stages.h - the stages of a hop of a typed graph that all samplers of the host have: its rows are slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "sampler/draw_lanes.h"
#include "sampler/draws.h"
#include "sampler/hop_stages.h"
#include "sampler/id_map.h"
#include "sampler/mfg.h"
#include "sampler/sampling_rule.h"

namespace salient {

class SlotStages : protected HopStages {
 protected:
  /// What a row of a typed graph has beside.
  struct SlotRule {
    std::uint32_t word;
    int fanout;
  };

  /// @throws as HopStages; Error{kInternal} unless are_relation_fanouts(), of every relation of the graph
  SlotStages(CsrGraph graph, SamplingRule rule);

  /// Before the first hop of a batch.
  void forget_slots();

  /// The rows of a hop: the slots of all destinations. What is known of nodes that earlier hops had is kept.
  /// @throws Error{kUsage} for 2^31 edges or rows
  void list_slots(std::uint32_t hop_number, MfgHop& hop);

  /// Stage "rows" for a block of slots, from `first` on: their part of the hop's indptr, and room for their edges.
  /// @param dst          of row `first`, or one before it; becomes that of the block's last
  /// @param degree_of    (row of the graph) -> entries to be drawn from
  /// @param weights_of   (number of a row in the block) -> their weights, of a weighted draw
  template <class DegreeOf, class WeightsOf>
  std::span<const Row> read_slots(std::size_t first, std::uint32_t hop_number, std::size_t& dst, MfgHop& hop,
                                  DegreeOf degree_of, WeightsOf weights_of);

  /// The lane that has the draws of this row of the block. Rows that draw come in ascending order.
  std::size_t slot_lane(std::size_t row, BatchKey key);

  IdMap map_;
  std::vector<SlotRule> slot_rules_;  // of the rows of a block of a typed graph

 private:
  void require_countable_slots(std::uint32_t hop_number, const MfgHop& hop) const;

  std::vector<std::uint64_t> slots_of_;  // of a typed graph, [nodes seen] the first row of each
  std::vector<std::uint8_t> type_of_;    // likewise
};

template <class DegreeOf, class WeightsOf>
std::span<const HopStages::Row> SlotStages::read_slots(std::size_t first, std::uint32_t hop_number, std::size_t& dst,
                                                       MfgHop& hop, DegreeOf degree_of, WeightsOf weights_of) {
  constexpr std::size_t kNodesAhead = 16;
  const std::size_t end = std::min(first + kBlockRows, hop.row_relation.size());
  rows_.clear();
  slot_rules_.clear();
  lanes_end_ = 0;
  LocalId num_edges = hop.indptr[first];
  for (std::size_t r = first; r < end; ++r) {
    while (static_cast<std::size_t>(hop.row_begin[dst + 1]) <= r) {
      ++dst;
      if (dst + kNodesAhead < slots_of_.size()) __builtin_prefetch(&graph_.indptr[slots_of_[dst + kNodesAhead]]);
    }
    const auto slot = static_cast<std::uint32_t>(r - static_cast<std::size_t>(hop.row_begin[dst]));
    const std::size_t row = slots_of_[dst] + slot;
    const std::uint32_t degree = degree_of(row);
    const int fanout = rule_.fanout_of(hop.row_relation[r], hop_number);
    rows_.push_back({graph_.row(row).data(), degree, map_.ids()[dst]});
    slot_rules_.push_back({word_of_slot(hop_number, slot), fanout});
    if (rule_.draw == Draw::kLabor) prefetch_start(rows_.back().begin, degree);
    if (rule_.draw == Draw::kWeighted) prefetch_start(HopStages::weights_of(rows_.back()).data(), degree);
    num_edges += static_cast<LocalId>(num_kept(degree, fanout));
    hop.indptr[r + 1] = num_edges;
  }
  if (rule_.draw == Draw::kWeighted) {
    num_edges = hop.indptr[first];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto limit = static_cast<std::uint32_t>(slot_rules_[i].fanout);  // kAllNeighbors: none
      num_edges += static_cast<LocalId>(num_drawable(weights_of(i), limit));
      hop.indptr[first + i + 1] = num_edges;
    }
  }
  hop.indices.resize(std::max(hop.indices.size(), static_cast<std::size_t>(hop.indptr[end])));
  return rows_;
}

}  // namespace salient
