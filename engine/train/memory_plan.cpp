// engine/train/memory_plan.cpp - see memory_plan.h.
#include "engine/train/memory_plan.h"

#include <algorithm>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "core/value_text.h"
#include "engine/infer/node_scores.h"
#include "engine/train/run_model.h"
#include "loaders/batch.h"
#include "loaders/batch_loader.h"
#include "loaders/device_graph.h"
#include "loaders/node_set.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

constexpr int kProbes = 3;
constexpr double kHeadRoom = 1.25;  // slabs grow by this factor, and batches differ

struct BatchNeed {
  std::int64_t host_slab_bytes = 0;
  std::int64_t device_slab_bytes = 0;
  std::int64_t device_sampler_bytes = 0, host_sampler_bytes = 0;
  std::int64_t activation_bytes = 0;  // all layers' outputs, their gradients and the operators' scratch, f32
};

std::int64_t with_head_room(std::size_t bytes) {
  return static_cast<std::int64_t>(static_cast<double>(bytes) * kHeadRoom);
}

BatchNeed probe(const TrainOptions& options, const Dataset& dataset, const std::vector<int>& fanouts,
                std::span<const NodeId> seeds, std::size_t batch_size) {
  const Residency residency = options.machine.features.value_or(Residency::kHost);
  NeighborSampler sampler(dataset.graph, fanouts,
                          options.batches.with_replacement ? Replacement::kWith : Replacement::kWithout);
  Mfg mfg;
  BatchNeed need;
  for (std::uint32_t batch = 0; batch < kProbes && batch * batch_size < seeds.size(); ++batch) {
    const auto part = seeds.subspan(batch * batch_size, std::min(batch_size, seeds.size() - batch * batch_size));
    sampler.sample(part, {.seed = options.seed, .epoch = 1, .batch = batch}, mfg);
    const BatchLayout layout = lay_out_batch(shape_of(mfg), static_cast<LocalId>(part.size()), dataset, residency);
    std::int64_t activations = 0;
    std::int64_t width = dataset.feature_dim, sampler_bytes = 0, num_edges = 0;
    for (const HopLayout& hop : layout.hops) {
      sampler_bytes = std::max(sampler_bytes, device_sampler_bytes(hop.num_dst, hop.num_edges));
      num_edges += hop.num_edges;
      activations += 4 * std::int64_t{hop.num_dst} * (2 * width + std::int64_t{4} * options.model.hidden_dim);
      width = options.model.hidden_dim;
    }
    need.host_slab_bytes = std::max(need.host_slab_bytes, with_head_room(layout.prepared_bytes));
    need.device_slab_bytes = std::max(need.device_slab_bytes, with_head_room(layout.bytes));
    need.activation_bytes = std::max(need.activation_bytes, activations);
    need.device_sampler_bytes = std::max(need.device_sampler_bytes, sampler_bytes);
    need.host_sampler_bytes = std::max(need.host_sampler_bytes, host_sampler_bytes(layout.num_nodes, num_edges));
  }
  return need;
}

std::string in_column(const std::string& text) {
  constexpr std::size_t kWidth = 11;
  return std::string(kWidth - std::min(kWidth, text.size()), ' ') + text;
}

constexpr double kLeastCachedShare = 0.02;  // of the rows; with fewer of them a cache is not chosen
constexpr double kCacheOfTheRest = 0.9;     // of the memory that is left, since what is planned are estimates

/// "12 %"
std::string cached_share(const MemoryPlan& plan, const Dataset& dataset) {
  return fixed(100 * static_cast<double>(plan.cached_rows) / static_cast<double>(dataset.num_nodes()), 0) + " %";
}

/// Rows of `plan.device_available` that nothing else in the plan needs, or of what machine.cache_gb allows.
std::size_t rows_to_cache(const TrainOptions& options, const Dataset& dataset, const MemoryPlan& plan) {
  const auto rest = static_cast<double>(std::max<std::int64_t>(0, plan.device_available - plan.device_bytes));
  const double bytes = options.machine.cache_gb > 0 ? options.machine.cache_gb * 1e9 : rest * kCacheOfTheRest;
  const double rows = bytes / static_cast<double>(std::max<std::size_t>(1, dataset.features.row_bytes));
  return static_cast<std::size_t>(std::min(rows, static_cast<double>(dataset.num_nodes())));
}

