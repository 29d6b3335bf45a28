// engine/train/training_needs.cpp - see training_needs.h.
#include "engine/train/training_needs.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/infer/node_scores.h"
#include "engine/infer/resident_predictions.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"
#include "engine/train/training_links.h"
#include "engine/train/training_plan.h"
#include "models/compute_bytes.h"
#include "models/describe/costs.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

/// Nodes that a batch of links has at most beside the links' ends: one for each negative, but where links share them
/// or pairs are given.
std::size_t nodes_of_negatives(const LinkRule& rule, std::size_t num_links) {
  const auto negatives = static_cast<std::size_t>(rule.negatives);
  switch (rule.sampler) {
    case NegativeSampler::kUniform:
    case NegativeSampler::kDegree: return num_links * negatives;
    case NegativeSampler::kInBatch: return num_links;                // of other ranks
    case NegativeSampler::kGiven: return 2 * num_links * negatives;  // pairs have ends of their own
    case NegativeSampler::kJoint: return rule.is_strict ? num_links * negatives : negatives;
  }
  return 0;
}

/// The most seeds of a batch: of each link both ends, and what stands for the ends of negatives.
std::size_t seeds_of_batch(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  const std::size_t items = largest_share(options, num_training_items(options, dataset), num_ranks);
  if (!predicts_links(options)) return items;
  return std::min(dataset.num_nodes(), 2 * items + nodes_of_negatives(options.links.rule, items));
}

/// Of the batches of training, with the largest share that a rank gets of a step.
BatchProbe training_probe(const TrainOptions& options, const Dataset& dataset, std::span<const NodeId> order,
                          int num_ranks) {
  return {.rule = training_rule(options, dataset),
          .time = options.batches.time.rule(),
          .seeds = order,
          .batch_size = seeds_of_batch(options, dataset, num_ranks),
          .degrees = degrees_for(reads_degrees(options.model)),
          .entries = entry_parts_for(options.model, dataset),
          .seed = options.seed};
}

BatchProbe evaluation_probe(const TrainOptions& options, const Dataset& dataset, std::span<const NodeId> order) {
  return {.rule = evaluation_rule(options, dataset),
          .time = options.batches.time.rule(),
          .seeds = predicts_links(options) ? order
                   : dataset.valid.empty() ? dataset.test
                                           : dataset.valid,
          .batch_size = static_cast<std::size_t>(options.evaluation.batch_size),
          .degrees = degrees_for(reads_degrees(options.model)),
          .entries = entry_parts_for(options.model, dataset),
          .seed = options.seed};
}

/// A loader's slots take memory with the first batch that they get.
int slots_used(int slots, std::size_t num_seeds, const BatchProbe& batches, int num_ranks) {
  const std::size_t of_a_step = std::max<std::size_t>(1, batches.batch_size) * static_cast<std::size_t>(num_ranks);
  return static_cast<int>(std::min(static_cast<std::size_t>(slots), (num_seeds + of_a_step - 1) / of_a_step));
}

/// Logits of the scored set and their columns on the device, ROC AUC on the host.
MemoryLine roc_auc_line(const Dataset& dataset, bool on_gpu) {
  const std::size_t num_nodes = std::max(dataset.valid.size(), dataset.test.size());
  const auto scores = static_cast<std::int64_t>(num_nodes * num_binary_labels(dataset) * sizeof(float));
  const std::int64_t host = roc_auc_bytes(dataset, num_nodes);
  return {"scores for ROC AUC", on_gpu ? host : host + scores, on_gpu ? 2 * scores : 0};
}

/// As batches of links with times see it at most: all nodes at the latest time. Keeps `times`.
Dataset seen_last(const Dataset& dataset, std::vector<std::int64_t>& times) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const LinkTable& links : dataset.links)
    for (const std::int64_t time : links.times) last = std::max(last, time);
  times.assign(dataset.num_nodes(), last);
  Dataset seen = dataset;
  seen.has_node_times = true;
  seen.node_times = times;
  return seen;
}

