// engine/train/resident_steps.cpp - see resident_steps.h.
#include "engine/train/resident_steps.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "engine/infer/resident_model.h"
#include "engine/train/model_steps.h"
#include "loaders/device_upload.h"
#include "models/resident/sage_step.h"

namespace salient {
namespace {

SageStepShape sage_step_shape(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  return {sage_shape_of(training_spec(options, dataset, num_ranks), dataset), options.optimisation.label_smoothing};
}

class ResidentSteps final : public GradientSteps {
 public:
  explicit ResidentSteps(const StepParts& parts)
      : parts_(parts),
        labels_(upload_classes(parts.run.dataset)),
        step_(sage_step_shape(parts.options, parts.run.dataset, parts.run.comm.size()), data()) {}

  void start(std::vector<BatchRequest> requests) override {
    requests_ = std::move(requests);
    next_ = 0;
    step_.start_epoch(parts_.seeds.order());
  }

  bool next(std::uint32_t global_step) override {
    parts_.clock.batch_arrived();
    if (next_ == requests_.size()) return false;
    const StepHeader header = header_of(requests_[next_++], global_step);
    std::array<StepHeader, SageStep::kMaxAhead> ahead;
    const std::size_t num_ahead = std::min(ahead.size(), requests_.size() - next_);
    for (std::size_t i = 0; i < num_ahead; ++i)
      ahead[i] = header_of(requests_[next_ + i], global_step + 1 + static_cast<std::uint32_t>(i));
    step_.run(header, std::span(ahead).first(num_ahead), parts_.run.device.stream());
    return true;
  }

  void stop() override { requests_.resize(next_); }

  LoaderStats stats() const override { return loader_stats_of(requests_, step_.counts(parts_.run.device.stream())); }

 private:
  StepHeader header_of(const BatchRequest& request, std::uint32_t global_step) const {
    return {.seed = request.key.seed,
            .epoch = request.key.epoch,
            .batch = request.key.batch,
            .global_step = global_step,
            .first_seed = static_cast<std::uint32_t>(request.seeds.data() - parts_.seeds.order().data()),
            .num_seeds = static_cast<std::uint32_t>(request.seeds.size()),
            .gradient_scale = 1.0F / static_cast<float>(parts_.seeds.num_labels(request.key.batch))};
  }

  SageStepData data() const {
    return {sage_data_of(parts_.run.dataset, parts_.run.data.view()), labels_.get(), sage_weights_of(parts_.model),
            parts_.objective.sums()};
  }

  StepParts parts_;
  DeviceArray<std::int32_t> labels_;
  SageStep step_;
  std::vector<BatchRequest> requests_;
  std::size_t next_ = 0;
};

}  // namespace

std::int64_t resident_steps_bytes(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  if (options.model.kind != ModelKind::kSage) return model_steps_bytes(options, dataset, num_ranks);
  const auto labels = static_cast<std::int64_t>(dataset.num_nodes() * sizeof(std::int32_t));
  return sage_step_bytes(sage_step_shape(options, dataset, num_ranks)) + labels;
}

std::unique_ptr<GradientSteps> make_resident_steps(const StepParts& parts) {
  if (parts.options.model.kind != ModelKind::kSage) return make_model_steps(parts);
  return std::make_unique<ResidentSteps>(parts);
}

}  // namespace salient
