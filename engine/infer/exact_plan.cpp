// engine/infer/exact_plan.cpp - see exact_plan.h.
#include "engine/infer/exact_plan.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/growth.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "engine/comm/agreement.h"
#include "engine/infer/node_rows.h"
#include "models/batch_view.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

/// The first node of the target type with features of zeros: what the model's input() reads, and beside it what a hop
/// to this node alone has of types, in slots without entries.
void add_types_of_one_node(const Dataset& dataset, BatchView& view, HopView& hop) {
  const GraphSchema& schema = dataset.types;
  const auto target = static_cast<std::size_t>(schema.target_type);
  const auto num_rows = static_cast<std::int64_t>(dataset.slots->num_slots[target]);
  const at::TensorOptions ints = hop.indptr.options(), floats = ints.dtype(at::kFloat);
  const at::Tensor first = at::full({1}, static_cast<std::int64_t>(dataset.first_target()), ints.dtype(at::kLong));
  view.nodes = first.to(at::kInt);
  TypedHop typed{at::full({2}, num_rows, ints), at::zeros({num_rows}, ints), at::empty({0}, ints)};
  typed.row_begin[0] = 0;
  typed.relation_begin.assign(schema.relations.size() + 1, 0);
  for (std::size_t t = 0; t < schema.node_types.size(); ++t) {
    const std::int64_t count = t == target ? 1 : 0;
    const int dim = schema.node_types[t].features.dim;
    typed.nodes_of_type.push_back(at::zeros({count}, ints));
    typed.num_src_of_type.push_back(count);
    typed.num_dst_of_type.push_back(count);
    view.types.push_back({typed.nodes_of_type[t], dim > 0 ? InputRows(at::zeros({count, dim}, floats)) : InputRows()});
  }
  hop.indptr = at::zeros({num_rows + 1}, ints);
  hop.typed = std::move(typed);
}

/// The width of every layer's result, from a graph of one node without neighbours.
std::vector<std::size_t> widths_of(Model& model, const Dataset& dataset, at::Device device) {
  const auto on = [&](at::ScalarType type) { return at::TensorOptions(device).dtype(type); };
  HopView hop{1, 1, at::zeros({2}, on(at::kInt)), at::empty({0}, on(at::kInt)), at::zeros({1, 2}, on(at::kInt))};
  hop.row_weights = at::zeros({1}, on(at::kFloat));
  at::Tensor x;
  std::vector<std::size_t> widths;
  if (dataset.types.is_typed()) {
    BatchView view;
    add_types_of_one_node(dataset, view, hop);
    x = model.input(view, {}).dense();
    widths.push_back(static_cast<std::size_t>(x.size(1)));
  } else {
    x = at::zeros({1, dataset.feature_dim}, on(at::kFloat));
  }
  for (int i = 0; i < model.num_layers(); ++i) {
    x = model.layer(i, hop, x, {});
    widths.push_back(static_cast<std::size_t>(x.size(1)));
  }
  return widths;
}

/// The most of measure(shape, sparse table, nodes) of the types of a data set; a plain one is one type.
template <class Measure>
std::size_t most_of_types(const Dataset& dataset, Measure measure) {
  if (!dataset.types.is_typed()) return measure(dataset.feature_shape(), dataset.sparse_features, dataset.num_nodes());
  std::size_t most = 0;
  for (std::size_t t = 0; t < dataset.types.node_types.size(); ++t)
    most = std::max(most, measure(dataset.types.node_types[t].features, dataset.type_features[t].sparse,
                                  static_cast<std::size_t>(dataset.types.node_types[t].count)));
  return most;
}

std::size_t gathered_bytes(const FeatureShape& shape) {
  return static_cast<std::size_t>(shape.dim) * size_of(gathered_type(shape.type));
}

/// Of the first that reads features: `num_rows` feature rows at most.
std::size_t bytes_of_rows(const Dataset& dataset, std::size_t num_rows) {
  return most_of_types(dataset, [&](const FeatureShape& shape, const SparseRowTable& sparse, std::size_t) {
    if (!shape.is_sparse()) return num_rows * gathered_bytes(shape);
    return (num_rows + 1) * sizeof(LocalId) +
           sparse.longest.num_values(num_rows) * (sizeof(LocalId) + size_of(shape.type));
  });
}

/// Bytes of all results that live while a layer is computed: its input, its own, and what is kept.
std::int64_t peak_bytes(const ExactPlan& plan) {
  const std::size_t last = plan.layers.size() - 1, value_bytes = size_of(feature_type_of(plan.type));
  std::int64_t peak = 0;
  for (std::size_t now = 0; now <= last; ++now) {
    std::int64_t alive = 0;
    for (std::size_t i = 0; i <= now && i < last; ++i)
      if (i + 1 >= now || plan.layers[i].is_kept)
        alive += static_cast<std::int64_t>(plan.needed.num_after[i] * plan.layers[i].width * value_bytes);
    peak = std::max(peak, alive);
  }
  return peak;
}

