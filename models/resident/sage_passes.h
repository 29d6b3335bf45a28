// models/resident/sage_passes.h - what one training step of GraphSAGE enqueues on the GPU, forward and backward, and
// the memory of it; sage_step.h puts it into CUDA graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/resident/sage_step.h"
#include "models/resident/urgent_stream.h"

namespace salient {

class SagePasses {
 public:
  using Place = SageLayers::Place;

  /// Allocates everything, clears what products read, and times their algorithms. Blocks.
  /// @throws Error{kDeviceMemory}
  SagePasses(const SageStepShape& shape, const SageStepData& data);

  SageLayers& forward() { return forward_; }
  bool is_fused() const { return forward_.fused() != nullptr; }  ///< the first layer
  /// Whether finish() updates the weights.
  bool has_update() const { return is_fused() && data_.update.has_value(); }

  /// The launches below are the same for every batch: what differs is read from the header, so they can be captured.
  void pack(cudaStream_t on) { pack_weights(weights_, type_, on); }
  /// The layers from i on, the loss, and the way back.
  void enqueue_later(std::size_t i, Place place, cudaStream_t on);
  /// Gradients of the weights in the caller's form; or the update, after which they are packed again.
  void finish(Place place, cudaStream_t on);

 private:
  const std::vector<SageLayers::Layer>& layers() const { return forward_.layers(); }
  bool is_fused(std::size_t layer) const { return layer == 0 && is_fused(); }
  void clear_memory();
  Product plan(ProductKind kind, std::size_t layer, std::int64_t rows);
  void plan_products();
  HiddenLayer below_of(std::size_t i, Place place) const;
  void enqueue_input_gradient(std::size_t i, Place place, cudaStream_t on) const;
  void enqueue_backward(Place place, cudaStream_t on);

  /// Gradients of one layer's result, in the activations' type, and of its weight.
  struct LayerGradients {
    LayerGradients(const SageLayerShape& s, ActivationType type, bool is_fused);

    DeviceArray<std::byte> result;
    DeviceArray<float> weight;
  };
  struct LaterLayer {
    Product weight;                  // its gradient
    std::optional<Product> input{};  // that of the operand, by one of two; of a fused last layer by neither
    std::optional<HiddenProduct> hidden{};
  };

  const SageStepShape shape_;
  const SageStepData data_;
  const ActivationType type_;
  const bool is_last_fused_;
  CudaStream stream_;              // of the timing of products
  UrgentStream beside_, summing_;  // of launches beside the others, when they are recorded
  SageLayers forward_;
  std::vector<LayerGradients> gradients_;  // of each layer, the first one's first
  std::vector<PackedWeights> weights_;
  Products products_beside_;  // of the weights' gradients, at the same time as others
  DeviceArray<std::byte> operand_gradient_;
  DeviceArray<float> seed_losses_;        // and predictions, see loss.h
  std::vector<Product> first_layer_;      // gradient of its weight, by choice of rows
  std::vector<LaterLayer> later_layers_;  // later_layers_[i] is layer i + 1
};

}  // namespace salient
