// engine/plan/relation_samples.h - how many edges of each relation of a typed graph the batches of a run have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

struct RelationSamples {
  std::size_t batches = 0;                   ///< that were sampled
  std::vector<std::vector<double>> edges{};  ///< [relations][hops] mean of a batch, the seeds' own hop first
};

/// Samples the first batches of an epoch, three at most.
/// @param dataset  typed   @param seeds  in the order of the epoch   @param seed  of the run
RelationSamples sample_relations(const Dataset& dataset, const SamplingRule& rule, std::span<const NodeId> seeds,
                                 std::size_t batch_size, std::uint32_t seed);

}  // namespace salient
