// sampler/expected_visits.h - how often the batches of a run will meet each node of the graph, before it starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/types.h"
#include "sampler/sampling_rule.h"
#include "sampler/seed_dealing.h"

namespace salient {

/// What a run samples, as far as it decides which nodes its batches meet.
struct SamplingPlan {
  SamplingRule rule{};
  std::span<const NodeId> seeds{};  ///< distinct; a batch takes any `batch_size` of them
  std::size_t batch_size = 0;       ///< of a rank
  std::uint32_t seed = 0;           ///< of the draws
  bool excludes_links = false;      ///< batches do not see the entries of their own links; nothing is expected of it
  DealKind deal = DealKind::kEven;  ///< how a step's seeds go to ranks, for seeds_of_rank()

  /// Whether there is anything to expect: without seeds or fanouts there is not.
  bool is_empty() const { return seeds.empty() || rule.fanouts.empty() || batch_size == 0; }
};

/// The chance of each node to be in a batch, if all draws were independent. They are not (a node may be met again from
/// where it was met first), so chances are too high, by a tenth or more; their order is what matters here.
///
/// A node is met first with p(v) = batch_size / |seeds|, or 0; then at each hop by any node u that has been met so far,
/// seeds included, with the chance q(u) that u's draw keeps the entry:
///   1 - p(v)  becomes  (1 - p(v)) * product over the rows u that contain v of (1 - q(u) p(u))
/// Of a typed graph the rows of u are its slots, each with its relation's fanout.
/// @param plan    not empty.
/// @return        [V] in [0, 1]
/// Determinism:   equal results for any number of threads: logarithms are summed in whole units.
/// Cost:          a pass over the graph per hop, of the rows that can have been met; 12 bytes a node.
/// Algorithm:     vertex inclusion probabilities (Kaler et al., MLSys 2023), for message-flow graphs whose every hop
///                expands all nodes met so far.
/// Oracle:        the formula in double, and sampled batches, in tests/sampler/expected_visits_test.cpp.
std::vector<float> expected_visits(const CsrGraph& graph, const SamplingPlan& plan);

/// How many batches of epochs 1 to `num_epochs` meet each node, by sampling them.
/// @param plan    not empty.
/// Cost:          that of sampling; 4 bytes a node.
std::vector<std::uint32_t> counted_visits(const CsrGraph& graph, const SamplingPlan& plan, std::uint32_t num_epochs);

}  // namespace salient