std::int64_t feature_bytes(const Dataset& dataset) {
  return static_cast<std::int64_t>(dataset.features.num_rows * dataset.features.row_bytes);
}

}  // namespace

MemoryPlan choose_places(TrainOptions& options, const Dataset& dataset, std::optional<std::int64_t> free_device_bytes,
                         int num_ranks) {
  MachineOptions& machine = options.machine;
  if (!free_device_bytes) {
    if (machine.features.value_or(Residency::kHost) != Residency::kHost)
      fail(ErrorKind::kNoDevice, "feature rows in GPU memory (" + to_text(machine.features) + "): there is no GPU",
           Topic::kDeviceFeatures);
    if (machine.sampler == GraphResidency::kDevice)
      fail(ErrorKind::kNoDevice, "the graph in GPU memory: there is no GPU", Topic::kDeviceGraph);
    machine.features = Residency::kHost;
    machine.sampler = GraphResidency::kHost;
    return plan_memory(options, dataset, free_device_bytes, num_ranks);
  }
  const auto choices = []<class Where>(std::optional<Where> wanted, std::vector<Where> from_best) {
    return wanted ? std::vector{*wanted} : std::move(from_best);
  };
  const auto feature_choices =
      choices(machine.features, std::vector{Residency::kDevice, Residency::kCached, Residency::kHost});
  const auto sampler_choices = choices(machine.sampler, std::vector{GraphResidency::kDevice, GraphResidency::kHost});
  const bool may_cache_nothing = feature_choices.size() == 1;
  MemoryPlan plan;
  const auto take_first_that_fits = [&] {  // or else the last, which needs the least
    for (const Residency features : feature_choices)
      for (const GraphResidency sampler : sampler_choices) {
        machine.features = features;
        machine.sampler = sampler;
        plan = plan_memory(options, dataset, free_device_bytes, num_ranks);
        const bool is_worth_it =
            features != Residency::kCached || may_cache_nothing ||
            static_cast<double>(plan.cached_rows) >= kLeastCachedShare * static_cast<double>(dataset.num_nodes());
        if (plan.device_bytes <= plan.device_available && is_worth_it) return;
      }
  };
  take_first_that_fits();
  options.cached_rows = plan.cached_rows;
  const auto where = [](bool is_on_device) { return is_on_device ? "GPU" : "host"; };
  log_info("features (" + gigabytes(feature_bytes(dataset)) + ") in " + where(machine.features == Residency::kDevice) +
           " memory, " +
           (machine.features == Residency::kCached ? cached_share(plan, dataset) + " of them on the GPU too, " : "") +
           "sampling on the " + where(machine.sampler == GraphResidency::kDevice) + " (graph " +
           gigabytes(dataset.graph.num_bytes()) + "): the run needs " + gigabytes_needed(plan.device_bytes) +
           " of the " + gigabytes(plan.device_available) + " free on the GPU");
  return plan;
}

