// benchmarks/sampler_bench.cpp - sampled edges/s for 1 ... all threads, beside a textbook sampler and the
// memory's own limit, in the same run.
//
// What bounds it: every drawn edge reads the edge array at random once, so `of reads` is its rate over the rate of such
// reads alone on the same threads. Where the rate per core falls as threads are added, two columns show how
// much the rate of any work falls: of bare reads, and of arithmetic without memory. Every round measures all thread
// counts, so that ratios compare what ran within the same second or two. With a GPU, the last rows sample there and
// include the copy of each result to pinned host memory, as in the batch loader.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_device.h"
#include "benchmarks/bench_graph.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/measure.h"
#include "benchmarks/sampler_rounds.h"
#include "benchmarks/textbook_sampler.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/host/machine.h"
#include "core/host/timed_threads.h"
#include "core/number_text.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "sampler/sampling_rule.h"

namespace salient {
namespace {

struct SamplerBenchOptions {
  std::uint32_t nodes = 2'500'000;
  double mean_degree = 48.5;
  std::vector<int> fanout{15, 10, 5};
  int batch_size = 1024;
  Draw draw = Draw::kUniform;
  int threads = 0;
  int batches = 20;
  int rounds = 7;
  std::vector<double> graph_shares{0.75, 0.5, 0.25};
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("nodes", self.nodes, "nodes of the generated graph");
  field("mean-degree", self.mean_degree, "entries per node; degrees follow a power law");
  field("fanout", self.fanout, "neighbours kept per node and hop; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per batch");
  field("draw", self.draw, "as of salient-train");
  field("threads", self.threads, "up to this many threads; 0 = all cores");
  field("batches", self.batches, "batches per thread and round");
  field("rounds", self.rounds, "measurements of each kind");
  field("graph-shares", self.graph_shares,
        "of the graph's entries in GPU memory, a row for each; the GPU reads the others in host memory");
  field("json", self.json, "also write the result to this file");
}

/// Bytes of the graph that a sample must touch, in cache lines: a row's bounds, and a line per drawn entry or the whole
/// row.
double graph_bytes(const Mfg& mfg, const CsrGraph& graph) {
  constexpr double kLine = 64;
  double bytes = 0;
  for (const MfgHop& hop : mfg.hops)
    for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
      const NodeId dst = mfg.nodes[i];
      const double whole_row = std::ceil(static_cast<double>(graph.row(dst).size_bytes()) / kLine) * kLine;
      bytes += kLine + std::min(whole_row, static_cast<double>(hop.indptr[i + 1] - hop.indptr[i]) * kLine);
    }
  return bytes;
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
  SamplerRates sampler{};
  std::vector<double> reads_per_core_second{}, arithmetic_per_core_second{};
};

BenchReport new_report(const SamplerBenchOptions& options, const CsrGraph& graph) {
  BenchReport report("sampler",
                     "neighbour sampling, " + std::to_string(graph.num_nodes()) + " nodes, " +
                         std::to_string(graph.indices.size()) + " entries, fanout " + to_text(options.fanout) +
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
  SamplerRates textbook{};
};

/// Every round measures the textbook sampler, and ours on all numbers of threads. The first sample of ours is checked.
HostRates measure_on_host(const SamplingCase& sampling, int most_threads) {
  const CsrGraph graph = sampling.graph;
  HostRates host;
  std::vector<std::unique_ptr<NeighborSampler>> samplers;
  std::vector<Mfg> mfgs(static_cast<std::size_t>(most_threads));
  for (Mfg& mfg : mfgs) {
    samplers.push_back(std::make_unique<NeighborSampler>(graph, sampling.rule));
    samplers.back()->sample(sampling.seeds_of(0), {}, mfg);  // grows the buffers
  }
  require(mfgs[0] == reference_sample(graph, sampling.rule, sampling.seeds_of(0), {}), "equal to the reference");
  host.graph_bytes_per_edge = graph_bytes(mfgs[0], graph) / static_cast<double>(mfgs[0].num_edges());

  log_info("textbook sampler");
  const TextbookGraph textbook_graph(graph);
  TextbookSampler textbook(textbook_graph, sampling.rule.fanouts);
  for (const int num_threads : thread_counts(most_threads)) host.samplers.push_back({num_threads});
  for (int round = 0; round < sampling.rounds; ++round) {
    log_info("round " + std::to_string(round + 1) + " of " + std::to_string(sampling.rounds));
    add_round(host.textbook, 1, 2, [&](int, std::uint32_t batch) {
      const TextbookSampler::Sample sample = textbook.sample(sampling.seeds_of(batch));
      return std::pair(sample.num_edges(), sample.nodes.size());
    });
    for (ThreadRates& rates : host.samplers) {
      rates.reads_per_core_second.push_back(
          random_reads_per_core_second(graph.indices, rates.num_threads, static_cast<std::uint32_t>(round)));
      rates.arithmetic_per_core_second.push_back(arithmetic_per_core_second(rates.num_threads));
      add_round(rates.sampler, rates.num_threads, sampling.batches, [&](int t, std::uint32_t batch) {
        Mfg& mfg = mfgs[static_cast<std::size_t>(t)];
        samplers[static_cast<std::size_t>(t)]->sample(sampling.seeds_of(batch), {1, 0, batch}, mfg);
        return std::pair(mfg.num_edges(), mfg.nodes.size());
      });
    }
  }
  return host;
}

/// @param of_core_seconds  the last six columns
void add_row(BenchReport& report, const std::string& name, const SamplerRates& rates, double graph_bytes_per_edge,
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
    add_row(report, counted(rates.num_threads, "thread"), rates.sampler, host.graph_bytes_per_edge,
            {spread_of(sampled).median, median_ratio(sampled, alone.sampler.edges_per_core_second),
             median_ratio(rates.reads_per_core_second, alone.reads_per_core_second),
             median_ratio(rates.arithmetic_per_core_second, alone.arithmetic_per_core_second),
             median_ratio(sampled, rates.reads_per_core_second),
             median_ratio(sampled, host.textbook.edges_per_core_second)});
  }
  add_row(report, "textbook, 1 thread", host.textbook, host.graph_bytes_per_edge,
          {spread_of(host.textbook.edges_per_core_second).median, BenchReport::kNone, BenchReport::kNone,
           BenchReport::kNone, BenchReport::kNone, 1});
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

std::vector<NodeId> SamplingCase::seeds_of(std::uint32_t batch) const {
  std::vector<NodeId> seeds;
  if (!train.empty()) {
    const auto size = static_cast<std::size_t>(batch_size);
    const auto taken = train.subspan(batch * size % (train.size() - size + 1), size);
    return {taken.begin(), taken.end()};
  }
  for (int i = 0; i < batch_size; ++i)
    seeds.push_back(static_cast<NodeId>(
        (std::uint64_t{batch} * static_cast<std::uint64_t>(batch_size) + static_cast<std::uint64_t>(i)) * 2654435761u %
        graph.num_nodes()));
  return seeds;
}

int bench_sampler(Arguments arguments) {
  SamplerBenchOptions options;
  if (!read_options("sampler", arguments, options)) return 0;
  check_rounds(options.rounds, options.threads);
  check_generated_graph(options.nodes, options.mean_degree, options.batch_size, options.batches);
  require_option(are_fanouts(options.fanout), "--fanout: each 1 to 65535, or -1 for all");
  require_option(std::ranges::all_of(options.graph_shares, [](double share) { return share >= 0 && share <= 1; }),
                 "--graph-shares: each 0 to 1");
  log_info("generating the graph");
  const CsrArrays owned = make_bench_graph(options.nodes, options.mean_degree);
  const SamplingCase sampling{.graph = owned.view(),
                              .rule = {options.fanout, options.draw},
                              .batch_size = options.batch_size,
                              .batches = options.batches,
                              .rounds = options.rounds};
  const HostRates host = measure_on_host(sampling, options.threads > 0 ? options.threads : num_usable_cores());
  BenchReport report = new_report(options, sampling.graph);
  add_rows(report, host);
  const auto add_gpu_row = [&](const std::string& name, int num_streams, double graph_share) {
    log_info(name);
    add_row(report, name, sample_on_gpu(sampling, num_streams, graph_share), host.graph_bytes_per_edge,
            std::vector<double>(6, BenchReport::kNone));
  };
  if (!gpu_name().empty()) {
    for (const int num_streams : {1, 3}) add_gpu_row("GPU, " + counted(num_streams, "stream"), num_streams, 1);
    for (const double share : options.graph_shares)
      add_gpu_row("GPU, 3 streams, " + fixed(100 * share, 0) + " % of the graph there", 3, share);
  }
  report.publish(options.json);
  return 0;
}

}  // namespace salient
