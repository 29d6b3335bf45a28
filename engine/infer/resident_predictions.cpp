// engine/infer/resident_predictions.cpp - see resident_predictions.h.
#include "engine/infer/resident_predictions.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "engine/infer/resident_model.h"
#include "models/resident/sage_forward.h"

namespace salient {
namespace {

SageShape inference_shape(const ResidentSpec& spec, const Dataset& dataset) {
  SageShape shape = sage_shape_of(spec, dataset);
  shape.dropout = 0;
  return shape;
}

class ResidentPredictions final : public Predictions {
 public:
  ResidentPredictions(const ResidentSpec& spec, const Dataset& dataset, const ResidentView& data,
                      const ComputeDevice& device)
      : dataset_(dataset), device_(device), forward_(inference_shape(spec, dataset), sage_data_of(dataset, data)) {}

  void start(Model& model, std::vector<BatchRequest> requests) override {
    requests_ = std::move(requests);
    next_ = num_seeds_ = 0;
    const std::span<const std::int32_t> classes = dataset_.label_table().classes;
    std::vector<NodeId> seeds;
    std::vector<std::int32_t> labels;
    for (const BatchRequest& request : requests_) {
      seeds.insert(seeds.end(), request.seeds.begin(), request.seeds.end());
      for (const NodeId seed : request.seeds) labels.push_back(classes[seed]);
    }
    labels_ = at::tensor(labels, at::kInt).to(device_.torch_device());
    device_.wait();  // the weights are written on its stream
    forward_.start(sage_weights_of(model), seeds);
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
    forward_.run(header, after, device_.stream());
    done.record(device_.stream());
    predicted.round.logits =
        at::from_blob(const_cast<float*>(forward_.logits()), {count, dataset_.num_classes},
                      {forward_.logits_stride(), 1}, at::TensorOptions(device_.torch_device()).dtype(at::kFloat));
    predicted.labels = labels_.narrow(0, static_cast<std::int64_t>(first), count);
    return predicted;
  }

  void stop() override { requests_.resize(next_); }

  LoaderStats stats() const override { return loader_stats_of(requests_, forward_.counts(device_.stream())); }

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
  SageForward forward_;
  std::vector<BatchRequest> requests_;
  at::Tensor labels_;  // i32 [seeds of all requests]
  std::size_t next_ = 0, num_seeds_ = 0;
  std::array<CudaEvent, 4> done_{CudaEvent(CudaEvent::Kind::kBlockingWait), CudaEvent(CudaEvent::Kind::kBlockingWait),
                                 CudaEvent(CudaEvent::Kind::kBlockingWait), CudaEvent(CudaEvent::Kind::kBlockingWait)};
};

}  // namespace

bool has_resident_predictions() { return true; }

std::int64_t resident_predictions_bytes(const ResidentSpec& spec, const Dataset& dataset) {
  return sage_forward_bytes(sage_shape_of(spec, dataset));
}

std::unique_ptr<Predictions> make_resident_predictions(const ResidentSpec& spec, const Dataset& dataset,
                                                       const ResidentView& data, const ComputeDevice& device) {
  return std::make_unique<ResidentPredictions>(spec, dataset, data, device);
}

}  // namespace salient
