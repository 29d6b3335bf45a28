// engine/infer/exact_plan.cpp - see exact_plan.h.
#include "engine/infer/exact_plan.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "core/error.h"
#include "core/growth.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "engine/comm/agreement.h"
#include "models/batch_view.h"

namespace salient {
namespace {

/// The width of every layer's result, from a graph of one node without neighbours.
std::vector<std::size_t> widths_of(Model& model, std::int64_t in_dim, at::Device device) {
  const auto on = [&](at::ScalarType type) { return at::TensorOptions(device).dtype(type); };
  const HopView hop{1, 1, at::zeros({2}, on(at::kInt)), at::empty({0}, on(at::kInt)), at::zeros({1, 2}, on(at::kInt))};
  at::Tensor x = at::zeros({1, in_dim}, on(at::kFloat));
  std::vector<std::size_t> widths;
  for (int i = 0; i < model.num_layers(); ++i) {
    x = model.layer(i, hop, x, {});
    widths.push_back(static_cast<std::size_t>(x.size(1)));
  }
  return widths;
}

/// Of the input of the first layer: `num_rows` feature rows at most.
std::size_t bytes_of_rows(const Dataset& dataset, std::size_t num_rows) {
  if (!dataset.has_sparse_features()) return num_rows * dataset.gathered_row_bytes();
  return (num_rows + 1) * sizeof(LocalId) +
         dataset.sparse_features.longest.num_values(num_rows) * (sizeof(LocalId) + size_of(dataset.feature_type));
}

/// Bytes of all results that live while a layer is computed: its input, its own, and what is kept.
std::int64_t peak_bytes(const ExactPlan& plan) {
  const std::size_t last = plan.layers.size() - 1;
  std::int64_t peak = 0;
  for (std::size_t now = 0; now <= last; ++now) {
    std::int64_t alive = 0;
    for (std::size_t i = 0; i <= now && i < last; ++i)
      if (i + 1 >= now || plan.layers[i].is_kept)
        alive += static_cast<std::int64_t>(plan.needed.num_after[i] * plan.layers[i].width * sizeof(float));
    peak = std::max(peak, alive);
  }
  return peak;
}

ActivationStorage choose_storage(const ExactPlan& plan, const ExactOptions& options, const ComputeDevice& device) {
  const std::int64_t on_device =
      plan.activation_bytes + plan.slab_bytes / options.launch.ranks_on_host + 4 * plan.block_bytes;
  const bool fits_device = device.is_cuda() && on_device <= options.device_budget;
  if (options.storage == ActivationStorage::kDevice && !fits_device)
    fail(device.is_cuda() ? ErrorKind::kDeviceMemory : ErrorKind::kUsage,
         device.is_cuda() ? "activations and blocks take " + std::to_string(on_device >> 20) + " MB of GPU memory, " +
                                std::to_string(options.device_budget >> 20) + " MB may be used"
                          : "activations cannot be in GPU memory: this run is on the CPU",
         Topic::kActivations);
  if (options.storage) return *options.storage;
  if (fits_device) return ActivationStorage::kDevice;
  return plan.activation_bytes + plan.slab_bytes <= options.host_budget ? ActivationStorage::kMemory
                                                                        : ActivationStorage::kFile;
}

/// One storage for all, which has room on every rank. Collective.
ActivationStorage slowest_of_all_ranks(ActivationStorage mine, Communicator& comm) {
  std::string slowest(1, static_cast<char>(mine));
  for (const std::string& storage : comm.gather(slowest)) slowest = std::max(slowest, storage);
  comm.broadcast(slowest);
  return static_cast<ActivationStorage>(slowest[0]);
}

}  // namespace

std::size_t mean_row_bytes(const Dataset& dataset) {
  if (!dataset.has_sparse_features()) return dataset.gathered_row_bytes();
  return dataset.feature_bytes() / std::max<std::size_t>(1, dataset.num_nodes());
}

ExactOptions exact_options_for(const ComputeDevice& device, int workers, int slots) {
  const auto memory = device.memory();
  return {.host_budget = available_host_bytes() / 5 * 4,
          .device_budget = memory ? memory->free_bytes / 5 * 4 : 0,
          .workers = workers,
          .slots = slots};
}

ExactPlan plan_exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, std::span<const NodeId> targets,
                               const ExactOptions& options) {
  Model& model = ranks.model;
  const at::NoGradGuard no_gradients;
  model.eval();
  ExactPlan plan;
  together(ranks.comm, [&] {
    const std::vector<std::size_t> widths = widths_of(model, dataset.feature_dim, ranks.device.torch_device());
    std::size_t hidden_bytes = 0;  // of a row of the widest result that is another layer's input
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
      hidden_bytes = std::max(hidden_bytes, widths[i] * sizeof(float));
    const std::size_t row_bytes = std::max({hidden_bytes, mean_row_bytes(dataset), options.least_row_bytes});
    plan.needed = find_needed_nodes(dataset.graph, targets, model.num_layers());
    std::size_t most_rows = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::span<const NodeId> nodes = plan.needed.after(i);
      plan.layers.push_back(
          {.width = widths[i],
           .blocks = cut_blocks(dataset.graph, nodes, std::max<std::size_t>(1, options.block_bytes / row_bytes)),
           .is_kept = model.head_reads_all_layers() || static_cast<int>(i) + 1 == options.kept_layer});
      most_rows = std::max(most_rows, largest_block(dataset.graph, nodes, plan.layers.back().blocks));
    }
    plan.activation_bytes = peak_bytes(plan);
    most_rows = std::min(most_rows, dataset.num_nodes());
    plan.block_bytes = static_cast<std::int64_t>(
        std::max(most_rows * std::max(hidden_bytes, options.least_row_bytes), bytes_of_rows(dataset, most_rows)));
    plan.slab_bytes = with_growth(plan.block_bytes) * options.slots * options.launch.ranks_on_host;
    plan.storage = choose_storage(plan, options, ranks.device);
  });
  plan.storage = slowest_of_all_ranks(plan.storage, ranks.comm);
  return plan;
}

std::string to_text(const ExactPlan& plan) {
  std::string text = "exact inference:";
  for (std::size_t i = 0; i < plan.layers.size(); ++i)
    text += std::string(i == 0 ? " " : ", ") + "layer " + std::to_string(i + 1) + " for " +
            std::to_string(plan.needed.num_after[i]) + " nodes in " + std::to_string(plan.layers[i].blocks.size()) +
            " blocks";
  return text + "\nactivations: " + gigabytes(plan.activation_bytes) + " in " + to_text(plan.storage) +
         "; blocks: up to " + gigabytes(plan.block_bytes) + ", " + gigabytes(plan.slab_bytes) + " in flight";
}

}  // namespace salient
