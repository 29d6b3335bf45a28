// loaders/resident_data.cpp - see resident_data.h.
#include "loaders/resident_data.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/timer.h"
#include "loaders/graph_tiers.h"

namespace salient {
namespace {

/// Without batches to expect, degrees are all that is known.
CachePolicy policy_for(const SamplingPlan& plan, const DataResidency& residency) {
  return plan.is_empty() ? CachePolicy::kDegree : residency.cache_policy;
}

/// Rows to copy, and how they were chosen, as text for the log.
struct ChosenRows {
  std::vector<NodeId> nodes;
  std::string how;
};

/// @param without  rows that need no copy; may be null
ChosenRows choose_rows(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan,
                       const NodeSet* without = nullptr) {
  const Timer timer;
  const CachePolicy policy = policy_for(plan, residency);
  std::vector<NodeId> nodes = nodes_to_cache(dataset.graph, policy, plan, residency.cached_rows, without);
  return {std::move(nodes), "chosen by " + name_of(policy) + " in " + fixed(timer.seconds(), 1) + " s"};
}

std::string percent(double share) { return fixed(100 * share, 0) + " %"; }

/// The share of a batch's rows that are in a set, as text.
std::string percent_in(const NodeSet& set, const Dataset& dataset, const SamplingPlan& plan) {
  return percent(share_in(set, dataset.graph, plan));
}

/// Says how the rows were chosen, how long that took and what it is worth.
std::unique_ptr<FeatureCache> make_cache(const Dataset& dataset, const DataResidency& residency,
                                         const SamplingPlan& plan) {
  const ChosenRows chosen = choose_rows(dataset, residency, plan);
  auto cache = std::make_unique<FeatureCache>(dataset, chosen.nodes);
  log_info("cached rows " + chosen.how +
           (plan.is_empty() ? "" : ", with " + percent_in(cache->nodes(), dataset, plan) + " of a batch's rows"));
  return cache;
}

/// The same of a typed graph.
std::unique_ptr<TypeCaches> make_type_caches(const Dataset& dataset, const DataResidency& residency,
                                             const SamplingPlan& plan) {
  const Timer timer;
  const CachePolicy policy = policy_for(plan, residency);
  const std::vector<std::size_t> row_bytes = dense_row_bytes(dataset);
  const RowSizes sizes{*dataset.slots, row_bytes};
  const std::vector<NodeId> nodes = nodes_to_cache(dataset.graph, policy, plan, residency.cached_bytes, sizes);
  auto caches = std::make_unique<TypeCaches>(dataset, nodes);
  std::string line =
      "cached rows of each type chosen by " + name_of(policy) + " in " + fixed(timer.seconds(), 1) + " s";
  if (!plan.is_empty()) {
    const NodeSet set(dataset.num_nodes(), nodes);
    line += ", with " + percent(share_in(set, dataset.graph, plan, sizes)) + " of the bytes of a batch's rows";
  }
  log_info(line);
  return caches;
}

/// Copies of the rows in other GPUs' parts that this rank's batches are expected to meet most.
std::unique_ptr<NearCopies> make_copies(const Dataset& dataset, const DataResidency& residency,
                                        const SamplingPlan& plan, const Shards& shards) {
  const auto [first, count] = shards.own_rows();
  std::vector<NodeId> here(count);
  std::iota(here.begin(), here.end(), static_cast<NodeId>(first));
  const NodeSet own(dataset.num_nodes(), here);
  const ChosenRows chosen = choose_rows(dataset, residency, plan, &own);
  auto copies = std::make_unique<NearCopies>(shards, chosen.nodes);
  log_info("copies of " + std::to_string(chosen.nodes.size()) + " rows of other GPUs, " + chosen.how +
           (plan.is_empty() ? ""
                            : "; of a batch's rows " + percent_in(copies->nodes(), dataset, plan) + " are copies, " +
                                  percent_in(own, dataset, plan) + " in this GPU's part"));
  return copies;
}

/// The share of a batch's rows that are in each, as text for the log.
std::string shares_text(const Dataset& dataset, const SamplingPlan& plan, const NodeSet& held, const NodeSet& own) {
  if (plan.is_empty()) return "";
  return "; of a batch's rows " + percent_in(held, dataset, plan) + " are here, " + percent_in(own, dataset, plan) +
         " in its part";
}

/// Rows of other parts to copy.
std::vector<NodeId> rows_of_others(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan,
                                   const NodeSet& own) {
  if (!dataset.types.is_typed())
    return nodes_to_cache(dataset.graph, residency.cache_policy, plan, residency.cached_rows, &own);
  const std::vector<std::size_t> row_bytes = dense_row_bytes(dataset);
  return nodes_to_cache(dataset.graph, residency.cache_policy, plan, residency.cached_bytes,
                        RowSizes{*dataset.slots, row_bytes}, &own);
}

/// The rows of this rank's part, and copies of the other rows that its batches are expected to meet most.
std::unique_ptr<PartRows> make_part(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan,
                                    const RankOfRun& rank) {
  Parts parts = open_parts_of_ranks(dataset, rank.num_ranks);
  const NodeSet own(dataset.num_nodes(), nodes_of_part(parts, rank.rank));
  SamplingPlan of_rank = plan;
  std::vector<NodeId> dealt;
  if (plan.deal == DealKind::kOwner) {
    dealt = seeds_of_rank(plan.seeds, parts.owner, parts.num_parts, rank.rank, rank.num_ranks);
    of_rank.seeds = dealt;
  }
  const std::vector<NodeId> copied = rows_of_others(dataset, residency, of_rank, own);
  auto part = std::make_unique<PartRows>(dataset, std::move(parts), rank.rank, copied);
  log_info("feature rows on rank " + std::to_string(rank.rank) + ": " + std::to_string(own.size()) + " of its part, " +
           std::to_string(copied.size()) + " copies of others" + shares_text(dataset, of_rank, part->held(), own));
  return part;
}

/// The whole graph, or the rows of it that batches are expected to read most for their size.
std::unique_ptr<DeviceGraph> make_graph(const Dataset& dataset, const DataResidency& residency,
                                        const SamplingPlan& plan) {
  CsrGraph graph = dataset.graph;
  if (plan.rule.draw != Draw::kWeighted) graph.entries.weights = {};  // nothing reads them
  if (!residency.graph_entries) return std::make_unique<DeviceGraph>(graph);
  const Timer timer;
  const CachePolicy policy = policy_for(plan, residency);
  const GraphTiers tiers(graph, row_values(graph, policy, plan), *residency.graph_entries);
  std::string line =
      "rows of the graph for GPU memory chosen by " + name_of(policy) + " in " + fixed(timer.seconds(), 1) + " s";
  if (!plan.is_empty()) {
    const NodeSet hot(graph.num_nodes(), tiers.hot_nodes());
    line += ", with " + percent(share_of_rows_in(hot, graph, plan_of_rows(plan))) + " of those that a batch reads";
  }
  log_info(line);
  return std::make_unique<DeviceGraph>(graph, tiers);
}

}  // namespace

ResidentData::ResidentData(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan,
                           std::vector<std::unique_ptr<Shards>> shards, const RankOfRun& rank)
    : shards_(std::move(shards)) {
  const bool is_typed = dataset.types.is_typed();
  const std::size_t num_tables = is_typed ? dataset.type_features.size() : 1;
  require(shards_.size() == (residency.features == Residency::kSharded ? num_tables : 0),
          "shards where features are sharded");
  if (residency.features == Residency::kDevice && !is_typed) features_.emplace(dataset.features);
  if (is_typed && is_on_gpus(residency.features)) put_types_on_device(dataset);
  if (residency.features == Residency::kCached && !is_typed) cache_ = make_cache(dataset, residency, plan);
  if (residency.features == Residency::kCached && is_typed) type_caches_ = make_type_caches(dataset, residency, plan);
  if (!is_typed && !shards_.empty() && residency.cached_rows > 0)
    near_ = make_copies(dataset, residency, plan, *shards_.front());
  if (residency.features == Residency::kPartitioned) part_ = make_part(dataset, residency, plan, rank);
  if (residency.graph == GraphResidency::kDevice) graph_ = make_graph(dataset, residency, plan);
  if (residency.edge_features && dataset.edge_feature_dim > 0) edge_features_.emplace(dataset.edge_features);
}

/// The dense rows of all types: of shards that have them, or copies.
void ResidentData::put_types_on_device(const Dataset& dataset) {
  for (std::size_t t = 0; t < dataset.type_features.size(); ++t) {
    const RowTable& rows = dataset.type_features[t].rows;
    if (!shards_.empty())
      type_rows_.push_back(shards_[t] ? shards_[t]->table() : RowTable{});
    else
      type_rows_.push_back(rows.row_bytes > 0 ? type_features_.emplace_back(rows).table() : RowTable{});
  }
}

ResidentView ResidentData::view() const {
  ResidentView view{.graph = graph_.get()};
  if (features_ || (type_rows_.empty() && !shards_.empty())) {
    view.features = Residency::kDevice;
    view.device_rows = features_ ? features_->table() : shards_.front()->table();
    if (near_) view.device_rows.near = near_->rows();
  }
  if (!type_rows_.empty()) {
    view.features = Residency::kDevice;
    view.type_rows = type_rows_;
  }
  if (cache_) {
    view.features = Residency::kCached;
    view.device_rows = cache_->table();
    view.cached = &cache_->nodes();
  }
  if (type_caches_) {
    view.features = Residency::kCached;
    view.type_rows = type_caches_->tables();
    view.type_cached = type_caches_->rows();
  }
  if (part_) {
    view.features = Residency::kPartitioned;
    view.part = part_.get();
  }
  if (edge_features_) view.edge_rows = edge_features_->table();
  return view;
}

}  // namespace salient
