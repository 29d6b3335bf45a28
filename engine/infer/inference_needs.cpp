// engine/infer/inference_needs.cpp - see inference_needs.h.
#include "engine/infer/inference_needs.h"

#include "core/growth.h"
#include "engine/infer/node_scores.h"
#include "models/compute_bytes.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

/// NodeScores keeps the logits of nodes beside what ROC AUC takes.
void add_roc_auc(RunNeeds& needs, const Dataset& dataset, std::size_t num_nodes) {
  if (!has_roc_auc(dataset)) return;
  const std::size_t kept = num_nodes * (num_binary_labels(dataset) * sizeof(float) + sizeof(NodeId));
  needs.others.push_back(
      {"scores for ROC AUC", static_cast<std::int64_t>(kept) + roc_auc_bytes(dataset, num_nodes), 0});
}

MemoryLine where_computed(const char* what, std::int64_t bytes, bool on_gpu) {
  return {what, on_gpu ? 0 : bytes, on_gpu ? bytes : 0};
}

}  // namespace

RunNeeds needs_of_sampled_inference(const Dataset& dataset, const SampledShape& shape) {
  const BatchProbe probe{.rule = shape.loader.rule,
                         .time = shape.loader.time,
                         .seeds = shape.nodes,
                         .batch_size = shape.batch_size,
                         .degrees = shape.loader.degrees,
                         .entries = shape.loader.entries,
                         .seed = shape.seed};
  const BatchNeed batch = probe_batches(dataset, probe, [&](const MfgShape& mfg) {
    return compute_bytes(shape.model, mfg, Gradients::kNone, input_of(dataset));
  });
  RunNeeds needs;
  needs.sampling = sampling_plan(probe);
  needs.loaders = {{"batches", shape.loader.num_slots, shape.loader.num_workers, batch}};
  needs.resident_edges = shape.resident_bytes && shape.loader.entries.features;
  if (shape.resident_bytes) needs.loaders[0].if_resident = {"predictions on the GPU", 0, *shape.resident_bytes};
  needs.others = {where_computed("activations of a batch", batch.compute_bytes, shape.loader.to_device)};
  add_roc_auc(needs, dataset, shape.nodes.size());
  needs.others.push_back(libraries_line(shape.loader.to_device));
  return needs;
}

RunNeeds needs_of_exact_inference(const Dataset& dataset, const ExactPlan& plan, const ExactOptions& options,
                                  bool on_gpu) {
  const std::int64_t slab = with_growth(plan.block_bytes);
  BatchNeed block{.compute_bytes = plan.compute_bytes};
  block.slab_of.fill({slab, slab});
  block.slab_of[static_cast<std::size_t>(Residency::kCached)].device_bytes = 2 * slab;  // rows that missed, beside x
  const auto row_bytes = static_cast<std::int64_t>(mean_row_bytes(dataset));
  const std::int64_t num_rows = plan.block_bytes / std::max<std::int64_t>(1, row_bytes);
  block.host_sampler_bytes = host_sampler_bytes(num_rows, num_rows);

  RunNeeds needs;
  needs.loaders = {{"blocks", plan.slots, options.workers, block}};
  const bool is_on_device = plan.storage == ActivationStorage::kDevice;
  const bool is_in_memory = plan.storage == ActivationStorage::kMemory;
  needs.others = {{"layers' results", is_in_memory ? plan.activation_bytes / options.launch.ranks_on_host : 0,
                   is_on_device ? plan.activation_bytes : 0},
                  where_computed("computation of a block", block.compute_bytes, on_gpu)};
  add_roc_auc(needs, dataset, plan.layers.empty() ? 0 : plan.needed.num_after[plan.layers.size() - 1]);
  needs.others.push_back(libraries_line(on_gpu));
  return needs;
}

}  // namespace salient
