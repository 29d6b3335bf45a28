// benchmarks/typed_bench.cpp - sampled edges/s of a typed graph's twin, on the host beside bare reads of its entries,
// and on the GPU.
//
// Seeds are training nodes. A node is expanded at each hop in which it is met, with a fanout for every relation into
// its type. Rounds of all thread counts take turns, so that ratios compare what ran within the same second or two. Rows
// of the GPU include the copy of each result to pinned host memory, as in the batch loader; of epochs there is
// `salient-bench steps --graph synthetic:mag --models rgcn`.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_device.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/measure.h"
#include "benchmarks/sampler_rounds.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/device_kind.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "store/open_store.h"
#include "store/synthetic.h"
#include "store/synthetic_typed.h"

namespace salient {
namespace {

struct TypedBenchOptions {
  std::string dataset = "synthetic:mag";
  std::vector<int> fanout{15, 10, 5};
  int batch_size = 1024;
  Draw draw = Draw::kUniform;
  int threads = 0;
  int batches = 5;
  int rounds = 7;
  std::optional<DeviceKind> device{};
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("dataset", self.dataset, "synthetic:mag[:SCALE], synthetic:igbh[:SCALE] without features, or a typed store");
  field("fanout", self.fanout, "neighbours kept per node, relation and hop; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per batch");
  field("draw", self.draw, "as of salient-train");
  field("threads", self.threads, "up to this many threads; 0 = all cores");
  field("batches", self.batches, "batches per thread and round, four times as many per stream of a GPU");
  field("rounds", self.rounds, "measurements of each kind");
  field("device", self.device, "auto, cpu: the host alone, cuda: it and the GPU");
  field("json", self.json, "also write the result to this file");
}

Dataset graph_of(const TypedBenchOptions& options) {
  if (!is_synthetic_typed_name(options.dataset)) {
    require_option(!is_synthetic_name(options.dataset),
                   "--dataset: of generated graphs synthetic:mag and synthetic:igbh");
    Dataset stored = open_store(options.dataset, /*num_threads=*/0, FeatureFile::kOrParts, GraphKind::kAny).dataset;
    require_option(stored.types.is_typed(), "--dataset: synthetic:mag, synthetic:igbh or a store of a typed graph");
    return stored;
  }
  SyntheticTypedOptions twin = parse_synthetic_typed_name(options.dataset);
  for (SyntheticTypedOptions::Type& type : twin.types) type.feature_dim = 0;
  return make_synthetic_dataset(twin);
}

/// Whether there are rows of it.
bool use_gpu(const TypedBenchOptions& options) {
  if (options.device == DeviceKind::kCpu) return false;
  const bool is_asked_for = options.device == DeviceKind::kCuda;
  const bool has_gpu = !gpu_name().empty();
  if (is_asked_for && !has_gpu) fail(ErrorKind::kNoDevice, "--device cuda: there is no GPU", Topic::kDevice);
  return has_gpu;
}

struct Rates {
  int num_threads = 1;
  SamplerRates sampler{};
  std::vector<double> reads_per_core_second{}, share_of_reads{};
};

std::vector<Rates> measure(const SamplingCase& sampling, int most_threads) {
  std::vector<std::unique_ptr<NeighborSampler>> samplers;
  std::vector<Mfg> mfgs(static_cast<std::size_t>(most_threads));
  for (Mfg& mfg : mfgs) {
    samplers.push_back(std::make_unique<NeighborSampler>(sampling.graph, sampling.rule));
    samplers.back()->sample(sampling.seeds_of(0), {}, mfg);  // grows the buffers
  }
  require(mfgs[0] == reference_sample(sampling.graph, sampling.rule, sampling.seeds_of(0), {}),
          "equal to the reference");
  std::vector<Rates> all;
  for (const int num_threads : thread_counts(most_threads)) all.push_back({num_threads});
  for (int round = 0; round < sampling.rounds; ++round) {
    log_info("round " + std::to_string(round + 1) + " of " + std::to_string(sampling.rounds));
    for (Rates& rates : all) {
      rates.reads_per_core_second.push_back(
          random_reads_per_core_second(sampling.graph.indices, rates.num_threads, static_cast<std::uint32_t>(round)));
      add_round(rates.sampler, rates.num_threads, sampling.batches, [&](int t, std::uint32_t batch) {
        Mfg& mfg = mfgs[static_cast<std::size_t>(t)];
        samplers[static_cast<std::size_t>(t)]->sample(sampling.seeds_of(batch), {1, 0, batch}, mfg);
        return std::pair(mfg.num_edges(), mfg.nodes.size());
      });
      rates.share_of_reads.push_back(rates.sampler.edges_per_core_second.back() / rates.reads_per_core_second.back());
    }
  }
  return all;
}

}  // namespace

int bench_typed(Arguments arguments) {
  TypedBenchOptions options;
  if (!read_options("typed", arguments, options)) return 0;
  check_rounds(options.rounds, options.threads);
  require_option(are_fanouts(options.fanout), "--fanout: each 1 to 65535, or -1 for all");
  require_option(options.batches >= 1, "--batches: at least 1");
  const bool has_gpu = use_gpu(options);
  log_info("generating the graph");
  const Dataset dataset = graph_of(options);
  require_option(options.batch_size >= 1 && static_cast<std::size_t>(options.batch_size) <= dataset.train.size(),
                 "--batch-size: 1 to the number of training nodes, " + std::to_string(dataset.train.size()));
  BenchReport report("typed",
                     "typed neighbour sampling, " + dataset.name + ", " + std::to_string(dataset.num_nodes()) +
                         " nodes, " + std::to_string(dataset.types.relations.size()) + " relations, " +
                         std::to_string(dataset.graph.indices.size()) + " entries, fanout " + to_text(options.fanout) +
                         " for each, batch " + std::to_string(options.batch_size),
                     {{"edges_per_second_median", "M edges/s median", 1e-6},
                      {"edges_per_second_best", "best", 1e-6},
                      {"nodes_per_second", "M nodes/s", 1e-6},
                      {"edges_per_core_second", "per core-second", 1e-6},
                      {"share_of_random_reads", "of reads", 1, 2}});
  report.add_settings(options);
  const SamplingCase sampling{.graph = dataset.graph,
                              .rule = {options.fanout, options.draw},
                              .batch_size = options.batch_size,
                              .batches = options.batches,
                              .rounds = options.rounds,
                              .train = dataset.train};
  const auto add_row = [&](const std::string& name, const SamplerRates& rates, double per_core, double of_reads) {
    const Spread edges = spread_of(rates.edges_per_second);
    report.add_row(name, {edges.median, edges.best, spread_of(rates.nodes_per_second).median, per_core, of_reads});
  };
  for (const Rates& rates : measure(sampling, options.threads > 0 ? options.threads : num_usable_cores()))
    add_row(counted(rates.num_threads, "thread"), rates.sampler, spread_of(rates.sampler.edges_per_core_second).median,
            spread_of(rates.share_of_reads).median);
  for (const int num_streams : {1, 3}) {
    if (!has_gpu) break;
    const std::string name = "GPU, " + counted(num_streams, "stream");
    log_info(name);
    add_row(name, sample_on_gpu(sampling, num_streams), BenchReport::kNone, BenchReport::kNone);
  }
  report.add_note("nodes are expanded at each hop in which they are met; checked against the reference sampler");
  report.add_note("of reads: edges per core-second over random reads of the entries in the same round");
  report.publish(options.json);
  return 0;
}

}  // namespace salient
