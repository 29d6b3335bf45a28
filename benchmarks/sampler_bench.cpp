// benchmarks/sampler_bench.cpp - sampled edges/s for 1 ... all threads, beside a textbook sampler and the
// memory's own limit, in the same run.
//
// What bounds it: every drawn edge reads the edge array at random once, so `of reads` is its rate over the rate at which
// the same threads do nothing but such reads. Where the rate falls as threads are added, two columns tell how much of that
// the machine does to any work: to bare reads, and to arithmetic without memory. Every round measures all thread counts,
// so that ratios compare what ran within the same second or two. With a GPU, the last rows sample there, the copy of each
// result to pinned host memory included, as the batch loader does it.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_graph.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/bench_threads.h"
#include "benchmarks/textbook_sampler.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/host/machine.h"
#if SALIENT_HAS_CUDA
#include "core/cuda/pinned_buffer.h"
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

/// What one way of sampling did, a value per round.
struct Rates {
  std::vector<double> edges_per_second, edges_per_core_second, nodes_per_second;
};

/// Measures one round and adds it to `rates`.
/// @param one_batch  (thread, batch) makes one batch on a thread and returns {edges, nodes}
template <class OneBatch>
void measure(Rates& rates, int num_threads, int batches, OneBatch one_batch) {
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

/// The middle of the ratios of two kinds of work in the same round: a machine that is slow for a while slows both.
double median_ratio(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < over.size(); ++round) ratios.push_back(over[round] / under[round]);
  return spread_of(std::move(ratios)).median;
}

/// The sampler on some threads, and what the machine lets any work do on as many.
struct ThreadRates {
  int num_threads = 1;
  Rates sampler{};
  std::vector<double> reads_per_core_second{}, arithmetic_per_core_second{};
};

