// benchmarks/sampler_rounds_gpu.cpp - sampling on the GPU, as the batch loader does it; see sampler_rounds.h.
#include <memory>
#include <numeric>
#include <utility>

#include "benchmarks/sampler_rounds.h"
#include "core/cuda/pinned_buffer.h"
#include "loaders/device_graph.h"
#include "loaders/graph_tiers.h"

namespace salient {
namespace {

/// One thread's sampler, and where its batches go.
struct Worker {
  std::unique_ptr<BatchSampler> sampler{};
  PinnedBuffer<LocalId> memory{};

  /// @return edges and nodes
  std::pair<std::size_t, std::size_t> sample(const SamplingCase& sampling, std::uint32_t batch) {
    const MfgShape& shape = sampler->sample(sampling.seeds_of(batch), {1, 0, batch});
    std::size_t count = static_cast<std::size_t>(shape.num_nodes), num_edges = 0;
    for (const MfgShape::Hop& hop : shape.hops) {
      num_edges += static_cast<std::size_t>(hop.num_edges);
      count += static_cast<std::size_t>(hop.num_dst) + 1;
    }
    count += num_edges;
    LocalId* at = count <= memory.capacity() ? memory.data() : memory.reserve(2 * count);
    auto* const nodes = reinterpret_cast<NodeId*>(at);
    at += shape.num_nodes;
    std::vector<MfgMemory::Hop> hops;
    for (const MfgShape::Hop& hop : shape.hops) {
      hops.push_back({at, at + hop.num_dst + 1});
      at += hop.num_dst + 1 + hop.num_edges;
    }
    sampler->copy_to({nodes, hops});
    return {num_edges, static_cast<std::size_t>(shape.num_nodes)};
  }
};

/// Seeds are any nodes, as SamplingCase has them.
std::unique_ptr<DeviceGraph> put_on_gpu(const SamplingCase& sampling, double share) {
  const CsrGraph& graph = sampling.graph;
  if (share >= 1) return std::make_unique<DeviceGraph>(graph);
  std::vector<NodeId> seeds(graph.num_nodes());
  std::iota(seeds.begin(), seeds.end(), NodeId{0});
  const SamplingPlan plan{
      .rule = sampling.rule, .seeds = seeds, .batch_size = static_cast<std::size_t>(sampling.batch_size)};
  const auto num_hot = static_cast<std::size_t>(share * static_cast<double>(graph.indices.size()));
  const GraphTiers tiers(graph, row_values(graph, CachePolicy::kVip, plan), num_hot);
  return std::make_unique<DeviceGraph>(graph, tiers);
}

}  // namespace

SamplerRates sample_on_gpu(const SamplingCase& sampling, int num_streams, double graph_share) {
  const std::unique_ptr<DeviceGraph> on_device = put_on_gpu(sampling, graph_share);
  std::vector<Worker> workers(static_cast<std::size_t>(num_streams));
  for (Worker& worker : workers) {
    worker.sampler = on_device->make_sampler(sampling.rule);
    (void)worker.sample(sampling, 0);  // grows the buffers
  }
  SamplerRates rates;
  for (int round = 0; round < sampling.rounds; ++round)
    add_round(rates, num_streams, 4 * sampling.batches,
              [&](int t, std::uint32_t batch) { return workers[static_cast<std::size_t>(t)].sample(sampling, batch); });
  return rates;
}

}  // namespace salient