MemoryPlan plan_memory(const TrainOptions& options, const Dataset& dataset,
                       std::optional<std::int64_t> free_device_bytes, int num_ranks) {
  std::vector<NodeId> order(dataset.train.begin(), dataset.train.end());
  shuffle_seeds(order, options.seed, 1);
  const std::size_t largest_share =
      rank_share(order.size(), global_batch_of(options, num_ranks), /*batch=*/0, /*rank=*/0, num_ranks).count;
  const BatchNeed train = probe(options, dataset, options.batches.fanout, order, largest_share);
  const std::span<const NodeId> eval_nodes = dataset.valid.empty() ? dataset.test : dataset.valid;
  const BatchNeed eval = probe(options, dataset, options.evaluation.fanout, eval_nodes,
                               static_cast<std::size_t>(options.evaluation.batch_size));
  std::int64_t parameters = 0;
  for (const at::Tensor& p : make_model(model_options_of(options, dataset))->parameters()) parameters += p.numel();

  MemoryPlan plan;
  const bool gpu = free_device_bytes.has_value();
  const auto add = [&](std::string what, std::int64_t host, std::int64_t on_device) {
    plan.lines.push_back({std::move(what), host, on_device});
    plan.host_bytes += host;
    plan.device_bytes += on_device;
  };
  const std::string slots = std::to_string(options.machine.slots) + " slots";
  const std::int64_t device_slabs = gpu ? num_device_slabs(options.machine.slots) : 0;
  const std::int64_t activations = std::max(train.activation_bytes, eval.activation_bytes);
  if (options.machine.features == Residency::kDevice) add("features", 0, feature_bytes(dataset));
  if (options.machine.sampler == GraphResidency::kDevice) {
    add("graph", 0, dataset.graph.num_bytes());
    add("sampling on the GPU", 0, kDeviceSamplers * (train.device_sampler_bytes + eval.device_sampler_bytes));
  } else {
    const int workers = std::max(1, options.machine.workers);
    add("sampling, " + std::to_string(workers) + (workers == 1 ? " worker" : " workers"),
        workers * (train.host_sampler_bytes + eval.host_sampler_bytes), 0);
  }
  add("training batches, " + slots, options.machine.slots * train.host_slab_bytes,
      device_slabs * train.device_slab_bytes);
  add("evaluation batches, " + slots, options.machine.slots * eval.host_slab_bytes,
      device_slabs * eval.device_slab_bytes);
  add("activations and gradients of a batch", gpu ? 0 : activations, gpu ? activations : 0);
  if (has_roc_auc(dataset) && options.evaluation.metric.value_or(Metric::kRocAuc) == Metric::kRocAuc) {
    const auto scores =
        static_cast<std::int64_t>(std::max(dataset.valid.size(), dataset.test.size()) * num_binary_labels(dataset));
    const std::int64_t on_device = scores * 8, on_host = scores * 5;  // f32 twice; f32 and labels
    add("scores for ROC AUC", on_host + (gpu ? 0 : on_device), gpu ? on_device : 0);
  }
  add("parameters, gradients, Adam moments", gpu ? 0 : parameters * 16, gpu ? parameters * 16 : 0);
  add("libraries and buffers", gpu ? std::int64_t{2} << 30 : std::int64_t{300} << 20, gpu ? std::int64_t{1} << 30 : 0);
  plan.host_available = std::max<std::int64_t>(0, available_host_bytes());
  plan.device_available = free_device_bytes.value_or(0);
  if (options.machine.features == Residency::kCached) {
    plan.cached_rows = rows_to_cache(options, dataset, plan);
    add("cache of " + cached_share(plan, dataset) + " of the feature rows", node_set_bytes(dataset.num_nodes()),
        static_cast<std::int64_t>(plan.cached_rows * dataset.features.row_bytes));
  }
  return plan;
}

std::string to_text(const MemoryPlan& plan) {
  std::string text;
  const auto line = [&](const std::string& what, std::int64_t host, std::int64_t on_device) {
    std::string row = "  " + what;
    row.resize(std::max<std::size_t>(row.size(), 42), ' ');
    text +=
        row + in_column(gigabytes(host)) + (plan.device_available > 0 ? in_column(gigabytes(on_device)) : "") + "\n";
  };
  text += "memory plan" + std::string(31, ' ') + in_column("host") +
          (plan.device_available > 0 ? in_column("GPU") : "") + "\n";
  for (const MemoryPlan::Line& l : plan.lines) line(l.what, l.host_bytes, l.device_bytes);
  line("sum (the data set is a file mapping)", plan.host_bytes, plan.device_bytes);
  line("available now", plan.host_available, plan.device_available);
  text.pop_back();
  return text;
}

void check(const MemoryPlan& plan) {
  if (plan.host_bytes > plan.host_available)
    fail(ErrorKind::kHostMemory,
         "the run needs " + gigabytes_needed(plan.host_bytes) + " of host memory, available are " +
             gigabytes(plan.host_available),
         Topic::kTrainingMemory);
  if (plan.device_available > 0 && plan.device_bytes > plan.device_available)
    fail(ErrorKind::kDeviceMemory,
         "the run needs " + gigabytes_needed(plan.device_bytes) + " of GPU memory, available are " +
             gigabytes(plan.device_available),
         Topic::kTrainingMemory);
}

}  // namespace salient
