// benchmarks/sampler_rounds_gpu.cpp - sampling on the GPU, as the batch loader does it; see sampler_rounds.h.
#include <memory>
#include <utility>

#include "benchmarks/sampler_rounds.h"
#include "core/cuda/pinned_buffer.h"
#include "loaders/device_graph.h"

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

}  // namespace

SamplerRates sample_on_gpu(const SamplingCase& sampling, int num_streams) {
  const DeviceGraph on_device(sampling.graph);
  std::vector<Worker> workers(static_cast<std::size_t>(num_streams));
  for (Worker& worker : workers) {
    worker.sampler = on_device.make_sampler(sampling.fanout, sampling.replacement);
    (void)worker.sample(sampling, 0);  // grows the buffers
  }
  SamplerRates rates;
  for (int round = 0; round < sampling.rounds; ++round)
    add_round(rates, num_streams, 4 * sampling.batches,
              [&](int t, std::uint32_t batch) { return workers[static_cast<std::size_t>(t)].sample(sampling, batch); });
  return rates;
}

}  // namespace salient
