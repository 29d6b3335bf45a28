// engine/infer/exact_inference.cpp - see exact_inference.h.
#include "engine/infer/exact_inference.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/console/progress.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "core/timer.h"
#include "engine/comm/agreement.h"
#include "loaders/batch_loader.h"
#include "loaders/gather_rows.h"
#include "models/batch_view.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

/// The width of every layer's result, from a graph of one node without neighbours.
std::vector<std::size_t> widths_of(Model& model, std::int64_t in_dim, at::Device device) {
  const auto on = [&](at::ScalarType type) { return at::TensorOptions(device).dtype(type); };
  const HopView hop{1, 1, at::zeros({2}, on(at::kInt)), at::empty({0}, on(at::kInt))};
  at::Tensor x = at::zeros({1, in_dim}, on(at::kFloat));
  std::vector<std::size_t> widths;
  for (int i = 0; i < model.num_layers(); ++i) {
    x = model.layer(i, hop, x, {});
    widths.push_back(static_cast<std::size_t>(x.size(1)));
  }
  return widths;
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

ActivationPlace choose_place(const ExactPlan& plan, const ExactOptions& options, const ComputeDevice& device) {
  const std::int64_t on_device = plan.activation_bytes + plan.slab_bytes / options.ranks_on_host + 4 * plan.block_bytes;
  const bool fits_device = device.is_cuda() && on_device <= options.device_budget;
  if (options.place == ActivationPlace::kDevice && !fits_device)
    fail(device.is_cuda() ? ErrorKind::kDeviceMemory : ErrorKind::kUsage,
         device.is_cuda() ? "--activations device: needs " + std::to_string(on_device >> 20) + " MB of GPU memory, " +
                                std::to_string(options.device_budget >> 20) + " MB are free; use --activations auto"
                          : "--activations device: needs --device cuda");
  if (options.place) return *options.place;
  if (fits_device) return ActivationPlace::kDevice;
  return plan.activation_bytes + plan.slab_bytes <= options.host_budget ? ActivationPlace::kMemory
                                                                        : ActivationPlace::kFile;
}

/// One place for all, which has room on every rank. Collective.
ActivationPlace slowest_of_all_ranks(ActivationPlace mine, Communicator& comm) {
  std::string slowest(1, static_cast<char>(mine));
  for (const std::string& place : comm.gather(slowest)) slowest = std::max(slowest, place);
  comm.broadcast(slowest);
  return static_cast<ActivationPlace>(slowest[0]);
}

/// Feature rows of `nodes`, as the data set stores them.
at::Tensor features_of(const Dataset& dataset, std::span<const NodeId> nodes, const ComputeDevice& device) {
  const at::Tensor rows = at::empty({static_cast<std::int64_t>(nodes.size()), dataset.feature_dim},
                                    dataset.feature_type == FeatureType::kF16 ? at::kHalf : at::kFloat);
  gather_rows(dataset.features, nodes.data(), nodes.size(), static_cast<std::byte*>(rows.mutable_data_ptr()));
  return rows.to(device.torch_device());
}

/// One layer's blocks of this rank; as many on every rank, the last may be empty.
std::vector<BatchRequest> requests_of_rank(std::span<const NodeId> nodes, std::span<const RowBlock> blocks,
                                           const Communicator& comm) {
  const auto num_ranks = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::vector<BatchRequest> requests;
  for (std::size_t round = 0; round < num_global_batches(blocks.size(), num_ranks); ++round) {
    const std::size_t b = round * num_ranks + rank;
    const RowBlock block = b < blocks.size() ? blocks[b] : RowBlock{};
    requests.push_back(
        {.key = {.batch = static_cast<std::uint32_t>(b)}, .seeds = nodes.subspan(block.begin, block.count)});
  }
  return requests;
}

/// The run of one plan.
class LayerByLayer {
 public:
  LayerByLayer(Model& model, const Dataset& dataset, const ExactPlan& plan, const ExactOptions& options,
               const ComputeDevice& device, Communicator& comm, const OnRound& on_round)
      : model_(model),
        dataset_(dataset),
        plan_(plan),
        options_(options),
        device_(device),
        comm_(comm),
        on_round_(on_round),
        counter_(device.torch_device()),
        results_(plan.layers.size()) {}

  InferenceCounts run() {
    for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
      const bool is_last = i + 1 == plan_.layers.size();
      if (!is_last)
        results_[i] = make_activations(plan_.needed.num_after[i], plan_.layers[i].width, plan_.place, options_.scratch,
                                       device_, comm_, options_.host.empty() ? host_name() : options_.host);
      compute(i);
      if (!is_last) results_[i]->complete(plan_.layers[i].blocks);
      if (i > 0 && !plan_.layers[i - 1].is_kept) results_[i - 1].reset();
    }
    return counter_.sum_over_ranks(comm_);
  }

 private:
  /// The data set as layer i sees it: the same graph, the rows of the layer before.
  Dataset input_of(std::size_t i) const {
    Dataset input = dataset_;
    if (i == 0) return input;
    input.features = results_[i - 1]->table();
    input.feature_dim = static_cast<int>(plan_.layers[i - 1].width);
    input.feature_type = FeatureType::kF32;
    return input;
  }

  void compute(std::size_t i) {
    const bool is_last = i + 1 == plan_.layers.size();
    const std::span<const RowBlock> blocks = plan_.layers[i].blocks;
    const Dataset input = input_of(i);
    LoaderOptions loading{.fanouts = {kAllNeighbors},
                          .num_workers = options_.workers,
                          .num_slots = options_.slots,
                          .to_device = device_.is_cuda()};
    if (i == 0 && options_.device_features.data != nullptr)
      loading.data = {.features = Residency::kDevice, .device_rows = options_.device_features};
    if (i > 0) loading.row_of = plan_.needed.row_of;
    if (i > 0 && plan_.place == ActivationPlace::kDevice)
      loading.data = {.features = Residency::kDevice, .device_rows = input.features};
    BatchLoader loader(input, loading);
    Progress progress("layer " + std::to_string(i + 1) + " of " + std::to_string(plan_.layers.size()),
                      plan_.needed.num_after[i] / static_cast<std::size_t>(comm_.size()), "nodes");
    loader.start(requests_of_rank(plan_.needed.after(i), blocks, comm_));
    while (const Batch* batch = loader.next(device_.stream())) {
      InferenceRound round{.num_nodes = is_last ? batch->layout.num_seeds : 0};
      if (batch->layout.num_seeds > 0) {
        const BatchView view = view_of(*batch, device_.torch_device().index());
        const at::Tensor out = model_.layer(static_cast<int>(i), view.hops[0], view.x, {});
        const RowBlock& block = blocks[batch->key.batch];
        if (is_last)
          finish(block, view, out, round);
        else
          results_[i]->put(block.begin, out);
      }
      if (on_round_) on_round_(round);
      progress.add(static_cast<std::uint64_t>(batch->layout.num_seeds));
    }
  }

  /// What comes after the last layer.
  void finish(const RowBlock& block, const BatchView& view, const at::Tensor& out, InferenceRound& round) {
    const std::size_t num_layers = plan_.layers.size();
    round.layers.resize(num_layers + 1);
    if (model_.head_reads_all_layers())
      round.layers[0] =
          features_of(dataset_, plan_.needed.after(num_layers - 1).subspan(block.begin, block.count), device_);
    for (std::size_t i = 0; i + 1 < num_layers; ++i)
      if (plan_.layers[i].is_kept) round.layers[i + 1] = results_[i]->rows(block.begin, block.count);
    round.layers[num_layers] = out;
    round.logits = model_.head(round.layers, {});
    counter_.add(round.logits, view.y);
  }

  Model& model_;
  const Dataset& dataset_;
  const ExactPlan& plan_;
  const ExactOptions& options_;
  const ComputeDevice device_;
  Communicator& comm_;
  const OnRound& on_round_;
  AccuracyCounter counter_;
  std::vector<std::unique_ptr<Activations>> results_;  // [L], of the last layer none
};

}  // namespace

