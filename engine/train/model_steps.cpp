// engine/train/model_steps.cpp - see model_steps.h.
#include "engine/train/model_steps.h"

#include <algorithm>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "engine/infer/resident_model.h"
#include "engine/train/run_model.h"
#include "loaders/device_upload.h"
#include "models/resident/model_step.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

StepModel step_model_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::kGcn: return StepModel::kGcn;
    case ModelKind::kGin: return StepModel::kGin;
    case ModelKind::kSageRi: return StepModel::kSageRi;
    case ModelKind::kGat: return StepModel::kGat;
    case ModelKind::kGatv2: return StepModel::kGatv2;
    case ModelKind::kSage: break;
  }
  fail(ErrorKind::kInternal, "GraphSAGE has steps of its own");
}

SumKind sum_kind_of(const ModelOptions& model) {
  if (model.kind == ModelKind::kGcn) return model.gcn_norm == GcnNorm::kRow ? SumKind::kRowMean : SumKind::kSymmetric;
  if (model.kind == ModelKind::kGin) return model.gin_sum == GinSum::kScaled ? SumKind::kScaled : SumKind::kPlain;
  return SumKind::kMean;
}

ModelStepShape step_shape(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  const Precision precision = numerics_of(options).precision;
  const SeedRange share = rank_share(dataset.train.size(), global_batch_of(options, num_ranks), 0, 0, num_ranks);
  return {.model = step_model_of(options.model.kind),
          .sum = sum_kind_of(options.model),
          .fanouts = options.batches.fanout,
          .replacement = options.batches.with_replacement ? Replacement::kWith : Replacement::kWithout,
          .max_seeds = static_cast<std::int64_t>(std::max<std::size_t>(1, share.count)),  // no share is larger
          .in_dim = dataset.feature_dim,
          .hidden_dim = options.model.hidden_dim,
          .num_classes = dataset.num_classes,
          .dropout = options.model.dropout,
          .label_smoothing = options.optimisation.label_smoothing,
          .activations = precision == Precision::kBf16 ? ActivationType::kBf16 : ActivationType::kF32,
          .may_use_tf32 = precision == Precision::kTf32,
          .is_deterministic = options.deterministic,
          .num_nodes = dataset.num_nodes()};
}

std::map<std::string, StepTensor> tensors_of(const Model& model) {
  std::map<std::string, StepTensor> tensors;
  for (const auto& item : model.named_parameters())
    tensors[item.key()] = {item.value().data_ptr(), item.value().grad().mutable_data_ptr<float>()};
  for (const auto& item : model.named_buffers()) tensors[item.key()] = {item.value().data_ptr(), nullptr};
  return tensors;
}

class ModelSteps final : public GradientSteps {
 public:
  explicit ModelSteps(const StepParts& parts)
      : parts_(parts),
        labels_(upload_classes(parts.run.dataset)),
        step_(step_shape(parts.options, parts.run.dataset, parts.run.comm.size()),
              {sage_data_of(parts.run.dataset, parts.run.data.view()), labels_.get(), tensors_of(parts.model),
               parts.objective.sums()}) {}

  void start(std::vector<BatchRequest> requests) override {
    requests_ = std::move(requests);
    next_ = 0;
    step_.start_epoch(parts_.seeds.order());
  }

  bool next(std::uint32_t global_step) override {
    parts_.clock.batch_arrived();
    if (next_ == requests_.size()) return false;
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
    return true;
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
