// benchmarks/cache_bench.cpp - what share of the rows of training batches a cache finds, by what chose its rows.
//
// Nothing is gathered: an epoch is sampled by other random numbers than those that the policies see, and each node that
// a batch meets counts once. `best possible` is a cache that knew that epoch. The last row is of the graph's rows that
// batches read, where a share of the entries is in GPU memory, as --graph-gb chooses them.
#include <string>
#include <vector>

#include "benchmarks/bench_report.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/number_text.h"
#include "core/timer.h"
#include "loaders/cached_nodes.h"
#include "loaders/graph_tiers.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/sampling_rule.h"
#include "sampler/seed_order.h"
#include "store/synthetic.h"

namespace salient {
namespace {

struct CacheBenchOptions {
  std::string like = "papers100M";
  double scale = 0.02;
  double train_communities = 1;
  double community_edges = 0;
  std::vector<int> fanout{15, 10, 5};
  Draw draw = Draw::kUniform;
  int batch_size = 20;
  std::vector<double> shares{0.01, 0.05, 0.1, 0.2};
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("like", self.like, "arxiv | products | papers100M | mag240M: generated in its size and shape");
  field("scale", self.scale, "share of its nodes, up to 1");
  field("train-communities", self.train_communities, "as of salient-prepare synthetic");
  field("community-edges", self.community_edges, "likewise");
  field("fanout", self.fanout, "neighbours kept per node and hop; -1 keeps all");
  field("draw", self.draw, "as of salient-train");
  field("batch-size", self.batch_size,
        "seeds per batch; as small a part of 1024 as the scale is of 1 keeps the shares");
  field("shares", self.shares, "of the rows that are cached");
  field("json", self.json, "also write the result to this file");
}

Dataset make_graph(const CacheBenchOptions& options) {
  SyntheticOptions wanted = synthetic_like(options.like, options.scale);
  cluster_split(wanted, options.train_communities);
  keep_edges_inside(wanted, options.community_edges);
  wanted.feature_dim = 0;
  return make_synthetic_dataset(wanted);
}

BenchReport new_report(const CacheBenchOptions& options, const Dataset& dataset) {
  std::vector<BenchColumn> columns{{"seconds_to_choose", "seconds", 1, 2}};
  for (const double share : options.shares)
    columns.push_back({"found_at_" + to_text(share), "at " + fixed(100 * share, 1) + " %", 1, 3});
  BenchReport report("cache",
                     "rows of training batches found in a cache, " + dataset.name + ", " +
                         std::to_string(dataset.num_nodes()) + " nodes, " + std::to_string(dataset.num_edges()) +
                         " entries, fanout " + to_text(options.fanout) + ", batch " +
                         std::to_string(options.batch_size),
                     std::move(columns));
  report.add_settings(options);
  return report;
}

std::vector<double> found_by(const std::vector<std::uint32_t>& visits, const std::vector<std::vector<NodeId>>& caches) {
  double all = 0;
  for (const std::uint32_t count : visits) all += count;
  std::vector<double> found;
  for (const std::vector<NodeId>& nodes : caches) {
    double sum = 0;
    for (const NodeId node : nodes) sum += visits[node];
    found.push_back(sum / all);
  }
  return found;
}

void add_row(BenchReport& report, const std::string& name, double seconds, const std::vector<double>& found) {
  std::vector<double> values{seconds};
  values.insert(values.end(), found.begin(), found.end());
  report.add_row(name, std::move(values));
}

/// Row by row of the graph: who is read, and where vip puts it.
void add_row_of_graph(BenchReport& report, const CsrGraph& graph, SamplingPlan plan,
                      const std::vector<double>& shares) {
  log_info("rows of the graph");
  const std::uint32_t seed = plan.seed++;
  std::vector<std::uint32_t> reads = counted_visits(graph, plan_of_rows(plan), /*num_epochs=*/1);
  for (std::size_t v = 0; v < reads.size(); ++v)
    if (graph.degree(v) == 0) reads[v] = 0;  // nothing is there to be read
  plan.seed = seed;
  const Timer timer;
  const std::vector<float> values = row_values(graph, CachePolicy::kVip, plan);
  std::vector<std::vector<NodeId>> hot;
  for (const double share : shares)
    hot.push_back(GraphTiers(graph, values, static_cast<std::size_t>(share * static_cast<double>(graph.indices.size())))
                      .hot_nodes());
  add_row(report, "vip, rows of the graph", timer.seconds(), found_by(reads, hot));
}

}  // namespace

int bench_cache(Arguments arguments) {
  CacheBenchOptions options;
  if (!read_options("cache", arguments, options)) return 0;
  for (const auto& [field, rule] : problems_like(options.like, options.scale))
    require_option(false, "--" + field + ": " + rule);
  require_option(options.train_communities > 0 && options.train_communities <= 1,
                 "--train-communities: above 0 and at most 1");
  require_option(options.community_edges >= 0 && options.community_edges <= 1, "--community-edges: 0 to 1");
  require_option(are_fanouts(options.fanout), "--fanout: each 1 to 65535, or -1 for all");
  require_option(options.batch_size >= 1, "--batch-size: at least 1");
  for (const double share : options.shares)
    require_option(share > 0 && share <= 1, "--shares: each above 0 and at most 1");
  const Dataset dataset = make_graph(options);
  const CsrGraph& graph = dataset.graph;
  SamplingPlan plan{.rule = {options.fanout, options.draw},
                    .seeds = dataset.train,
                    .batch_size = static_cast<std::size_t>(options.batch_size),
                    .seed = 2};
  log_info("sampling an epoch");
  const std::vector<std::uint32_t> visits = counted_visits(graph, plan, /*num_epochs=*/1);
  plan.seed = 1;
  BenchReport report = new_report(options, dataset);
  const auto caches_of = [&](auto&& choose) {
    std::vector<std::vector<NodeId>> caches;
    for (const double share : options.shares)
      caches.push_back(choose(static_cast<std::size_t>(share * static_cast<double>(dataset.num_nodes()))));
    return caches;
  };
  for (const EnumName<CachePolicy>& policy : names_of(CachePolicy{})) {
    double seconds = 0;
    const auto caches = caches_of([&](std::size_t count) {
      log_info(std::string(policy.name) + ", " + std::to_string(count) + " rows");
      const Timer timer;
      std::vector<NodeId> nodes = nodes_to_cache(graph, policy.value, plan, count);
      seconds = timer.seconds();
      return nodes;
    });
    add_row(report, policy.name, seconds, found_by(visits, caches));
  }
  const std::vector<float> known(visits.begin(), visits.end());
  add_row(report, "best possible", BenchReport::kNone,
          found_by(visits, caches_of([&](std::size_t count) { return most_visited_nodes(known, count); })));
  add_row_of_graph(report, graph, plan, options.shares);
  double num_rows = 0;
  for (const std::uint32_t count : visits) num_rows += count;
  const auto num_batches = static_cast<double>(num_global_batches(plan.seeds.size(), plan.batch_size));
  report.add_note(fixed(num_rows / num_batches, 0) + " rows a batch, draw " + name_of(options.draw));
  report.add_note("seconds: to choose the last of these caches, on all cores");
  report.publish(options.json);
  return 0;
}

}  // namespace salient
