// engine/train/device_targets.cpp - see device_targets.h.
#include "engine/train/device_targets.h"

#include <numeric>
#include <span>
#include <vector>

#include "loaders/device_upload.h"
#include "models/resident/sampled_batches.h"
#include "store/target_scales.h"

namespace salient {
namespace {

template <class T>
DeviceArray<T> device_copy(const char* what, std::span<const T> items) {
  auto copy = make_device_array<T>(items.size());
  upload(what, std::as_bytes(items).data(), items.size_bytes(), reinterpret_cast<std::byte*>(copy.get()));
  return copy;
}

}  // namespace

DeviceTargets::DeviceTargets(const TrainOptions& options, const ResidentSpec& spec, const Dataset& dataset)
    : regression_(options.optimisation.loss.value_or(RegressionLoss::kMse)) {
  if (spec.links) {
    const LinkRule& rule = spec.links->rule;
    ends_ = device_copy("links", dataset.links[kTrainLinks].ends);
    links_ = {.ends = ends_.get(),
              .negatives = static_cast<std::uint32_t>(rule.negatives),
              .corrupt = rule.corrupt,
              .is_strict = rule.is_strict,
              .exclude = rule.exclude,
              .max_batch = static_cast<std::int64_t>(spec.links->max_batch)};
    pairs_ = {.are_scored = true, .negatives = links_->negatives, .corrupt = rule.corrupt, .loss = spec.links->loss};
    return;
  }
  if (dataset.task == Task::kRegression) {
    const std::vector<float> scaled = scaled_targets(dataset);
    values_ = device_copy("labels", std::span<const float>(scaled));
    return;
  }
  classes_ = device_copy("labels", dataset.label_table().classes);
  std::vector<float> weights = options.class_weights;
  if (weights.empty()) return;
  weights.push_back(std::accumulate(weights.begin(), weights.end(), 0.0F));  // behind them, for the kernel
  weights_ = device_copy("class weights", std::span<const float>(weights));
}

SeedTargets DeviceTargets::view() const {
  return {.classes = classes_.get(),
          .class_weights = weights_.get(),
          .values = values_.get(),
          .regression = regression_,
          .pairs = pairs_};
}

std::int64_t DeviceTargets::bytes(const ResidentSpec& spec, const Dataset& dataset) {
  if (spec.links) {
    constexpr auto kTrees = static_cast<std::int64_t>(SampledBatches::num_trees(SamplingLead::kThreeBatches));
    return static_cast<std::int64_t>(dataset.links[kTrainLinks].ends.size_bytes()) +
           kTrees * LinkStart::bytes(static_cast<std::int64_t>(spec.links->max_batch));
  }
  return static_cast<std::int64_t>(dataset.num_nodes() * dataset.label_type().row_bytes());
}

}  // namespace salient
