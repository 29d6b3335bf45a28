// benchmarks/sampler_rounds.h - what the sampler benchmark samples, and the rates of its rounds on some threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/host/timed_threads.h"
#include "sampler/mfg.h"
#include "sampler/neighbor_sampler.h"

namespace salient {

struct SamplingCase {
  CsrGraph graph{};
  SamplingRule rule{};
  int batch_size = 1024;
  int batches = 20;  ///< per thread and round
  int rounds = 7;
  std::span<const NodeId> train{};  ///< nodes that seeds are taken from; empty: all nodes

  /// Seeds of one batch, scattered over the ids; of training nodes as many neighbouring ones.
  std::vector<NodeId> seeds_of(std::uint32_t batch) const;
};

/// What one way of sampling did, a value per round.
struct SamplerRates {
  std::vector<double> edges_per_second, edges_per_core_second, nodes_per_second;
};

/// Measures one round and adds it to `rates`. Rounds of several cases take turns, unlike those of measure().
/// @param one_batch  (thread, batch) makes one batch on a thread and returns {edges, nodes}
template <class OneBatch>
void add_round(SamplerRates& rates, int num_threads, int batches, OneBatch one_batch) {
  struct Counts {
    alignas(64) double edges = 0;
    double nodes = 0;
  };
  const int round = static_cast<int>(rates.edges_per_second.size());
  std::vector<Counts> counts(static_cast<std::size_t>(num_threads));
  const ThreadTimes times = time_on_threads(num_threads, [&](int t) {
    Counts& mine = counts[static_cast<std::size_t>(t)];
    for (int b = 0; b < batches; ++b) {
      const auto [edges, nodes] = one_batch(t, static_cast<std::uint32_t>((round * num_threads + t) * batches + b));
      mine.edges += static_cast<double>(edges);
      mine.nodes += static_cast<double>(nodes);
    }
  });
  double edges = 0, nodes = 0;
  for (const Counts& c : counts) edges += c.edges, nodes += c.nodes;
  rates.edges_per_second.push_back(edges / times.wall_seconds);
  rates.edges_per_core_second.push_back(edges / times.cpu_seconds);
  rates.nodes_per_second.push_back(nodes / times.wall_seconds);
}

/// Sampling on the GPU: a sampler per thread and stream, each batch copied to pinned host memory.
/// @param graph_share  of the entries that are in GPU memory, in the rows that batches read most; the GPU reads the
///                     others in pinned host memory
/// @throws Error{kNoDevice} in a build without CUDA.
SamplerRates sample_on_gpu(const SamplingCase& sampling, int num_streams, double graph_share = 1);

}  // namespace salient
