// engine/train/model_steps.cpp - see model_steps.h.
#include "engine/train/model_steps.h"

#include <utility>

#include "core/cuda/cuda.h"
#include "engine/infer/resident_model.h"
#include "engine/train/resident_steps.h"
#include "loaders/device_upload.h"
#include "models/resident/model_step.h"

namespace salient {
namespace {

ModelStepShape step_shape(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  ModelStepShape shape = model_step_shape_of(training_spec(options, dataset, num_ranks), dataset, StepUse::kTraining);
  shape.label_smoothing = options.optimisation.label_smoothing;
  return shape;
}

class ModelSteps final : public GradientSteps {
 public:
  explicit ModelSteps(const StepParts& parts)
      : parts_(parts),
        labels_(upload_classes(parts.run.dataset)),
        step_(step_shape(parts.options, parts.run.dataset, parts.run.comm.size()),
              {sage_data_of(parts.run.dataset, parts.run.data.view()), labels_.get(), step_tensors_of(parts.model),
               parts.objective.sums()}) {}

  void start(std::vector<BatchRequest> requests, std::vector<double>) override {
    requests_ = std::move(requests);
    next_ = 0;
    step_.start_epoch(parts_.seeds.order());
  }

  std::size_t next(std::uint32_t global_step) override {
    parts_.clock.batch_arrived();
    if (next_ == requests_.size()) return 0;
    const BatchRequest& request = requests_[next_++];
    const auto first = static_cast<std::uint32_t>(request.seeds.data() - parts_.seeds.order().data());
    step_.run({.seed = request.key.seed,
               .epoch = request.key.epoch,
               .batch = request.key.batch,
               .global_step = global_step,
               .first_seed = first,
               .num_seeds = static_cast<std::uint32_t>(request.seeds.size()),
               .gradient_scale = 1.0F / static_cast<float>(parts_.seeds.num_labels(request.key.batch))},
              parts_.run.device.stream());
    return 1;
  }

  void stop() override { requests_.resize(next_); }

  LoaderStats stats() const override { return loader_stats_of(requests_, step_.counts(parts_.run.device.stream())); }

 private:
  StepParts parts_;
  DeviceArray<std::int32_t> labels_;
  ModelStep step_;
  std::vector<BatchRequest> requests_;
  std::size_t next_ = 0;
};

}  // namespace

DeviceArray<std::int32_t> upload_classes(const Dataset& dataset) {
  const std::span<const std::int32_t> classes = dataset.label_table().classes;
  auto labels = make_device_array<std::int32_t>(classes.size());
  upload("labels", std::as_bytes(classes).data(), classes.size_bytes(), reinterpret_cast<std::byte*>(labels.get()));
  return labels;
}

std::int64_t model_steps_bytes(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  const auto labels = static_cast<std::int64_t>(dataset.num_nodes() * sizeof(std::int32_t));
  return model_step_bytes(step_shape(options, dataset, num_ranks)) + labels;
}

std::unique_ptr<GradientSteps> make_model_steps(const StepParts& parts) { return std::make_unique<ModelSteps>(parts); }

}  // namespace salient
