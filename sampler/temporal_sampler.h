// sampler/temporal_sampler.h - neighbour sampling on the host that sees of every seed's past alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "sampler/draws.h"
#include "sampler/hop_stages.h"
#include "sampler/mfg.h"
#include "sampler/sampling_rule.h"
#include "sampler/time_rule.h"

namespace salient {

/// A message-flow graph whose nodes are seen at a time: a node may be there several times, once for each time at which
/// a seed sees it.
struct TemporalMfg {
  Mfg mfg{};
  std::vector<std::int64_t> times{};  ///< [N] of mfg.nodes: that of the seed which leads to the node
  bool operator==(const TemporalMfg&) const = default;
};

/// As NeighborSampler: one worker's scratch memory.
class TemporalSampler : private HopStages {
 public:
  /// @param graph  borrowed; a plain one whose entries have times
  /// @param rule   of TimeStrategy::kLast by Draw::kUniform, which then draws nothing
  /// @throws Error{kUsage} for a graph without times, a window below 1, draws by weights that the graph does not have,
  ///         and any other draw with kLast; Error{kInternal} unless are_fanouts(), and for a typed graph
  TemporalSampler(CsrGraph graph, SamplingRule rule, TimeRule times);

  /// Replaces `sample` by one around seeds (node, time): every (node, time) seen so far keeps entries of its row that
  /// its time admits, as the rule says; what it meets has the same time. So trees of seeds of different times have no
  /// node in common, and no entry of any hop is later than its seed admits.
  ///
  /// @param seeds, seed_times  [S] distinct pairs; nodes in [0, V)
  /// @throws Error{kInternal} for seeds outside that contract; Error{kUsage} for a hop of 2^31 edges or more.
  /// Determinism:  as NeighborSampler::sample(). (v, T) and (v, T') read the same random words, with other bounds.
  /// Cost:         two binary searches a row more than that.
  /// Oracle:       reference_temporal_sample().
  void sample(std::span<const NodeId> seeds, std::span<const std::int64_t> seed_times, BatchKey key,
              TemporalMfg& sample);

  using HopStages::record_places;

 private:
  using TimedNode = std::uint64_t;  ///< number of the time << 32 | node

  static TimedNode timed(std::uint32_t time_number, NodeId node) { return TimedNode{time_number} << 32 | node; }
  static std::uint32_t number_of_time(TimedNode node) { return static_cast<std::uint32_t>(node >> 32); }
  std::int64_t time_of(TimedNode node) const { return static_cast<std::int64_t>(times_.ids()[number_of_time(node)]); }
  void number_seeds(std::span<const NodeId> seeds, std::span<const std::int64_t> seed_times);
  void sample_timed_hop(std::uint32_t hop_number, BatchKey key, MfgHop& hop);
  std::span<const Row> read_rows(std::size_t first, int fanout, MfgHop& hop);
  void narrow(Row& row, std::int64_t time, int fanout);

  TimeRule time_rule_;
  KeyMap<std::uint64_t> map_;
  KeyMap<std::uint64_t> times_;              // of the seeds, by their bits
  std::vector<std::uint32_t> first_places_;  // of the rows of a block: where what is admitted begins
  std::vector<std::uint32_t> time_numbers_;  // of picked entries: that of their destination
};

}  // namespace salient
