// benchmarks/typed_bench.cpp - sampled edges/s of a typed graph's twin on the host, beside bare reads of its entries.
//
// Seeds are training nodes. A node is expanded at each hop in which it is met, with a fanout for every relation into
// its type. Rounds of all thread counts take turns, so that ratios compare what ran within the same second or two.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_report.h"
#include "benchmarks/measure.h"
#include "benchmarks/sampler_rounds.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
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
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("dataset", self.dataset, "synthetic:mag[:SCALE], synthetic:igbh[:SCALE] without features, or a typed store");
  field("fanout", self.fanout, "neighbours kept per node, relation and hop; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per batch");
  field("draw", self.draw, "as of salient-train");
  field("threads", self.threads, "up to this many threads; 0 = all cores");
  field("batches", self.batches, "batches per thread and round");
  field("rounds", self.rounds, "measurements of each kind");
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

struct Rates {
  int num_threads = 1;
  SamplerRates sampler{};
  std::vector<double> reads_per_core_second{}, share_of_reads{};
};

std::vector<Rates> measure(const Dataset& dataset, const TypedBenchOptions& options, int most_threads) {
  const SamplingRule rule{options.fanout, options.draw};
  const auto size = static_cast<std::size_t>(options.batch_size);
  const auto seeds_of = [&](std::uint32_t batch) {
    return dataset.train.subspan(batch * size % (dataset.train.size() - size + 1), size);
  };
  std::vector<std::unique_ptr<NeighborSampler>> samplers;
  std::vector<Mfg> mfgs(static_cast<std::size_t>(most_threads));
  for (Mfg& mfg : mfgs) {
    samplers.push_back(std::make_unique<NeighborSampler>(dataset.graph, rule));
    samplers.back()->sample(seeds_of(0), {}, mfg);  // grows the buffers
  }
  require(mfgs[0] == reference_sample(dataset.graph, rule, seeds_of(0), {}), "equal to the reference");
  std::vector<Rates> all;
  for (const int num_threads : thread_counts(most_threads)) all.push_back({num_threads});
  for (int round = 0; round < options.rounds; ++round) {
    log_info("round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds));
    for (Rates& rates : all) {
      rates.reads_per_core_second.push_back(
          random_reads_per_core_second(dataset.graph.indices, rates.num_threads, static_cast<std::uint32_t>(round)));
      add_round(rates.sampler, rates.num_threads, options.batches, [&](int t, std::uint32_t batch) {
        Mfg& mfg = mfgs[static_cast<std::size_t>(t)];
        samplers[static_cast<std::size_t>(t)]->sample(seeds_of(batch), {1, 0, batch}, mfg);
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
  for (const Rates& rates : measure(dataset, options, options.threads > 0 ? options.threads : num_usable_cores())) {
    const Spread edges = spread_of(rates.sampler.edges_per_second);
    report.add_row(counted(rates.num_threads, "thread"),
                   {edges.median, edges.best, spread_of(rates.sampler.nodes_per_second).median,
                    spread_of(rates.sampler.edges_per_core_second).median, spread_of(rates.share_of_reads).median});
  }
  report.add_note("nodes are expanded at each hop in which they are met; checked against the reference sampler");
  report.add_note("of reads: edges per core-second over random reads of the entries in the same round");
  report.publish(options.json);
  return 0;
}

}  // namespace salient
