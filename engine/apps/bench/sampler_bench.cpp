// engine/apps/bench/sampler_bench.cpp - sampled edges/s for 1 ... all threads, beside a textbook sampler and the
// memory's own limit, in the same run.
//
// What bounds it: every drawn edge reads the edge array at random once, so `of reads` is its rate over the rate at which
// the same threads do nothing but such reads. Where the rate falls as threads are added, the notes tell how much of that the
// machine does to any work: to bare reads, and to arithmetic without memory. With a GPU, a last row samples there, the result's copy to pinned host memory
// included, as the batch loader does it.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/apps/bench/bench_graph.h"
#include "engine/apps/bench/bench_report.h"
#include "engine/apps/bench/bench_threads.h"
#include "engine/apps/bench/textbook_sampler.h"
#include "engine/apps/bench/verbs.h"
#include "engine/core/log.h"
#include "engine/core/machine.h"
#if SALIENT_HAS_CUDA
#include "engine/cuda/cuda.h"
#include "loaders/device_graph.h"
#endif
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"

namespace salient {
namespace {

struct SamplerBenchOptions {
  std::uint32_t nodes = 2'500'000;
  double mean_degree = 48.5;
  std::vector<int> fanout{15, 10, 5};
  int batch_size = 1024;
  bool with_replacement = false;
  int threads = 0;
  int batches = 20;
  int rounds = 7;
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("nodes", self.nodes, "nodes of the generated graph");
  field("mean-degree", self.mean_degree, "entries per node; degrees follow a power law");
  field("fanout", self.fanout, "neighbours kept per node and hop; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per batch");
  field("with-replacement", self.with_replacement, "draw with replacement");
  field("threads", self.threads, "up to this many threads; 0 = all cores");
  field("batches", self.batches, "batches per thread and round");
  field("rounds", self.rounds, "measurements of each kind");
  field("json", self.json, "also write the result to this file");
}

std::vector<NodeId> seeds_of(std::uint32_t batch, const SamplerBenchOptions& options) {
  std::vector<NodeId> seeds;
  for (int i = 0; i < options.batch_size; ++i)
    seeds.push_back(static_cast<NodeId>(
        (std::uint64_t{batch} * static_cast<std::uint64_t>(options.batch_size) + static_cast<std::uint64_t>(i)) *
        2654435761u % options.nodes));
  return seeds;
}

/// Bytes of the graph that a sample must touch, in cache lines: a row's bounds, and a line per drawn entry or the whole
/// row.
double graph_bytes(const Mfg& mfg, const CsrGraph& graph) {
  constexpr double kLine = 64;
  double bytes = 0;
  for (const MfgHop& hop : mfg.hops)
    for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
      const NodeId dst = mfg.nodes[i];
      const auto degree = static_cast<double>(graph.indptr[dst + std::size_t{1}] - graph.indptr[dst]);
      const double whole_row = std::ceil(degree * sizeof(NodeId) / kLine) * kLine;
      bytes += kLine + std::min(whole_row, static_cast<double>(hop.indptr[i + 1] - hop.indptr[i]) * kLine);
    }
  return bytes;
}

struct Rates {
  Spread edges;                      // per second
  double edges_per_core_second = 0;  // best
  double nodes = 0;                  // per second, at the best round
};

/// @param one_batch  (thread, batch) makes one batch on a thread and returns {edges, nodes}
template <class OneBatch>
Rates measure(int num_threads, int rounds, int batches, OneBatch one_batch) {
  struct Counts {
    alignas(64) double edges = 0;
    double nodes = 0;
  };
  Rates rates;
  std::vector<double> edges_per_second;
  for (int round = 0; round < rounds; ++round) {
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
    edges_per_second.push_back(edges / times.wall_seconds);
    rates.edges_per_core_second = std::max(rates.edges_per_core_second, edges / times.cpu_seconds);
    rates.nodes = std::max(rates.nodes, nodes / times.wall_seconds);
  }
  rates.edges = spread_of(std::move(edges_per_second));
  return rates;
}

#if SALIENT_HAS_CUDA
/// Sampling on the GPU: a sampler per thread, each batch copied to the host.
Rates measure_on_gpu(const CsrGraph& graph, const SamplerBenchOptions& options, Replacement replacement,
                     int num_threads) {
  struct Pinned {
    LocalId* reserve(std::size_t count) {
      if (count > capacity) {
        memory = make_pinned_array<LocalId>(2 * count);
        capacity = 2 * count;
      }
      return memory.get();
    }
    PinnedArray<LocalId> memory{};
    std::size_t capacity = 0;
  };
  const DeviceGraph on_device(graph);
  std::vector<std::unique_ptr<BatchSampler>> samplers;
  for (int t = 0; t < num_threads; ++t) samplers.push_back(on_device.make_sampler(options.fanout, replacement));
  std::vector<Pinned> memory(static_cast<std::size_t>(num_threads));
  const auto one_batch = [&](int t, std::uint32_t batch) {
    BatchSampler& sampler = *samplers[static_cast<std::size_t>(t)];
    const MfgShape& shape = sampler.sample(seeds_of(batch, options), {1, 0, batch});
    std::size_t count = static_cast<std::size_t>(shape.num_nodes), num_edges = 0;
    for (const MfgShape::Hop& hop : shape.hops) {
      num_edges += static_cast<std::size_t>(hop.num_edges);
      count += static_cast<std::size_t>(hop.num_dst) + 1;
    }
    LocalId* at = memory[static_cast<std::size_t>(t)].reserve(count + num_edges);
    auto* const nodes = reinterpret_cast<NodeId*>(at);
    at += shape.num_nodes;
    std::vector<MfgMemory::Hop> hops;
    for (const MfgShape::Hop& hop : shape.hops) {
      hops.push_back({at, at + hop.num_dst + 1});
      at += hop.num_dst + 1 + hop.num_edges;
    }
    sampler.copy_to({nodes, hops});
    return std::pair(num_edges, static_cast<std::size_t>(shape.num_nodes));
  };
  for (int t = 0; t < num_threads; ++t) (void)one_batch(t, 0);  // grows the buffers
  return measure(num_threads, options.rounds, 4 * options.batches, one_batch);
}
#endif

BenchReport new_report(const SamplerBenchOptions& options, const CsrGraph& graph) {
  BenchReport report("sampler",
                     "neighbour sampling, " + std::to_string(graph.num_nodes()) + " nodes, " +
                         std::to_string(graph.indices.size()) + " entries, fanout " + options::to_text(options.fanout) +
                         ", batch " + std::to_string(options.batch_size),
                     {{"edges_per_second_median", "M edges/s median", 1e-6},
                      {"edges_per_second_best", "best", 1e-6},
                      {"edges_per_core_second", "per core-second", 1e-6},
                      {"parallel_efficiency", "of 1 thread", 1, 2},
                      {"nodes_per_second", "M nodes/s", 1e-6},
                      {"graph_bytes_per_edge", "bytes/edge", 1},
                      {"share_of_random_reads", "of reads", 1, 2},
                      {"times_textbook", "x textbook", 1}});
  report.add_settings(options);
  return report;
}

}  // namespace

