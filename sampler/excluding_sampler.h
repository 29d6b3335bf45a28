// sampler/excluding_sampler.h - neighbour sampling on the host that never keeps the entries of some links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "sampler/draws.h"
#include "sampler/exclusions.h"
#include "sampler/hop_stages.h"
#include "sampler/mfg.h"
#include "sampler/sampling_rule.h"
#include "sampler/slot_stages.h"

namespace salient {

/// As NeighborSampler: one worker's scratch memory.
class ExcludingSampler : private SlotStages {
 public:
  /// @param graph  borrowed; may be typed
  /// @throws as NeighborSampler; Error{kUsage} as require_rows_of_exclusions()
  ExcludingSampler(CsrGraph graph, SamplingRule rule);

  /// As NeighborSampler::sample(), of rows as if excluded entries were not in them, in every hop: a row of n entries of
  /// which k are excluded keeps min(fanout, n - k), by the same law. Draws are of ranks in [0, n - k), and
  /// place_of_rank() is the entry; weighted draws read the words of the entries' places in the whole row. So a row
  /// without exclusions keeps what NeighborSampler keeps.
  ///
  /// @param excluded  finish()ed; places are below the degrees of their rows, which of a typed graph are those of slots
  /// Cost:   a look at a bit per row more than that; of rows with exclusions a pass over the entries that are kept, by
  ///         labor and by weight over the row.
  /// Oracle: reference_excluding_sample().
  void sample(std::span<const NodeId> seeds, BatchKey key, const Exclusions& excluded, Mfg& mfg);

  using HopStages::record_places;

 private:
  void sample_hop_without(std::uint32_t hop_number, BatchKey key, const Exclusions& excluded, MfgHop& hop);
  void sample_slots_without(std::uint32_t hop_number, BatchKey key, const Exclusions& excluded, MfgHop& hop);
  std::span<const Row> read_rows(std::size_t first, int fanout, const Exclusions& excluded, MfgHop& hop);
  template <class LaneOf>
  void pick_from(const Row& row, std::uint32_t count, const Drawing& how, const LaneOf& lane_of, const NodeId** picked);
  template <class LaneOf>
  void pick_rest(const Row& row, std::span<const std::uint32_t> places, std::uint32_t count, const Drawing& how,
                 const LaneOf& lane_of, const NodeId** picked);
  std::span<const float> drawable_weights(std::size_t i);
  std::span<const float> weights_without(const Row& row, std::span<const std::uint32_t> places);
  std::span<const NodeId> entries_without(const Row& row, std::span<const std::uint32_t> places);

  std::vector<std::span<const std::uint32_t>> excluded_of_;  // of the rows of a block
  std::vector<NodeId> entries_;                              // of one row, as the next
  std::vector<float> weights_;
};

}  // namespace salient
