// benchmarks/textbook_sampler.cpp - see textbook_sampler.h.
#include "benchmarks/textbook_sampler.h"

#include <oneapi/tbb/parallel_for.h>

#include <unordered_map>
#include <unordered_set>

namespace salient {

std::int64_t TextbookSampler::Sample::num_edges() const {
  std::int64_t sum = 0;
  for (const Hop& hop : hops) sum += static_cast<std::int64_t>(hop.indices.size());
  return sum;
}

TextbookGraph::TextbookGraph(const CsrGraph& graph) : indptr(graph.indptr.size()), indices(graph.indices.size()) {
  oneapi::tbb::parallel_for(std::size_t{0}, indptr.size(), [&](std::size_t i) { indptr[i] = graph.indptr[i]; });
  oneapi::tbb::parallel_for(std::size_t{0}, indices.size(), [&](std::size_t i) { indices[i] = graph.indices[i]; });
}

TextbookSampler::Sample TextbookSampler::sample(std::span<const NodeId> seeds) {
  Sample result;
  std::unordered_map<std::int64_t, std::int64_t> local_of;
  const auto local = [&](std::int64_t global) {
    const auto [at, is_new] = local_of.emplace(global, static_cast<std::int64_t>(result.nodes.size()));
    if (is_new) result.nodes.push_back(global);
    return at->second;
  };
  for (const NodeId seed : seeds) local(seed);
  for (const int fanout : fanouts_) {
    Hop hop;
    hop.indptr.push_back(0);
    const std::vector<std::int64_t>&indptr = graph_->indptr, &indices = graph_->indices;
    const std::size_t num_dst = result.nodes.size();
    for (std::size_t i = 0; i < num_dst; ++i) {
      const auto dst = static_cast<std::size_t>(result.nodes[i]);
      const std::int64_t begin = indptr[dst], degree = indptr[dst + 1] - begin;
      if (fanout < 0 || degree <= fanout) {
        for (std::int64_t k = 0; k < degree; ++k)
          hop.indices.push_back(local(indices[static_cast<std::size_t>(begin + k)]));
      } else {
        std::unordered_set<std::int64_t> chosen;
        while (static_cast<int>(chosen.size()) < fanout)
          chosen.insert(std::uniform_int_distribution<std::int64_t>(0, degree - 1)(random_));
        for (const std::int64_t k : chosen) hop.indices.push_back(local(indices[static_cast<std::size_t>(begin + k)]));
      }
      hop.indptr.push_back(static_cast<std::int64_t>(hop.indices.size()));
    }
    result.hops.push_back(std::move(hop));
  }
  return result;
}

}  // namespace salient
