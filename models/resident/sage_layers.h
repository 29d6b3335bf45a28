// models/resident/sage_layers.h - GraphSAGE with mean aggregation over a sampled tree: the memory, the products and the
// launches of a forward pass. Training (sage_step.h) and inference (sage_forward.h) share it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/products/products.h"
#include "models/resident/fused_layer.h"
#include "models/resident/hidden_product.h"
#include "models/resident/operands.h"
#include "models/resident/sampled_batches.h"
#include "models/resident/weights.h"

namespace salient {

struct SageShape {
  SamplingRule rule;                                   ///< a fanout per layer; see SampledTree
  std::int64_t max_seeds = 0;                          ///< of a batch on this rank
  int in_dim = 0, hidden_dim = 0, num_classes = 0;     ///< hidden_dim is a multiple of 8
  double dropout = 0;                                  ///< of training; inference has none
  ActivationType activations = ActivationType::kBf16;  ///< bf16: operands and activations; sums and weights stay f32
  bool may_use_tf32 = false;                           ///< for products of f32
  bool is_deterministic = false;                       ///< algorithms of products are not chosen by time
  bool has_size_choice =
      true;              ///< the GPU takes products of fewer rows for a batch that needs fewer; false: always the
                         ///< largest, without a switch in the graph, which compute-sanitizer cannot follow
  bool may_fuse = true;  ///< the first layer into one kernel each way (fused_layer.h), the last into one (last_layer.h)
};

/// Device memory of the inputs; all of it outlives what reads it.
struct StepInputs {
  DeviceCsr graph;
  FeatureRows features;
  FeatureRows edge_features{};       ///< [entries of the graph, width] in its order; null: no model reads them
  std::optional<TreeLinks> links{};  ///< batches are of these: seeds are their ends; none: of nodes
};

enum class SageUse : std::uint8_t {
  kInference,
  kTraining,  ///< the forward pass keeps what the backward pass reads: a bit per element of a hidden layer
};

/// Sizes of one layer. Rows are those of the tree's level that it computes.
struct SageLayerShape {
  std::int64_t rows, in, out;  ///< in = both parts of the operand; in and out padded
};

std::vector<SageLayerShape> sage_layer_shapes(const SageShape& shape);

/// Whether this GPU computes the first layer by a FusedLayer.
bool has_fused_layer(const SageShape& shape);

/// Whether a training step computes the last layer by last_layer().
bool has_fused_last_layer(const SageShape& shape);

/// Where the first layer is fused, training gathers a batch beside the one before, so its tree is complete earlier.
SamplingLead sampling_lead(const SageShape& shape, SageUse use);

/// GPU memory of SageLayers, in bytes.
std::int64_t sage_layers_bytes(const SageShape& shape, SageUse use);

class SageLayers {
 public:
  /// Allocates everything, clears what products read, and times the products' algorithms. Blocks.
  /// @throws Error{kDeviceMemory}
  SageLayers(const SageShape& shape, const StepInputs& data, SageUse use);

  /// One layer's memory, in the activations' type where nothing else is said.
  struct Layer {
    SageLayerShape shape;
    DeviceArray<std::byte> operand;    ///< [rows, in]; of a fused layer in training two of them, behind each other
    DeviceArray<std::byte> result;     ///< [rows, out]; the last layer's, the logits, are f32; a fused one has none
    DeviceArray<std::byte> weight;     ///< [out, in]: PackedWeights::packed
    DeviceArray<std::uint8_t> kept{};  ///< for training, of hidden layers that are not fused: HiddenLayer::kept
  };
  const std::vector<Layer>& layers() const { return layers_; }
  SampledBatches& batches() { return batches_; }
  const SampledBatches& batches() const { return batches_; }
  Products& products() { return products_; }                               ///< for more products on the same stream
  const FusedLayer* fused() const { return fused_ ? &*fused_ : nullptr; }  ///< the first layer, if it is fused
  /// Whether layer i is computed by a HiddenProduct: in training those between a fused one and the last.
  bool has_hidden_product(std::size_t i) const {
    return gather_multiprocessors_ > 0 && i > 0 && i + 1 < layers_.size();
  }
  int multiprocessors() const;  ///< that the gather leaves to the others

  /// The ways to compute the first layer, for ascending numbers of nodes in the tree's last level. That level is
  /// nearly as large as all other arrays together, and seldom full, so that the GPU chooses among products of several
  /// sizes. A fused layer has one way, which computes no more rows than there are.
  const std::vector<std::int64_t>& first_rows() const { return first_rows_; }

  /// Where a batch is, and which of first_rows() is no smaller than its tree's last level.
  struct Place {
    std::size_t tree, choice;
  };

  /// Layer i, which is hidden, and the tree's level whose nodes layer i + 1 computes from it.
  HiddenLayer hidden_layer(std::size_t i, std::size_t tree) const;

  /// Gather, products and activations of the batch in a tree; the weights are packed already. The same launches for
  /// every batch. First the operand of the first layer and, possibly beside it, the dropout of a fused layer, of
  /// which there are two, for trees in turn; then its product, then one layer after the other. In training a fused
  /// layer leaves some multiprocessors to the gather, which may run beside all launches for the batch before.
  void gather(Place place, cudaStream_t stream) const;
  void draw(Place place, cudaStream_t stream) const;
  void enqueue_first(Place place, cudaStream_t stream) const;
  void enqueue_layer(std::size_t i, Place place, cudaStream_t stream) const;  ///< i > 0

  /// The gradient of a fused first layer's weight, from that of the next layer's operand.
  void enqueue_fused_gradient(Place place, const void* gradient, cudaStream_t stream) const;

  /// [max_seeds, padded(num_classes)] f32 device: the seeds' rows first
  const float* logits() const { return reinterpret_cast<const float*>(layers_.back().result.get()); }

 private:
  Product plan(std::size_t layer, std::int64_t rows, cudaStream_t stream);
  std::byte* aggregated_features_of(std::size_t tree) const;

  const SageShape shape_;
  const int gather_multiprocessors_;  // that the gather has for itself; 0: it shares all of them
  const FeatureRows features_;
  SampledBatches batches_;
  std::vector<Layer> layers_;  // the first layer's first
  std::optional<FusedLayer> fused_;
  Products products_;
  std::vector<std::int64_t> first_rows_;
  std::vector<Product> first_forward_;  // by choice
  std::vector<HiddenProduct> hidden_;   // hidden_[i] is layer i + 1
  std::vector<Product> later_forward_;  // of the layers behind those
};

}  // namespace salient
