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

/// Where the parts of a sample go, one behind the other.
struct Places {
  NodeId* nodes = nullptr;
  std::vector<MfgMemory::Hop> hops{};
  std::vector<TypedHopMemory> typed_hops{};
  std::vector<LocalId*> nodes_of_type{};

  /// @return  how many values that are
  std::size_t place(const MfgShape& shape, LocalId* const memory) {
    LocalId* at = memory;
    const auto next = [&at](LocalId count) { return std::exchange(at, at + count); };
    *this = {.nodes = reinterpret_cast<NodeId*>(next(shape.num_nodes))};
    for (std::size_t h = 0; h < shape.hops.size(); ++h) {
      const MfgShape::Hop& hop = shape.hops[h];
      const bool is_typed = !shape.typed_hops.empty();
      LocalId* const indptr = next((is_typed ? shape.typed_hops[h].num_rows : hop.num_dst) + 1);
      hops.push_back({indptr, next(hop.num_edges)});
      if (!is_typed) continue;
      const TypedHopShape& types = shape.typed_hops[h];
      LocalId* const row_begin = next(hop.num_dst + 1);
      LocalId* const row_dst = next(types.num_rows);
      typed_hops.push_back({row_begin, row_dst, next(types.relation_begin.back())});
    }
    for (const LocalId count : shape.num_nodes_of_type) nodes_of_type.push_back(next(count));
    return static_cast<std::size_t>(at - memory);
  }
};

/// One thread's sampler, and where its batches go.
struct Worker {
  std::unique_ptr<BatchSampler> sampler{};
  PinnedBuffer<LocalId> memory{};
  Places places{};

  /// @return edges and nodes
  std::pair<std::size_t, std::size_t> sample(const SamplingCase& sampling, std::uint32_t batch) {
    const MfgShape& shape = sampler->sample(sampling.seeds_of(batch), {1, 0, batch});
    const std::size_t count = places.place(shape, memory.data());
    if (count > memory.capacity()) (void)places.place(shape, memory.reserve(2 * count));
    sampler->copy_to({.nodes = places.nodes,
                      .hops = places.hops,
                      .typed_hops = places.typed_hops,
                      .nodes_of_type = places.nodes_of_type});
    std::size_t num_edges = 0;
    for (const MfgShape::Hop& hop : shape.hops) num_edges += static_cast<std::size_t>(hop.num_edges);
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
