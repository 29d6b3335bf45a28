// engine/apps/bench/textbook_sampler.h - neighbour sampling as a textbook writes it: the peer of the sampler benchmark.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "sampler/csr_graph.h"

namespace salient {

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

  /// Copies the graph into 64-bit arrays.
  TextbookSampler(const CsrGraph& graph, std::vector<int> fanouts);
  Sample sample(std::span<const NodeId> seeds);

 private:
  std::vector<std::int64_t> indptr_;
  std::vector<std::int64_t> indices_;
  std::vector<int> fanouts_;
  std::mt19937_64 random_{1};
};

}  // namespace salient