int bench_sampler(Arguments arguments) {
  SamplerBenchOptions options;
  if (!read_options("sampler", arguments, options)) return 0;
  check_rounds(options.rounds, options.threads);
  check_generated_graph(options.nodes, options.mean_degree, options.batch_size, options.batches);
  require_option(are_fanouts(options.fanout), "--fanout: each 1 to 65535, or -1 for all");
  const int most_threads = options.threads > 0 ? options.threads : num_usable_cores();
  const auto replacement = options.with_replacement ? Replacement::kWith : Replacement::kWithout;
  log_info("generating the graph");
  const BenchGraph owned = make_bench_graph(options.nodes, options.mean_degree);
  const CsrGraph graph = owned.view();

  std::vector<std::unique_ptr<NeighborSampler>> samplers;
  std::vector<Mfg> mfgs(static_cast<std::size_t>(most_threads));
  for (int t = 0; t < most_threads; ++t)
    samplers.push_back(std::make_unique<NeighborSampler>(graph, options.fanout, replacement));
  double bytes_per_edge = 0;
  for (std::size_t t = 0; t < samplers.size(); ++t) {  // grows the buffers, and checks once what is about to be timed
    const std::vector<NodeId> seeds = seeds_of(0, options);
    samplers[t]->sample(seeds, {}, mfgs[t]);
    if (t > 0) continue;
    require(mfgs[0] == reference_sample(graph, options.fanout, seeds, {}, replacement), "equal to the reference");
    bytes_per_edge = graph_bytes(mfgs[0], graph) / static_cast<double>(mfgs[0].num_edges());
  }

  BenchReport report = new_report(options, graph);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  log_info("textbook sampler");
  const TextbookGraph textbook_graph(graph);
  TextbookSampler textbook(textbook_graph, options.fanout);
  const Rates peer = measure(1, 3, 2, [&](int, std::uint32_t batch) {
    const TextbookSampler::Sample sample = textbook.sample(seeds_of(batch, options));
    return std::pair(sample.num_edges(), sample.nodes.size());
  });
  double alone = 0;  // edges per core-second on one thread
  for (const int num_threads : thread_counts(most_threads)) {
    const std::string on_threads = std::to_string(num_threads) + (num_threads == 1 ? " thread" : " threads");
    log_info(on_threads);
    const double reads = random_reads_per_core_second(graph.indices, num_threads);
    const double arithmetic = arithmetic_per_core_second(num_threads);
    const Rates rates = measure(num_threads, options.rounds, options.batches, [&](int t, std::uint32_t batch) {
      Mfg& mfg = mfgs[static_cast<std::size_t>(t)];
      samplers[static_cast<std::size_t>(t)]->sample(seeds_of(batch, options), {1, 0, batch}, mfg);
      return std::pair(mfg.num_edges(), mfg.nodes.size());
    });
    if (num_threads == 1) alone = rates.edges_per_core_second;
    report.add_row(on_threads,
                   {rates.edges.median, rates.edges.best, rates.edges_per_core_second,
                    rates.edges_per_core_second / alone, rates.nodes, bytes_per_edge,
                    rates.edges_per_core_second / reads, rates.edges_per_core_second / peer.edges_per_core_second});
    report.add_note("on " + on_threads + ", M per core-second: " + std::to_string(std::lround(reads * 1e-6)) +
                    " random reads of the edge array, " + std::to_string(std::lround(arithmetic * 1e-6)) +
                    " Philox blocks");
  }
#if SALIENT_HAS_CUDA
  int num_devices = 0;
  if (cudaGetDeviceCount(&num_devices) == cudaSuccess && num_devices > 0)
    for (const int num_threads : {1, 3}) {
      log_info("GPU, " + std::to_string(num_threads) + (num_threads == 1 ? " stream" : " streams"));
      const Rates rates = measure_on_gpu(graph, options, replacement, num_threads);
      report.add_row("GPU, " + std::to_string(num_threads) + (num_threads == 1 ? " stream" : " streams"),
                     {rates.edges.median, rates.edges.best, kNone, kNone, rates.nodes, bytes_per_edge, kNone, kNone});
    }
#endif
  report.add_row("textbook, 1 thread",
                 {peer.edges.median, peer.edges.best, peer.edges_per_core_second, kNone, peer.nodes, kNone, kNone, 1});
  report.add_note("of 1 thread, of reads, x textbook: by core-seconds. Checked against the reference sampler.");
  report.publish(options.json);
  return 0;
}

}  // namespace salient
