// benchmarks/textbook_sampler.h - neighbour sampling as a textbook writes it: the peer of the sampler benchmark.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "core/csr_graph.h"

namespace salient {

/// A graph as 64-bit arrays, for any number of samplers.
struct TextbookGraph {
  explicit TextbookGraph(const CsrGraph& graph);  ///< copies, on all cores
  std::vector<std::int64_t> indptr;
  std::vector<std::int64_t> indices;
};

/// 64-bit ids, std::unordered_map from global to local, std::unordered_set for draws without replacement, a Mersenne
/// twister, and fresh vectors for every batch. Uniform and correct, with no thought of the memory.
class TextbookSampler {
 public:
  struct Hop {
    std::vector<std::int64_t> indptr;
    std::vector<std::int64_t> indices;
  };
  struct Sample {
    std::vector<std::int64_t> nodes;
    std::vector<Hop> hops;
    std::int64_t num_edges() const;
  };

  /// @param graph  outlives the sampler.
  TextbookSampler(const TextbookGraph& graph, std::vector<int> fanouts, std::uint64_t seed = 1)
      : graph_(&graph), fanouts_(std::move(fanouts)), random_(seed) {}
  Sample sample(std::span<const NodeId> seeds);

 private:
  const TextbookGraph* graph_;
  std::vector<int> fanouts_;
  std::mt19937_64 random_;
};

}  // namespace salient
