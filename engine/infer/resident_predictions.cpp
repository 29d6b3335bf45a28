// engine/infer/resident_predictions.cpp - see resident_predictions.h.
#include "engine/infer/resident_predictions.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "engine/infer/node_labels.h"
#include "engine/infer/resident_model.h"
#include "models/describe/resident_limits.h"
#include "models/resident/sage_forward.h"

namespace salient {
namespace {

SageShape inference_shape(const ResidentSpec& spec, const Dataset& dataset) {
  SageShape shape = sage_shape_of(spec, dataset);
  shape.dropout = 0;
  return shape;
}

/// The batches of a model: of one of the two kinds that models/resident has.
class ForwardPass {
 public:
  ForwardPass() = default;
  virtual ~ForwardPass() = default;
  ForwardPass(const ForwardPass&) = delete;
  ForwardPass& operator=(const ForwardPass&) = delete;
  virtual void start(const Model& model, std::span<const NodeId> seeds) = 0;
  /// @param next  the header of the next call; none: nothing is known of it
  virtual void run(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream) = 0;
  virtual const float* logits() const = 0;
  virtual std::int64_t logits_stride() const = 0;
  virtual StepCounts counts(cudaStream_t stream) const = 0;
};

class SagePass final : public ForwardPass {
 public:
  SagePass(const SageShape& shape, const StepInputs& data) : forward_(shape, data) {}
  void start(const Model& model, std::span<const NodeId> seeds) override {
    forward_.start(sage_weights_of(model), seeds);
  }
  void run(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream) override {
    forward_.run(header, next, stream);
  }
  const float* logits() const override { return forward_.logits(); }
  std::int64_t logits_stride() const override { return forward_.logits_stride(); }
  StepCounts counts(cudaStream_t stream) const override { return forward_.counts(stream); }

 private:
  SageForward forward_;
};

/// Its graph reads the model's own tensors, so the step is made again for a model with others.
class ModelPass final : public ForwardPass {
 public:
  ModelPass(const ModelStepShape& shape, const StepInputs& data, const Model& model) : shape_(shape), data_(data) {
    make_step(model);
  }
  void start(const Model& model, std::span<const NodeId> seeds) override {
    make_step(model);
    step_->start_epoch(seeds);
  }
  void run(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream) override {
    step_->run(header, next ? std::span(&*next, 1) : std::span<const StepHeader>(), stream);
  }
  const float* logits() const override { return step_->logits(); }
  std::int64_t logits_stride() const override { return step_->logits_stride(); }
  StepCounts counts(cudaStream_t stream) const override { return step_->counts(stream); }

 private:
  /// Unless it is there.
  void make_step(const Model& model) {
    std::map<std::string, StepTensor> tensors = step_tensors_of(model);
    const auto is_same = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.value == b.second.value;
    };
    if (!step_ || !std::ranges::equal(tensors, tensors_, is_same)) {
      step_.reset();  // its memory is free before it is asked for again
      step_.emplace(shape_, ModelStepData{.inputs = data_, .targets = {}, .tensors = tensors, .sums = nullptr});
      tensors_ = std::move(tensors);
    }
  }

  const ModelStepShape shape_;
  const StepInputs data_;
  std::map<std::string, StepTensor> tensors_;
  std::optional<ModelStep> step_;
};

std::unique_ptr<ForwardPass> make_pass(const ResidentSpec& spec, const Dataset& dataset, const ResidentView& data,
                                       const Model& model) {
  if (is_plain_sage(spec, dataset))
    return std::make_unique<SagePass>(inference_shape(spec, dataset), sage_data_of(dataset, data));
  return std::make_unique<ModelPass>(model_step_shape_of(spec, dataset, StepUse::kPrediction),
                                     sage_data_of(dataset, data), model);
}

class ResidentPredictions final : public Predictions {
 public:
  ResidentPredictions(const ResidentSpec& spec, const Dataset& dataset, const ResidentView& data,
                      const ComputeDevice& device, const Model& model)
      : dataset_(dataset),
        device_(device),
        width_(model_of(spec, dataset).num_classes),
        forward_(make_pass(spec, dataset, data, model)) {}

  void start(Model& model, std::vector<BatchRequest> requests) override {
    requests_ = std::move(requests);
    next_ = num_seeds_ = 0;
    std::vector<NodeId> seeds;
    for (const BatchRequest& request : requests_) seeds.insert(seeds.end(), request.seeds.begin(), request.seeds.end());
    labels_ = labels_of(dataset_.label_table(), seeds, LabelMemory::kPageable).to(device_.torch_device());
    device_.wait();  // the weights are written on its stream
    forward_->start(model, seeds);
  }

  std::optional<PredictedBatch> next() override {
    if (next_ == requests_.size()) return std::nullopt;
    CudaEvent& done = done_[next_ % done_.size()];
    done.wait();  // of the batch that many before: so far the host may be ahead of the GPU
    const StepHeader header = header_of(next_++, num_seeds_);
    const auto count = static_cast<std::int64_t>(header.num_seeds);
    PredictedBatch predicted{.round = {.num_nodes = count}};
    if (count == 0) return predicted;
    const std::size_t first = num_seeds_;
    num_seeds_ += header.num_seeds;
    std::optional<StepHeader> after;
    if (next_ < requests_.size() && !requests_[next_].seeds.empty()) after = header_of(next_, num_seeds_);
    forward_->run(header, after, device_.stream());
    done.record(device_.stream());
    predicted.round.logits =
        at::from_blob(const_cast<float*>(forward_->logits()), {count, width_}, {forward_->logits_stride(), 1},
                      at::TensorOptions(device_.torch_device()).dtype(at::kFloat));
    predicted.labels = labels_.narrow(0, static_cast<std::int64_t>(first), count);
    return predicted;
  }

  void stop() override { requests_.resize(next_); }

  LoaderStats stats() const override { return loader_stats_of(requests_, forward_->counts(device_.stream())); }

 private:
  StepHeader header_of(std::size_t i, std::size_t first_seed) const {
    const BatchRequest& request = requests_[i];
    return {.seed = request.key.seed,
            .epoch = request.key.epoch,
            .batch = request.key.batch,
            .first_seed = static_cast<std::uint32_t>(first_seed),
            .num_seeds = static_cast<std::uint32_t>(request.seeds.size())};
  }

  const Dataset& dataset_;
  const ComputeDevice& device_;
  const std::int64_t width_;  // classes; of a model of links the columns of a node's row
  const std::unique_ptr<ForwardPass> forward_;
  std::vector<BatchRequest> requests_;
  at::Tensor labels_;  // of the seeds of all requests
  std::size_t next_ = 0, num_seeds_ = 0;
  std::array<CudaEvent, 4> done_{CudaEvent(CudaEvent::Kind::kBlockingWait), CudaEvent(CudaEvent::Kind::kBlockingWait),
                                 CudaEvent(CudaEvent::Kind::kBlockingWait), CudaEvent(CudaEvent::Kind::kBlockingWait)};
};

}  // namespace

std::int64_t resident_predictions_bytes(const ResidentSpec& spec, const Dataset& dataset) {
  if (is_plain_sage(spec, dataset)) return sage_forward_bytes(sage_shape_of(spec, dataset));
  return model_step_bytes(model_step_shape_of(spec, dataset, StepUse::kPrediction));
}

std::unique_ptr<Predictions> make_resident_predictions(const ResidentSpec& spec, const Dataset& dataset,
                                                       const ResidentView& data, const ComputeDevice& device,
                                                       const Model& model) {
  return std::make_unique<ResidentPredictions>(spec, dataset, data, device, model);
}

}  // namespace salient
