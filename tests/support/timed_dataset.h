// tests/support/timed_dataset.h - a generated data set whose edges have weights and times, and whose nodes have times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/philox.h"
#include "loaders/batch.h"
#include "sampler/reference_sampler.h"
#include "tests/support/datasets.h"

namespace salient::test {

/// Times 0 to 29 of edges and of nodes, so few that seeds share them; weights 0 to 4.
struct TimedDataset {
  TimedDataset() {
    const auto word_of = [](std::uint32_t i, std::uint32_t what) {
      return philox4x32({{3, what}}, {{i, 0, 0, 0}}).word[0];
    };
    for (std::uint32_t e = 0; e < dataset.graph.indices.size(); ++e) {
      edge_times.push_back(std::int64_t{word_of(e, 1) % 30});
      weights.push_back(static_cast<float>(word_of(e, 3) % 5));
    }
    for (std::size_t v = 0; v < dataset.num_nodes(); ++v) {
      const auto begin = edge_times.begin() + dataset.graph.indptr[v], end = begin + dataset.graph.degree(v);
      std::sort(begin, end);
      node_times.push_back(std::int64_t{word_of(static_cast<std::uint32_t>(v), 2) % 30});
    }
    dataset.has_edge_times = dataset.has_node_times = dataset.has_edge_weights = true;
    dataset.graph.entries = {weights, edge_times};
    dataset.node_times = node_times;
  }
  TimedDataset(const TimedDataset&) = delete;
  TimedDataset& operator=(const TimedDataset&) = delete;

  Mfg reference(const SamplingRule& rule, const TimeRule& time, const BatchRequest& request) const {
    std::vector<std::int64_t> times;
    for (const NodeId seed : request.seeds) times.push_back(node_times[seed]);
    return reference_temporal_sample(dataset.graph, rule, time, request.seeds, times, request.key).mfg;
  }

  Dataset dataset = generated_dataset(1500, 12, 9);
  std::vector<std::int64_t> edge_times{}, node_times{};
  std::vector<float> weights{};
};

}  // namespace salient::test