/// Finds out which memory the plan takes, by place and type of the activations.
class MemoryOfPlan {
 public:
  MemoryOfPlan(ExactPlan& plan, const Dataset& dataset, const CsrGraph& rows, const ExactOptions& options, bool on_gpu)
      : plan_(plan), options_(options), on_gpu_(on_gpu) {
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
      if (plan.model_layer(i) >= 0)
        most_rows_ = std::max(most_rows_, largest_block(rows, plan.needed.after(i), plan.layers[i].blocks));
      else if (!plan.layers[i].blocks.empty())
        most_rows_ = plan.layers[i].blocks.front().count;
      if (i + 1 < plan.layers.size()) width_ = std::max(width_, plan.layers[i].width);
    }
    most_rows_ = std::min(most_rows_, dataset.num_nodes());
    feature_bytes_ = bytes_of_rows(dataset, most_rows_);
    nodes_bytes_ = static_cast<std::int64_t>((plan.needed.nodes.size() + plan.needed.row_of.size()) * sizeof(NodeId));
    plan.slots = options.slots;
    take(ActivationStorage::kMemory, ActivationDtype::kF32);
  }

  void take(ActivationStorage storage, ActivationDtype type) {
    plan_.storage = storage;
    plan_.type = type;
    plan_.activation_bytes = peak_bytes(plan_);
    plan_.block_bytes = block_bytes_of(type);
    plan_.compute_bytes = 4 * block_bytes_of(ActivationDtype::kF32);
    // what waits for other ranks' rows is blocks of the first layer, which have features
    plan_.slab_bytes =
        options_.launch.ranks_on_host * (with_growth(plan_.block_bytes) * plan_.slots +
                                         with_growth(static_cast<std::int64_t>(feature_bytes_)) * options_.waiting);
  }

  /// Of all ranks of this host. A file takes what is left, for pages that the kernel drops on demand.
  std::int64_t on_host() const {
    const std::int64_t num_samplers = std::max(1, std::min(options_.workers, plan_.slots));
    const auto rows = static_cast<std::int64_t>(most_rows_);
    const std::int64_t of_rank =
        nodes_bytes_ + num_samplers * host_sampler_bytes(rows, rows) + (on_gpu_ ? 0 : plan_.compute_bytes);
    return (plan_.storage == ActivationStorage::kMemory ? plan_.activation_bytes : 0) + plan_.slab_bytes +
           options_.launch.ranks_on_host * of_rank;
  }
  std::int64_t on_device() const {
    return plan_.activation_bytes + with_growth(plan_.block_bytes) * plan_.slots + plan_.compute_bytes;
  }

  /// Fewer blocks in flight, down to two, until they fit.
  void fit_slots(std::int64_t host_bytes) {
    while (on_host() > host_bytes && plan_.slots > 2) {
      --plan_.slots;
      take(plan_.storage, plan_.type);
    }
  }

 private:
  std::int64_t block_bytes_of(ActivationDtype type) const {
    const std::size_t row_bytes = std::max(width_ * size_of(feature_type_of(type)), options_.least_row_bytes);
    return static_cast<std::int64_t>(std::max(most_rows_ * row_bytes, feature_bytes_));
  }

  ExactPlan& plan_;
  const ExactOptions& options_;
  const bool on_gpu_;
  std::size_t most_rows_ = 0;  // of a block
  std::size_t width_ = 0;      // of the widest result that is another layer's input
  std::size_t feature_bytes_ = 0;
  std::int64_t nodes_bytes_ = 0;
};

/// Nodes and blocks of every layer. @param rows  of the data set's nodes
void lay_out(ExactPlan& plan, const ModelOnRanks& ranks, const Dataset& dataset, const CsrGraph& rows,
             std::span<const NodeId> targets, const ExactOptions& options) {
  const Model& model = ranks.model;
  const std::vector<std::size_t> widths = widths_of(ranks.model, dataset, ranks.device.torch_device());
  std::size_t hidden_bytes = 0;  // of a row of the widest result that is another layer's input
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) hidden_bytes = std::max(hidden_bytes, widths[i] * sizeof(float));
  const std::size_t row_bytes = std::max({hidden_bytes, mean_row_bytes(dataset), options.least_row_bytes});
  const std::size_t max_rows = std::max<std::size_t>(1, options.block_bytes / row_bytes);
  plan.has_input = dataset.types.is_typed();
  plan.needed = find_needed_nodes(rows, targets, static_cast<int>(widths.size()));
  for (std::size_t i = 0; i < widths.size(); ++i)
    plan.layers.push_back({.width = widths[i],
                           .blocks = plan.model_layer(i) < 0 ? cut_evenly(plan.needed.num_after[i], max_rows)
                                                             : cut_blocks(rows, plan.needed.after(i), max_rows),
                           .is_kept = model.head_reads_all_layers() ||
                                      (options.kept_layer > 0 && plan.model_layer(i) + 1 == options.kept_layer)});
}

struct Place {
  ActivationStorage storage;
  ActivationDtype type;
};

constexpr Place kFromBest[] = {{ActivationStorage::kDevice, ActivationDtype::kF32},
                               {ActivationStorage::kMemory, ActivationDtype::kF32},
                               {ActivationStorage::kMemory, ActivationDtype::kF16},
                               {ActivationStorage::kFile, ActivationDtype::kF32},
                               {ActivationStorage::kFile, ActivationDtype::kF16}};