ExactOptions exact_options_for(const ComputeDevice& device, int workers, int slots) {
  const auto memory = device.memory();
  return {.host_budget = available_host_bytes() / 5 * 4,
          .device_budget = memory ? memory->free_bytes / 5 * 4 : 0,
          .workers = workers,
          .slots = slots};
}

ExactPlan plan_exact_inference(Model& model, const Dataset& dataset, std::span<const NodeId> targets,
                               const ExactOptions& options, const ComputeDevice& device, Communicator& comm) {
  const at::NoGradGuard no_gradients;
  model.eval();
  ExactPlan plan;
  together(comm, [&] {
    const std::vector<std::size_t> widths = widths_of(model, dataset.feature_dim, device.torch_device());
    std::size_t row_bytes = dataset.features.row_bytes;  // of the widest input
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) row_bytes = std::max(row_bytes, widths[i] * sizeof(float));
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
    plan.block_bytes = static_cast<std::int64_t>(std::min(most_rows, dataset.num_nodes()) * row_bytes);
    plan.slab_bytes = plan.block_bytes * 5 / 4 * options.slots * options.ranks_on_host;  // slabs grow by a quarter
    plan.place = choose_place(plan, options, device);
  });
  plan.place = slowest_of_all_ranks(plan.place, comm);
  return plan;
}

std::string to_text(const ExactPlan& plan) {
  std::string text = "exact inference:";
  for (std::size_t i = 0; i < plan.layers.size(); ++i)
    text += std::string(i == 0 ? " " : ", ") + "layer " + std::to_string(i + 1) + " for " +
            std::to_string(plan.needed.num_after[i]) + " nodes in " + std::to_string(plan.layers[i].blocks.size()) +
            " blocks";
  return text + "\nactivations: " + gigabytes(plan.activation_bytes) + " in " + to_text(plan.place) +
         "; blocks: up to " + gigabytes(plan.block_bytes) + ", " + gigabytes(plan.slab_bytes) + " in flight";
}

InferenceCounts exact_inference(Model& model, const Dataset& dataset, const ExactPlan& plan,
                                const ExactOptions& options, const ComputeDevice& device, Communicator& comm,
                                const OnRound& on_round) {
  const at::NoGradGuard no_gradients;
  const Timer timer;
  model.eval();
  InferenceCounts counts = LayerByLayer(model, dataset, plan, options, device, comm, on_round).run();
  counts.seconds = timer.seconds();
  return counts;
}

}  // namespace salient