#if SALIENT_HAS_CUDA
/// Sampling on the GPU: a sampler per thread and stream, each batch copied to the host.
Rates measure_on_gpu(const CsrGraph& graph, const SamplerBenchOptions& options, Replacement replacement,
                     int num_threads) {
  const DeviceGraph on_device(graph);
  std::vector<std::unique_ptr<BatchSampler>> samplers;
  for (int t = 0; t < num_threads; ++t) samplers.push_back(on_device.make_sampler(options.fanout, replacement));
  std::vector<PinnedBuffer<LocalId>> memory(static_cast<std::size_t>(num_threads));
  const auto one_batch = [&](int t, std::uint32_t batch) {
    BatchSampler& sampler = *samplers[static_cast<std::size_t>(t)];
    const MfgShape& shape = sampler.sample(seeds_of(batch, options), {1, 0, batch});
    std::size_t count = static_cast<std::size_t>(shape.num_nodes), num_edges = 0;
    for (const MfgShape::Hop& hop : shape.hops) {
      num_edges += static_cast<std::size_t>(hop.num_edges);
      count += static_cast<std::size_t>(hop.num_dst) + 1;
    }
    count += num_edges;
    PinnedBuffer<LocalId>& pinned = memory[static_cast<std::size_t>(t)];
    LocalId* at = count <= pinned.capacity() ? pinned.data() : pinned.reserve(2 * count);
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
  Rates rates;
  for (int round = 0; round < options.rounds; ++round) measure(rates, num_threads, 4 * options.batches, one_batch);
  return rates;
}
#endif

BenchReport new_report(const SamplerBenchOptions& options, const CsrGraph& graph) {
  BenchReport report("sampler",
                     "neighbour sampling, " + std::to_string(graph.num_nodes()) + " nodes, " +
                         std::to_string(graph.indices.size()) + " entries, fanout " + options::to_text(options.fanout) +
                         ", batch " + std::to_string(options.batch_size),
                     {{"edges_per_second_median", "M edges/s median", 1e-6},
                      {"edges_per_second_best", "best", 1e-6},
                      {"nodes_per_second", "M nodes/s", 1e-6},
                      {"graph_bytes_per_edge", "bytes/edge", 1},
                      {"edges_per_core_second", "per core-second", 1e-6},
                      {"parallel_efficiency", "of 1 thread", 1, 2},
                      {"parallel_efficiency_of_reads", "reads of 1", 1, 2},
                      {"parallel_efficiency_of_arithmetic", "arithmetic of 1", 1, 2},
                      {"share_of_random_reads", "of reads", 1, 2},
                      {"times_textbook", "x textbook", 1}});
  report.add_settings(options);
  return report;
}

struct HostRates {
  double graph_bytes_per_edge = 0;
  std::vector<ThreadRates> samplers{};  // on 1, 2, 4, ... threads
  Rates textbook{};
};

/// Every round measures the textbook sampler, and ours on all numbers of threads. The first sample of ours is checked.
HostRates measure_on_host(const CsrGraph& graph, const SamplerBenchOptions& options, Replacement replacement) {
  const int most_threads = options.threads > 0 ? options.threads : num_usable_cores();
  HostRates host;
  std::vector<std::unique_ptr<NeighborSampler>> samplers;
  std::vector<Mfg> mfgs(static_cast<std::size_t>(most_threads));
  for (Mfg& mfg : mfgs) {
    samplers.push_back(std::make_unique<NeighborSampler>(graph, options.fanout, replacement));
    samplers.back()->sample(seeds_of(0, options), {}, mfg);  // grows the buffers
  }
  require(mfgs[0] == reference_sample(graph, options.fanout, seeds_of(0, options), {}, replacement),
          "equal to the reference");
  host.graph_bytes_per_edge = graph_bytes(mfgs[0], graph) / static_cast<double>(mfgs[0].num_edges());

  log_info("textbook sampler");
  const TextbookGraph textbook_graph(graph);
  TextbookSampler textbook(textbook_graph, options.fanout);
  for (const int num_threads : thread_counts(most_threads)) host.samplers.push_back({num_threads});
  for (int round = 0; round < options.rounds; ++round) {
    log_info("round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds));
    measure(host.textbook, 1, 2, [&](int, std::uint32_t batch) {
      const TextbookSampler::Sample sample = textbook.sample(seeds_of(batch, options));
      return std::pair(sample.num_edges(), sample.nodes.size());
    });
    for (ThreadRates& rates : host.samplers) {
      rates.reads_per_core_second.push_back(
          random_reads_per_core_second(graph.indices, rates.num_threads, static_cast<std::uint32_t>(round)));
      rates.arithmetic_per_core_second.push_back(arithmetic_per_core_second(rates.num_threads));
      measure(rates.sampler, rates.num_threads, options.batches, [&](int t, std::uint32_t batch) {
        Mfg& mfg = mfgs[static_cast<std::size_t>(t)];
        samplers[static_cast<std::size_t>(t)]->sample(seeds_of(batch, options), {1, 0, batch}, mfg);
        return std::pair(mfg.num_edges(), mfg.nodes.size());
      });
    }
  }
  return host;
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// @param of_core_seconds  the last six columns
void add_row(BenchReport& report, const std::string& name, const Rates& rates, double graph_bytes_per_edge,
             const std::vector<double>& of_core_seconds) {
  const Spread edges = spread_of(rates.edges_per_second);
  std::vector<double> values{edges.median, edges.best, spread_of(rates.nodes_per_second).median, graph_bytes_per_edge};
  values.insert(values.end(), of_core_seconds.begin(), of_core_seconds.end());
  report.add_row(name, std::move(values));
}

void add_rows(BenchReport& report, const HostRates& host) {
  const ThreadRates& alone = host.samplers.front();
  for (const ThreadRates& rates : host.samplers) {
    const std::vector<double>& sampled = rates.sampler.edges_per_core_second;
    add_row(report, std::to_string(rates.num_threads) + (rates.num_threads == 1 ? " thread" : " threads"),
            rates.sampler, host.graph_bytes_per_edge,
            {spread_of(sampled).median, median_ratio(sampled, alone.sampler.edges_per_core_second),
             median_ratio(rates.reads_per_core_second, alone.reads_per_core_second),
             median_ratio(rates.arithmetic_per_core_second, alone.arithmetic_per_core_second),
             median_ratio(sampled, rates.reads_per_core_second),
             median_ratio(sampled, host.textbook.edges_per_core_second)});
  }
  add_row(report, "textbook, 1 thread", host.textbook, host.graph_bytes_per_edge,
          {spread_of(host.textbook.edges_per_core_second).median, kNone, kNone, kNone, kNone, 1});
  report.add_note("of 1 thread: sampled edges per core-second over those of 1 thread in the same round");
  report.add_note(
      "reads of 1, arithmetic of 1: the same of bare random reads of the edge array, and of Philox, which reads "
      "no memory: what the machine takes from any work");
  report.add_note("of reads, x textbook: in the same round too. Checked against the reference sampler.");
  report.add_note("1 thread, M per core-second: " +
                  std::to_string(std::lround(spread_of(alone.reads_per_core_second).median * 1e-6)) +
                  " random reads of the edge array, " +
                  std::to_string(std::lround(spread_of(alone.arithmetic_per_core_second).median * 1e-6)) +
                  " Philox blocks");
}

}  // namespace

int bench_sampler(Arguments arguments) {
  SamplerBenchOptions options;
  if (!read_options("sampler", arguments, options)) return 0;
  check_rounds(options.rounds, options.threads);
  check_generated_graph(options.nodes, options.mean_degree, options.batch_size, options.batches);
  require_option(are_fanouts(options.fanout), "--fanout: each 1 to 65535, or -1 for all");
  const auto replacement = options.with_replacement ? Replacement::kWith : Replacement::kWithout;
  log_info("generating the graph");
  const BenchGraph owned = make_bench_graph(options.nodes, options.mean_degree);
  const CsrGraph graph = owned.view();
  const HostRates host = measure_on_host(graph, options, replacement);
  BenchReport report = new_report(options, graph);
  add_rows(report, host);
#if SALIENT_HAS_CUDA
  int num_devices = 0;
  if (cudaGetDeviceCount(&num_devices) == cudaSuccess && num_devices > 0)
    for (const int num_streams : {1, 3}) {
      const std::string name = "GPU, " + std::to_string(num_streams) + (num_streams == 1 ? " stream" : " streams");
      log_info(name);
      add_row(report, name, measure_on_gpu(graph, options, replacement, num_streams), host.graph_bytes_per_edge,
              std::vector<double>(6, kNone));
    }
#endif
  report.publish(options.json);
  return 0;
}

}  // namespace salient
