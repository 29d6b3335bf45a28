// engine/device/data_plan.cpp - see data_plan.h.
#include "engine/device/data_plan.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/number_text.h"
#include "engine/device/plan_shares.h"
#include "engine/device/typed_data.h"
#include "loaders/batch_loader.h"
#include "loaders/device_graph.h"
#include "loaders/exchange_depth.h"
#include "loaders/graph_tiers.h"
#include "loaders/node_set.h"
#include "loaders/shards.h"

namespace salient {
namespace {

constexpr double kLeastCachedShare = 0.02;  // of the rows: with fewer of them a cache is not worth its lookups
constexpr double kCacheOfTheRest = 0.9;     // of the memory that is left, since the lines are estimates
constexpr double kLeastGraphShare = 0.25;   // of the entries: below it the host samples faster

/// A graph in part has some of its entries, see add_part_of_graph().
constexpr DataResidency kFromBest[] = {
    {.features = Residency::kDevice, .graph = GraphResidency::kDevice},
    {.features = Residency::kSharded, .graph = GraphResidency::kDevice},
    {.features = Residency::kDevice, .graph = GraphResidency::kDevice, .graph_entries = 0},
    {.features = Residency::kSharded, .graph = GraphResidency::kDevice, .graph_entries = 0},
    {.features = Residency::kDevice, .graph = GraphResidency::kHost},
    {.features = Residency::kSharded, .graph = GraphResidency::kHost},
    {.features = Residency::kCached, .graph = GraphResidency::kDevice},
    {.features = Residency::kCached, .graph = GraphResidency::kHost},
    {.features = Residency::kCached, .graph = GraphResidency::kDevice, .graph_entries = 0},
    {.features = Residency::kHost, .graph = GraphResidency::kDevice},
    {.features = Residency::kHost, .graph = GraphResidency::kDevice, .graph_entries = 0},
    {.features = Residency::kHost, .graph = GraphResidency::kHost},
    {.features = Residency::kPartitioned, .graph = GraphResidency::kDevice},
    {.features = Residency::kPartitioned, .graph = GraphResidency::kDevice, .graph_entries = 0},
    {.features = Residency::kPartitioned, .graph = GraphResidency::kHost},
};

/// Whether fewer bytes were asked for than the whole graph takes.
bool is_limited(const ResidencyRequest& request, const Dataset& dataset) {
  return request.graph_bytes > 0 && request.graph_bytes < dataset.graph.num_bytes();
}

/// The whole graph unless it is limited; a part of it then, or where it may take what other rows leave.
bool is_wanted_on_gpu(const ResidencyRequest& request, const DataResidency& residency, const Dataset& dataset) {
  if (!residency.graph_entries) return !is_limited(request, dataset);
  return is_limited(request, dataset) || is_on_gpus(residency.features) ||
         (request.graph && residency.features != Residency::kCached);
}

/// Whether batches that loaders make have what the host's sampler alone finds.
bool carry_entries(const RunNeeds& needs) {
  return std::ranges::any_of(needs.loaders, [](const LoaderNeed& loader) { return loader.batch.entries.any(); });
}

/// Why the host samples, whatever fits; "" = the GPU can.
std::string obstacle_to_graph_on_gpu(const ResidencyRequest& request, const Dataset& dataset, const RunNeeds& needs) {
  const bool excludes = needs.sampling.excludes_links;
  const bool may_be_resident =
      !excludes && needs.resident_edges && is_on_gpus(request.features.value_or(Residency::kDevice));
  if (carry_entries(needs) && !may_be_resident) return "batches carry features or weights of edges";
  if (excludes && std::ranges::any_of(needs.loaders, [](const LoaderNeed& l) { return l.batch.sees_times; }))
    return "links are asked for at their times";
  const auto blind = std::ranges::find(needs.loaders, false, [](const LoaderNeed& l) { return l.batch.sees_times; });
  const bool is_seen = !needs.loaders.empty() && blind == needs.loaders.end();
  return dataset.has_edge_times && !is_seen ? "its rows are in the order of times, which nothing reads" : "";
}

/// Of the graph in GPU memory, whole or in part: what draws read of its entries.
std::int64_t bytes_of_values(const Dataset& dataset, const RunNeeds& needs) {
  const EntryData& of = dataset.graph.entries;
  const std::size_t weights = needs.sampling.rule.draw == Draw::kWeighted ? of.weights.size_bytes() : 0;
  return static_cast<std::int64_t>(weights + of.times.size_bytes());
}

bool is_wanted(const ResidencyRequest& request, const DataResidency& residency, const Dataset& dataset,
               const RunNeeds& needs) {
  if (dataset.types.is_typed() ? !is_possible_of_types(residency, dataset)
                               : dataset.has_sparse_features() && residency.features != Residency::kHost)
    return false;
  if (residency.features == Residency::kSharded && request.num_shards == 1 && !request.features) return false;
  if (residency.features == Residency::kPartitioned && !request.features) return false;
  if (residency.graph == GraphResidency::kDevice && !is_wanted_on_gpu(request, residency, dataset)) return false;
  if (residency.graph == GraphResidency::kDevice && !is_on_gpus(residency.features) && carry_entries(needs))
    return false;
  return request.features.value_or(residency.features) == residency.features &&
         request.graph.value_or(residency.graph) == residency.graph;
}

void add_line(DataPlan& plan, MemoryLine line) {
  plan.host_bytes += line.host_bytes;
  plan.device_bytes += line.device_bytes;
  plan.lines.push_back(std::move(line));
}

bool is_all_on_device(const DataResidency& residency) {
  return is_on_gpus(residency.features) && residency.graph == GraphResidency::kDevice;
}

/// All of them on this GPU, or a part.
void add_features(DataPlan& plan, const Dataset& dataset, int num_shards) {
  const std::int64_t on_device = device_feature_bytes(dataset);
  if (plan.residency.features == Residency::kDevice)
    add_line(plan, {on_device < static_cast<std::int64_t>(dataset.feature_bytes()) ? "dense features" : "features", 0,
                    on_device});
  if (plan.residency.features == Residency::kSharded)
    add_line(plan, {"features, one of " + std::to_string(num_shards) + " parts", 0,
                    shard_feature_bytes(dataset, num_shards)});
}

void add_sampling(DataPlan& plan, const Dataset& dataset, const RunNeeds& needs) {
  std::int64_t host = 0, device = 0;
  int workers = 1;
  const bool is_graph_there = plan.residency.graph == GraphResidency::kDevice;
  for (const LoaderNeed& loader : needs.loaders) {
    workers = std::max(workers, loader.num_workers);
    if (is_all_on_device(plan.residency) && loader.if_resident) continue;
    if (is_graph_there && !loader.batch.entries.any())
      device += kDeviceSamplers * loader.batch.device_sampler_bytes;
    else
      host += std::max(1, loader.num_workers) * loader.batch.host_sampler_bytes;
  }
  if (is_graph_there) {
    if (!plan.residency.graph_entries) add_line(plan, {"graph", 0, dataset.graph.num_bytes()});
    if (const std::int64_t bytes = bytes_of_values(dataset, needs); bytes > 0)
      add_line(plan, {"weights and times of edges", 0, bytes});
    add_line(plan, {"sampling on the GPU", 0, device});
  }
  if (!is_graph_there || host > 0)
    add_line(plan, {"sampling, " + std::to_string(workers) + (workers == 1 ? " worker" : " workers"), host, 0});
}

/// Of edges, for resident batches.
void add_edge_features(DataPlan& plan, const Dataset& dataset, const RunNeeds& needs) {
  if (!needs.resident_edges || !is_all_on_device(plan.residency)) return;
  plan.residency.edge_features = true;
  const RowTable& rows = dataset.edge_features;
  add_line(plan, {"features of edges", 0, static_cast<std::int64_t>(rows.num_rows * rows.row_bytes)});
}

/// GPU memory that is asked for, or if that is 0, what fits beside all other lines.
double bytes_for(std::int64_t asked_for, const DataPlan& plan) {
  if (asked_for > 0) return static_cast<double>(asked_for);
  const std::int64_t rest = plan.available.device_bytes.value_or(0) - plan.device_bytes;
  return kCacheOfTheRest * static_cast<double>(std::max<std::int64_t>(0, rest));
}

/// As many entries as there is memory for.
void add_part_of_graph(DataPlan& plan, const Dataset& dataset, const ResidencyRequest& request) {
  const std::int64_t bounds = tiered_bounds_bytes(dataset.num_nodes());
  const double bytes = bytes_for(request.graph_bytes, plan);
  const double room = std::max(0.0, bytes - static_cast<double>(bounds)) / sizeof(NodeId);
  const std::size_t all = dataset.graph.indices.size();
  const auto entries = static_cast<std::size_t>(std::min(room, static_cast<double>(all)));
  plan.residency.cache_policy = request.cache_policy;
  plan.residency.graph_entries = entries;
  add_line(plan,
           {"graph, " + graph_share(plan, dataset) + " on the GPU",
            static_cast<std::int64_t>((all - entries) * sizeof(NodeId)) + bytes_to_order_rows(dataset.num_nodes()),
            bounds + static_cast<std::int64_t>(entries * sizeof(NodeId))});
}

/// As many rows as there is memory for.
void add_cache(DataPlan& plan, const Dataset& dataset, const ResidencyRequest& request) {
  const double bytes = bytes_for(request.cache_bytes, plan);
  const std::size_t row_bytes = std::max<std::size_t>(1, dataset.features.row_bytes);
  const double rows = std::min(bytes / static_cast<double>(row_bytes), static_cast<double>(dataset.num_nodes()));
  DataResidency& residency = plan.residency;
  residency.cache_policy = request.cache_policy;
  if (dataset.types.is_typed())
    residency.cached_bytes =
        static_cast<std::size_t>(std::min(bytes, static_cast<double>(device_feature_bytes(dataset))));
  else
    residency.cached_rows = static_cast<std::size_t>(rows);
  add_line(plan,
           {"cache of " + cached_share(plan, dataset) + " of the " + (dataset.types.is_typed() ? "dense " : "") +
                "feature rows",
            node_set_bytes(dataset.num_nodes()) + bytes_to_choose(request.cache_policy, dataset.num_nodes()),
            static_cast<std::int64_t>(residency.cached_bytes + residency.cached_rows * dataset.features.row_bytes)});
}

/// Likewise of the rows that other GPUs have, and the set of them.
void add_near_copies(DataPlan& plan, const Dataset& dataset, const ResidencyRequest& request) {
  const std::size_t num_nodes = dataset.num_nodes(), own = num_nodes / static_cast<std::size_t>(request.num_shards);
  const std::size_t row_bytes = dataset.features.row_bytes;
  if (row_bytes == 0) return;
  const std::int64_t set_bytes = node_set_bytes(num_nodes);
  const double rows = std::max(0.0, bytes_for(request.cache_bytes, plan) - static_cast<double>(set_bytes)) /
                      static_cast<double>(row_bytes);
  plan.residency.cache_policy = request.cache_policy;
  plan.residency.cached_rows = static_cast<std::size_t>(std::min(rows, static_cast<double>(num_nodes - own)));
  if (plan.residency.cached_rows == 0) return;
  add_line(plan, {"copies of " + cached_share(plan, dataset) + " of the feature rows",
                  2 * set_bytes + static_cast<std::int64_t>(own * sizeof(NodeId)) +
                      bytes_to_choose(request.cache_policy, num_nodes),
                  static_cast<std::int64_t>(plan.residency.cached_rows * row_bytes) + set_bytes});
}

/// This rank's part, and copies of a tenth of a mean one's rows if the request says nothing else.
void add_part(DataPlan& plan, const Dataset& dataset, const ResidencyRequest& request) {
  const std::size_t num_nodes = dataset.num_nodes(), row_bytes = std::max<std::size_t>(1, dataset.features.row_bytes);
  const std::size_t mean =
      (num_nodes + static_cast<std::size_t>(request.num_ranks) - 1) / static_cast<std::size_t>(request.num_ranks);
  const std::size_t copied =
      request.cache_bytes > 0 ? static_cast<std::size_t>(request.cache_bytes) / row_bytes : mean / 10;
  plan.residency.cache_policy = request.cache_policy;
  plan.residency.cached_rows = std::min(copied, num_nodes - mean);
  const std::size_t own = request.part_size > 0 ? request.part_size : mean;
  const std::size_t held = std::min(num_nodes, own + plan.residency.cached_rows);
  add_line(plan, {"feature rows of a part, and " + std::to_string(plan.residency.cached_rows) + " others",
                  static_cast<std::int64_t>(held * row_bytes) + node_set_bytes(num_nodes) +
                      bytes_to_choose(request.cache_policy, num_nodes),
                  0});
}

/// The same where rows differ in width.
void add_part_of_types(DataPlan& plan, const Dataset& dataset, const ResidencyRequest& request) {
  const auto all = static_cast<std::size_t>(device_feature_bytes(dataset));
  const std::size_t mean = all / static_cast<std::size_t>(request.num_ranks);
  const std::size_t copied = request.cache_bytes > 0 ? static_cast<std::size_t>(request.cache_bytes) : mean / 10;
  plan.residency.cache_policy = request.cache_policy;
  plan.residency.cached_bytes = std::min(copied, all - mean);
  const std::size_t own = request.part_bytes > 0 ? request.part_bytes : mean;
  add_line(plan, {"dense rows of a part, and copies of others",
                  static_cast<std::int64_t>(std::min(all, own + plan.residency.cached_bytes)) +
                      node_set_bytes(dataset.num_nodes()) + bytes_to_choose(request.cache_policy, dataset.num_nodes()),
                  0});
}

DataPlan plan_with(const DataResidency& residency, const ResidencyRequest& request, const Dataset& dataset,
                   const RunNeeds& needs, const FreeMemory& free) {
  DataPlan plan{.residency = residency, .sampling = needs.sampling, .available = free};
  add_features(plan, dataset, request.num_shards);
  add_sampling(plan, dataset, needs);
  add_edge_features(plan, dataset, needs);
  for (const LoaderNeed& loader : needs.loaders) {
    if (is_all_on_device(residency) && loader.if_resident) {
      add_line(plan, *loader.if_resident);
      continue;
    }
    const BatchNeed::Slab& slab = loader.batch.slab(residency.features);
    // the ranks' exchange holds batches while their rows are on the way
    const int num_slots = loader.num_slots + (residency.features == Residency::kPartitioned ? kBatchesOnTheWay : 0);
    add_line(plan, {loader.what + ", " + std::to_string(num_slots) + " slots", num_slots * slab.host_bytes,
                    free.device_bytes ? num_device_slabs(loader.num_slots) * slab.device_bytes : 0});
  }
  for (const MemoryLine& line : needs.others) add_line(plan, line);
  if (residency.graph_entries) add_part_of_graph(plan, dataset, request);
  if (residency.features == Residency::kCached) add_cache(plan, dataset, request);
  const bool may_be_near = residency.features == Residency::kSharded && !dataset.types.is_typed();
  if (may_be_near && request.num_shards > 1) add_near_copies(plan, dataset, request);
  if (residency.features == Residency::kPartitioned)
    (dataset.types.is_typed() ? add_part_of_types : add_part)(plan, dataset, request);
  return plan;
}

/// @return  whether it fits; a cache or a part of the graph that was not asked for must also be worth it
bool is_good(const DataPlan& plan, const ResidencyRequest& request, const Dataset& dataset) {
  if (plan.device_bytes > plan.available.device_bytes.value_or(0)) return false;
  if (const auto& entries = plan.residency.graph_entries) {
    const bool is_worth_it =
        static_cast<double>(*entries) >= kLeastGraphShare * static_cast<double>(dataset.num_edges());
    if (plan.host_bytes > plan.available.host_bytes || (request.graph_bytes == 0 && !is_worth_it)) return false;
  }
  if (plan.residency.features != Residency::kCached || request.features) return true;
  const bool is_typed = dataset.types.is_typed();
  const auto cached = static_cast<double>(is_typed ? plan.residency.cached_bytes : plan.residency.cached_rows);
  const auto all =
      static_cast<double>(is_typed ? device_feature_bytes(dataset) : static_cast<std::int64_t>(dataset.num_nodes()));
  return cached >= kLeastCachedShare * all;
}

}  // namespace

MemoryLine libraries_line(bool on_gpu) {
  // Measured. LibTorch with CUDA takes 0.3 GB more than without from the start, also where a run uses no GPU.
  constexpr std::int64_t kOnCpu = std::int64_t{SALIENT_HAS_CUDA ? 420 : 160} << 20;
  return {"libraries and buffers", on_gpu ? std::int64_t{2} << 30 : kOnCpu, on_gpu ? std::int64_t{1} << 30 : 0};
}

DataPlan plan_residency(ResidencyRequest request, const Dataset& dataset, const RunNeeds& needs,
                        const FreeMemory& free) {
  const Residency without_gpu = request.features.value_or(Residency::kHost);
  if (dataset.types.is_typed()) check_request_of_types(request, dataset, is_limited(request, dataset));
  const bool is_sparse = dataset.has_sparse_features() && !dataset.types.is_typed();
  if (is_sparse && without_gpu == Residency::kPartitioned)
    fail(ErrorKind::kUsage, "partitioned feature rows were asked for; sparse ones, as this data set's, are not");
  if (is_sparse && without_gpu != Residency::kHost)
    fail(ErrorKind::kUsage,
         "feature rows in GPU memory were asked for; sparse ones, as this data set's, stay in host "
         "memory, and a store of dense ones would not");
  if (!free.device_bytes) {
    if (!is_x_from_host(without_gpu))
      fail(ErrorKind::kNoDevice, "feature rows in GPU memory were asked for, and there is no GPU",
           Topic::kDeviceFeatures);
    if (request.graph == GraphResidency::kDevice)
      fail(ErrorKind::kNoDevice, "the graph in GPU memory was asked for, and there is no GPU", Topic::kDeviceGraph);
    return plan_with({.features = without_gpu}, request, dataset, needs, free);
  }
  if (const std::string obstacle = obstacle_to_graph_on_gpu(request, dataset, needs); !obstacle.empty()) {
    if (request.graph == GraphResidency::kDevice)
      fail(ErrorKind::kUsage, "the graph in GPU memory was asked for, and " + obstacle, Topic::kDeviceGraph);
    request.graph = GraphResidency::kHost;
  }
  const std::int64_t bounds = tiered_bounds_bytes(dataset.num_nodes());
  if (is_limited(request, dataset) && request.graph_bytes < bounds)
    fail(ErrorKind::kUsage, gigabytes(request.graph_bytes, 3) +
                                " of GPU memory for the graph were asked for, and the bounds of its rows take " +
                                gigabytes_needed(bounds));
  DataPlan plan;
  for (const DataResidency& residency : kFromBest) {
    if (!is_wanted(request, residency, dataset, needs)) continue;
    plan = plan_with(residency, request, dataset, needs, free);
    if (is_good(plan, request, dataset)) break;
  }
  return plan;
}

void check(const DataPlan& plan) {
  if (plan.host_bytes > plan.available.host_bytes)
    fail(ErrorKind::kHostMemory,
         "the run needs " + gigabytes_needed(plan.host_bytes) + " of host memory, available are " +
             gigabytes(plan.available.host_bytes),
         plan.residency.graph_entries ? Topic::kDeviceGraph : Topic::kTrainingMemory);
  if (!plan.available.device_bytes || plan.device_bytes <= *plan.available.device_bytes) return;
  fail(ErrorKind::kDeviceMemory,
       "the run needs " + gigabytes_needed(plan.device_bytes) + " of GPU memory, available are " +
           gigabytes(*plan.available.device_bytes),
       is_on_gpus(plan.residency.features)               ? Topic::kDeviceFeatures
       : plan.residency.graph == GraphResidency::kDevice ? Topic::kDeviceGraph
                                                         : Topic::kTrainingMemory);
}

}  // namespace salient