[[noreturn]] void fail_for_memory(ErrorKind kind, std::int64_t bytes, std::int64_t free) {
  const bool on_host = kind == ErrorKind::kHostMemory;
  fail(kind,
       "layers' results and blocks take " + gigabytes_needed(bytes) +
           (on_host ? " of host memory, " : " of GPU memory, ") + gigabytes(free) + " may be used",
       Topic::kActivations);
}

/// Settles place and type. @return the place's index in kFromBest
std::size_t choose_place(const ExactPlan& plan, MemoryOfPlan& memory, const ExactOptions& options, bool on_gpu) {
  if (options.storage == ActivationStorage::kDevice && !on_gpu)
    fail(ErrorKind::kUsage, "activations cannot be in GPU memory: this run is on the CPU", Topic::kActivations);
  const std::int64_t host_budget = std::min(options.host_budget, options.free_host_bytes);
  std::optional<std::size_t> last;  // that the options allow
  for (std::size_t i = 0; i < std::size(kFromBest); ++i) {
    const auto [storage, type] = kFromBest[i];
    const bool is_device = storage == ActivationStorage::kDevice;
    if (options.storage.value_or(storage) != storage || options.type.value_or(type) != type) continue;
    if (is_device && !on_gpu) continue;
    memory.take(storage, type);
    last = i;
    const std::int64_t cached = storage == ActivationStorage::kFile ? plan.activation_bytes : 0;
    if (is_device ? memory.on_device() <= options.device_budget : memory.on_host() + cached <= host_budget) return i;
  }
  require(last.has_value(), "the options allow a place");
  if (kFromBest[*last].storage == ActivationStorage::kDevice)
    fail_for_memory(ErrorKind::kDeviceMemory, memory.on_device(), options.device_budget);
  return *last;
}

/// The same place for all, which has room on every rank. Collective.
std::size_t slowest_of_all_ranks(std::size_t mine, Communicator& comm) {
  std::string slowest(1, static_cast<char>(mine));
  for (const std::string& place : comm.gather(slowest)) slowest = std::max(slowest, place);
  comm.broadcast(slowest);
  return static_cast<std::size_t>(slowest[0]);
}

}  // namespace

std::size_t mean_row_bytes(const Dataset& dataset) {
  return most_of_types(dataset, [](const FeatureShape& shape, const SparseRowTable& sparse, std::size_t num_nodes) {
    if (!shape.is_sparse()) return gathered_bytes(shape);
    return static_cast<std::size_t>(sparse.num_bytes(size_of(shape.type))) / std::max<std::size_t>(1, num_nodes);
  });
}

ExactOptions exact_options_for(const ComputeDevice& device, int workers, int slots) {
  const auto memory = device.memory();
  const std::int64_t free = available_host_bytes();
  return {.host_budget = free / 5 * 4,
          .free_host_bytes = free / 10 * 9,
          .device_budget = memory ? memory->free_bytes / 5 * 4 : 0,
          .workers = workers,
          .slots = slots};
}

ExactPlan plan_exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, std::span<const NodeId> targets,
                               const ExactOptions& options) {
  const at::NoGradGuard no_gradients;
  ranks.model.eval();
  ExactPlan plan;
  std::optional<MemoryOfPlan> memory;
  std::size_t place = 0;
  const bool on_gpu = ranks.device.is_cuda();
  together(ranks.comm, [&] {
    const NodeRows rows(dataset.graph);
    lay_out(plan, ranks, dataset, rows.graph(), targets, options);
    memory.emplace(plan, dataset, rows.graph(), options, on_gpu);
    place = choose_place(plan, *memory, options, on_gpu);
  });
  place = slowest_of_all_ranks(place, ranks.comm);
  together(ranks.comm, [&] {
    memory->take(kFromBest[place].storage, kFromBest[place].type);
    memory->fit_slots(options.free_host_bytes);
    if (memory->on_host() > options.free_host_bytes)
      fail_for_memory(ErrorKind::kHostMemory, memory->on_host(), options.free_host_bytes);
  });
  return plan;
}

std::string ExactPlan::name_of_layer(std::size_t i) const {
  return model_layer(i) < 0 ? "input" : "layer " + std::to_string(model_layer(i) + 1);
}

std::string to_text(const ExactPlan& plan) {
  std::string text = "exact inference:";
  for (std::size_t i = 0; i < plan.layers.size(); ++i)
    text += (i == 0 ? " " : ", ") + plan.name_of_layer(i) + " for " + std::to_string(plan.needed.num_after[i]) +
            " nodes in " + std::to_string(plan.layers[i].blocks.size()) +
            (plan.layers[i].blocks.size() == 1 ? " block" : " blocks");
  return text + "\nactivations: " + gigabytes(plan.activation_bytes) + " in " + to_text(plan.storage) + ", " +
         name_of(plan.type) + "; blocks: up to " + gigabytes(plan.block_bytes) + ", " + gigabytes(plan.slab_bytes) +
         " in flight";
}

}  // namespace salient
