// engine/plan/relation_samples.cpp - see relation_samples.h.
#include "engine/plan/relation_samples.h"

#include <algorithm>

#include "sampler/neighbor_sampler.h"

namespace salient {

RelationSamples sample_relations(const Dataset& dataset, const SamplingRule& rule, std::span<const NodeId> seeds,
                                 std::size_t batch_size, std::uint32_t seed) {
  constexpr std::size_t kMost = 3;
  const std::size_t num_hops = rule.fanouts.size();
  RelationSamples samples{.batches = std::min(kMost, (seeds.size() + batch_size - 1) / batch_size)};
  samples.edges.assign(dataset.types.relations.size(), std::vector<double>(num_hops, 0));
  NeighborSampler sampler(dataset.graph, rule);
  Mfg mfg;
  for (std::size_t batch = 0; batch < samples.batches; ++batch) {
    const std::size_t first = batch * batch_size;
    sampler.sample(seeds.subspan(first, std::min(batch_size, seeds.size() - first)),
                   {.seed = seed, .epoch = 1, .batch = static_cast<std::uint32_t>(batch)}, mfg);
    for (std::size_t h = 0; h < num_hops; ++h) {
      const MfgHop& hop = mfg.hops[num_hops - 1 - h];
      for (std::size_t row = 0; row < hop.row_relation.size(); ++row)
        samples.edges[hop.row_relation[row]][h] +=
            static_cast<double>(hop.indptr[row + 1] - hop.indptr[row]) / static_cast<double>(samples.batches);
    }
  }
  return samples;
}

}  // namespace salient