/// Parameters, their moments, and gradients of all but learned rows, which have those of a batch's.
std::int64_t optimiser_bytes(const LayerList& list) {
  constexpr std::int64_t kBytes = sizeof(float);
  return 4 * kBytes * num_parameters(list) - kBytes * num_learned(list);
}

}  // namespace

RunNeeds needs_of_training(const TrainOptions& options, const Dataset& as_it_is, bool on_gpu, int num_ranks) {
  std::vector<std::int64_t> latest;
  const bool is_timed = predicts_links(options) && as_it_is.has_link_times;
  const Dataset of_links = is_timed ? seen_last(as_it_is, latest) : Dataset();
  const Dataset& dataset = is_timed ? of_links : as_it_is;
  std::vector<NodeId> order = training_seeds(options, dataset);
  shuffle_seeds(order, options.seed, /*epoch=*/1);
  const ModelOptions model = model_options_of(options, dataset);
  const auto compute = [&](Gradients gradients) {
    return [&, gradients](const MfgShape& mfg) { return compute_bytes(model, mfg, gradients, input_of(dataset)); };
  };
  const BatchProbe training_batches = training_probe(options, dataset, order, num_ranks);
  const BatchProbe evaluation_batches = evaluation_probe(options, dataset, order);
  const BatchNeed training = probe_batches(dataset, training_batches, compute(Gradients::kAll));
  const BatchNeed evaluation = probe_batches(dataset, evaluation_batches, compute(Gradients::kNone));

  const MachineOptions& machine = options.machine;
  RunNeeds needs;
  needs.sampling = sampling_plan(training_batches);
  needs.sampling.seeds = predicts_links(options) ? std::span<const NodeId>() : dataset.train;  // which outlive this
  needs.sampling.excludes_links = predicts_links(options);
  needs.sampling.deal = options.batches.deal;
  const std::size_t largest_set =
      predicts_links(options) ? dataset.num_nodes() : std::max(dataset.valid.size(), dataset.test.size());
  needs.loaders = {
      {"training batches",
       predicts_links(options) ? machine.slots : slots_used(machine.slots, order.size(), training_batches, num_ranks),
       machine.workers, training},
      {"evaluation batches", slots_used(machine.slots, largest_set, evaluation_batches, num_ranks), machine.workers,
       evaluation}};
  const RunPlan if_it_fits = resolve(request_of(options, dataset, num_ranks), dataset, {.residency = kAllOnDevice});
  if (if_it_fits.training.is_resident())
    needs.loaders[0].if_resident = {"training steps on the GPU", 0,
                                    resident_steps_bytes(if_it_fits, dataset, num_ranks)};
  needs.resident_edges = if_it_fits.training.is_resident() && training_batches.entries.features;
  if (if_it_fits.evaluation.is_resident())
    needs.loaders[1].if_resident = {"evaluation on the GPU", 0,
                                    resident_predictions_bytes(if_it_fits.evaluation.spec, dataset)};
  const auto add = [&](const char* what, std::int64_t bytes) {
    needs.others.push_back({what, on_gpu ? 0 : bytes, on_gpu ? bytes : 0});
  };
  const std::int64_t of_a_batch = std::max(training.compute_bytes, evaluation.compute_bytes);
  add("activations and gradients of a batch", of_a_batch);
  if (!on_gpu && options.precision == Precision::kBf16)  // half as large, and not all of it at the same time
    add("factors as oneDNN rounds them to bfloat16", of_a_batch / 4);
  const Metric metric = options.evaluation.metric.value_or(Metric::kRocAuc);
  if (predicts_links(options))
    needs.others.push_back(
        {"rows of the ends of validation or test links",
         static_cast<std::int64_t>(dataset.num_nodes() * sizeof(float)) * std::int64_t{model.num_classes}, 0});
  if (!predicts_links(options) && has_roc_auc(dataset) &&
      (metric == Metric::kRocAuc || metric == Metric::kAveragePrecision))
    needs.others.push_back(roc_auc_line(dataset, on_gpu));
  add("parameters, gradients, Adam moments", optimiser_bytes(describe(model)));
  needs.others.push_back(libraries_line(on_gpu));
  return needs;
}

}  // namespace salient
