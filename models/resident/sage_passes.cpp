// models/resident/sage_passes.cpp - see sage_passes.h.
//
//   level L-1 of the tree --- hop L-1, gather, mean --> operand 1 --- * W1 --> z1 --- relu, dropout, mean -->
//   operand 2 ...
//   ... operand L --- * WL --> logits --> loss, dz_L --- * WL --> its operand's gradient --- spread --> dz_(L-1) ...
//   dz1 and for each layer dW = dz^T * operand.
#include "models/resident/sage_passes.h"

#include <algorithm>

#include "core/error.h"
#include "models/resident/last_layer.h"
#include "models/resident/loss.h"

namespace salient {
namespace {

DeviceArray<std::byte> array_of(std::int64_t count, ActivationType type) {
  return make_device_array<std::byte>(static_cast<std::size_t>(count) * size_of(type));
}

/// Elements of the largest gradient of an operand; the first layer's is not needed.
std::int64_t largest_operand(const std::vector<SageLayerShape>& layers) {
  std::int64_t largest = 8;
  for (std::size_t i = 1; i < layers.size(); ++i) largest = std::max(largest, layers[i].rows * layers[i].in);
  return largest;
}

}  // namespace

std::int64_t sage_step_bytes(const SageStepShape& shape) {
  const auto size = static_cast<std::int64_t>(size_of(shape.sage.activations));
  const std::vector<SageLayerShape> layers = sage_layer_shapes(shape.sage);
  std::int64_t bytes = sage_layers_bytes(shape.sage, SageUse::kTraining) + largest_operand(layers) * size;
  bytes += std::int64_t{64} << 20;  // the workspace of products beside others
  for (const SageLayerShape& s : std::span(layers).subspan(has_fused_layer(shape.sage) ? 1 : 0))
    bytes += s.rows * s.out * size + s.in * s.out * 4;
  return bytes;
}

SagePasses::LayerGradients::LayerGradients(const SageLayerShape& s, ActivationType type, bool is_fused)
    : result(array_of(is_fused ? 0 : s.rows * s.out, type)),
      weight(make_device_array<float>(is_fused ? 0 : static_cast<std::size_t>(s.in * s.out))) {}

SagePasses::SagePasses(const SageStepShape& shape, const SageStepData& data)
    : shape_(shape),
      data_(data),
      type_(shape.sage.activations),
      is_last_fused_(has_fused_last_layer(shape.sage) && !data.targets.pairs.are_scored),
      forward_(shape.sage, data.inputs, SageUse::kTraining),
      operand_gradient_(array_of(largest_operand(sage_layer_shapes(shape.sage)), type_)),
      seed_losses_(make_device_array<float>(static_cast<std::size_t>(2 * shape.sage.max_seeds))) {
  require(data.weights.size() == layers().size(), "there are weights for every layer");
  std::int64_t num_values = 0;
  for (std::size_t i = 0; i < layers().size(); ++i) {
    gradients_.emplace_back(layers()[i].shape, type_, is_fused(i));
    weights_.push_back({.weights = data.weights[i],
                        .packed = layers()[i].weight.get(),
                        .packed_gradient = gradients_[i].weight.get(),
                        .first_value = num_values});
    num_values += layers()[i].shape.in * layers()[i].shape.out;
  }
  if (const FusedLayer* const fused = forward_.fused())
    weights_[0].packed_gradient = fused->partials(), weights_[0].num_gradients = fused->num_partials();
  clear_memory();
  plan_products();
  stream_.wait();
}

/// What timing runs read must be numbers: some algorithms are faster on others.
void SagePasses::clear_memory() {
  for (std::size_t i = 0; i < layers().size(); ++i) {
    const SageLayerShape& s = layers()[i].shape;
    if (is_fused(i)) continue;
    cuda_check(cudaMemset(gradients_[i].result.get(), 0, static_cast<std::size_t>(s.rows * s.out) * size_of(type_)));
  }
  pack_weights(weights_, type_, stream_.get());
  cuda_check(cudaDeviceSynchronize());
}

Product SagePasses::plan(ProductKind kind, std::size_t layer, std::int64_t rows) {
  const SageLayerShape& s = layers()[layer].shape;
  const bool is_of_weight = kind == ProductKind::kWeightGradient;
  const ProductShape product{
      kind, rows, s.in, s.out, type_, is_of_weight ? ActivationType::kF32 : type_, shape_.sage.may_use_tf32};
  const ProductMatrices matrices =
      is_of_weight
          ? ProductMatrices{gradients_[layer].result.get(), layers()[layer].operand.get(),
                            gradients_[layer].weight.get()}
          : ProductMatrices{gradients_[layer].result.get(), layers()[layer].weight.get(), operand_gradient_.get()};
  const bool is_beside = is_of_weight && layer > 0;
  return Product(is_beside ? products_beside_ : forward_.products(), product, matrices, shape_.sage.is_deterministic,
                 stream_.get());
}

void SagePasses::plan_products() {
  for (const std::int64_t rows : forward_.first_rows())
    if (!is_fused(0)) first_layer_.push_back(plan(ProductKind::kWeightGradient, 0, rows));
  for (std::size_t i = 1; i < layers().size(); ++i) {
    const SageLayers::Layer& layer = layers()[i];
    later_layers_.push_back({.weight = plan(ProductKind::kWeightGradient, i, layer.shape.rows)});
    if (forward_.has_hidden_product(i))
      later_layers_.back().hidden.emplace(HiddenProduct::Kind::kGradient, gradients_[i].result.get(), layer.shape.rows,
                                          layer.weight.get(), forward_.multiprocessors());
    else if (i + 1 < layers().size() || !is_last_fused_)
      later_layers_.back().input.emplace(plan(ProductKind::kInputGradient, i, layer.shape.rows));
  }
}

/// The layer that layer i reads, of as many rows as are computed.
HiddenLayer SagePasses::below_of(std::size_t i, Place place) const {
  HiddenLayer below = forward_.hidden_layer(i - 1, place.tree);
  if (i == 1) below.growth.grown_capacity = forward_.first_rows()[place.choice];
  return below;
}

/// The gradient of layer i's operand.
void SagePasses::enqueue_input_gradient(std::size_t i, Place place, cudaStream_t on) const {
  const LaterLayer& layer = later_layers_[i - 1];
  if (layer.input) return layer.input->run(on);
  layer.hidden->run(forward_.hidden_layer(i, place.tree).growth.num_grown, operand_gradient_.get(), on);
}

/// The layers from i on, and the way back.
void SagePasses::enqueue_later(std::size_t i, Place place, cudaStream_t on) {
  for (; i + (is_last_fused_ ? 1 : 0) < layers().size(); ++i) forward_.enqueue_layer(i, place, on);
  enqueue_backward(place, on);
}

void SagePasses::enqueue_backward(Place place, cudaStream_t on) {
  const SampledTree& tree = forward_.batches().tree(place.tree);
  const SeedLoss loss{.header = tree.header(),
                      .nodes = tree.nodes(),
                      .targets = data_.targets,
                      .max_seeds = shape_.sage.max_seeds,
                      .num_classes = shape_.sage.num_classes,
                      .label_smoothing = static_cast<float>(shape_.label_smoothing),
                      .type = type_,
                      .rows = seed_losses_.get(),
                      .sums = data_.sums};
  const std::size_t last = layers().size() - 1;
  if (is_last_fused_) {
    const HiddenLayer below = below_of(last, place);
    last_layer({below, loss, layers()[last].weight.get(), layers()[last - 1].result.get(), layers()[last].operand.get(),
                gradients_[last].result.get(), gradients_[last - 1].result.get()},
               on);
  } else {
    seed_loss(loss, forward_.logits(), gradients_[last].result.get(), on);
  }
  // What nothing waits for but the step's end goes beside the rest.
  const cudaStream_t other = beside_.get();
  follow(other, on);
  follow(summing_.get(), on);
  sum_losses(loss, summing_.get());
  for (std::size_t i = last; i > 0; --i) {
    later_layers_[i - 1].weight.run(other);
    if (i == last && is_last_fused_) continue;
    enqueue_input_gradient(i, place, on);
    const HiddenLayer below = below_of(i, place);
    if (is_fused(i - 1)) {
      forward_.enqueue_fused_gradient(place, operand_gradient_.get(), on);
      break;
    }
    aggregate_backward(below, operand_gradient_.get(), gradients_[i - 1].result.get(), on);
    follow(other, on);
  }
  if (!is_fused(0)) first_layer_[place.choice].run(on);
  follow(on, other);
  follow(on, summing_.get());
}

void SagePasses::finish(Place place, cudaStream_t on) {
  if (has_update())
    update_weights(weights_, type_, *data_.update, forward_.batches().tree(place.tree).header(), on);
  else
    unpack_gradients(weights_, on);
}

}  // namespace salient
