// models/resident/sage_layers.cpp - see sage_layers.h.
#include "models/resident/sage_layers.h"

#include <algorithm>

#include "core/error.h"
#include "models/kernels/dropout.h"

namespace salient {
namespace {

DeviceArray<std::byte> array_of(std::int64_t count, ActivationType type) {
  return make_device_array<std::byte>(static_cast<std::size_t>(count) * size_of(type));
}

SageLayers::Layer make_layer(const SageLayerShape& s, ActivationType type, SageUse use, bool is_last) {
  SageLayers::Layer layer{.shape = s,
                          .operand = array_of(s.rows * s.in, type),
                          .result = array_of(s.rows * s.out, is_last ? ActivationType::kF32 : type),
                          .weight = array_of(s.in * s.out, type)};
  if (use == SageUse::kTraining && !is_last)
    layer.kept = make_device_array<std::uint8_t>(static_cast<std::size_t>(s.rows * s.out / 8));
  return layer;
}

/// Ascending shares of `capacity`, in whole tiles of products.
std::vector<std::int64_t> row_choices(std::int64_t capacity, std::int64_t smallest, std::int64_t parts) {
  std::vector<std::int64_t> choices;
  for (std::int64_t i = smallest; i <= parts; ++i) {
    const std::int64_t rows = std::min(capacity, (capacity * i / parts + 127) / 128 * 128);
    if (choices.empty() || rows > choices.back()) choices.push_back(rows);
  }
  return choices;
}

/// For training half, two thirds, five sixths, all: a choice takes memory for its gradients' products and a while to
/// plan. For inference eighths.
std::vector<std::int64_t> first_rows_of(const SageShape& shape, SageUse use, std::int64_t capacity) {
  if (!shape.has_size_choice) return {capacity};
  return use == SageUse::kTraining ? row_choices(capacity, 3, 6) : row_choices(capacity, 1, 8);
}

}  // namespace

std::vector<SageLayerShape> sage_layer_shapes(const SageShape& shape) {
  const std::vector<std::int64_t> capacities = tree_capacities(shape.fanouts, shape.max_seeds);
  const std::size_t count = shape.fanouts.size();
  std::vector<SageLayerShape> layers;
  for (std::size_t i = 0; i < count; ++i)
    layers.push_back({capacities[count - 1 - i], 2 * padded(i == 0 ? shape.in_dim : shape.hidden_dim),
                      padded(i + 1 == count ? shape.num_classes : shape.hidden_dim)});
  return layers;
}

std::int64_t sage_layers_bytes(const SageShape& shape, SageUse use) {
  std::int64_t bytes = std::int64_t{100} << 20;  // the products' workspace, the tree's scratch
  const std::vector<SageLayerShape> layers = sage_layer_shapes(shape);
  const auto size = static_cast<std::int64_t>(size_of(shape.activations));
  for (const SageLayerShape& s : layers)
    bytes += (s.rows * (s.in + s.out) + s.in * s.out) * size + (use == SageUse::kTraining ? s.rows * s.out / 8 : 0);
  return bytes + layers.front().rows * (16 + 4 * shape.fanouts.back());
}

SageLayers::SageLayers(const SageShape& shape, const SageData& data, SageUse use)
    : shape_(shape), features_(data.features), tree_(data.graph, shape.fanouts, shape.replacement, shape.max_seeds) {
  require(shape.hidden_dim % 8 == 0 || shape.fanouts.size() == 1, "hidden layers have a multiple of 8 columns");
  for (const SageLayerShape& s : sage_layer_shapes(shape))
    layers_.push_back(make_layer(s, shape.activations, use, layers_.size() + 1 == shape.fanouts.size()));
  // What timing runs read must be numbers: some algorithms are faster on others.
  for (const Layer& layer : layers_) {
    const SageLayerShape& s = layer.shape;
    const std::size_t size = size_of(shape.activations);
    cuda_check(cudaMemset(layer.operand.get(), 0, static_cast<std::size_t>(s.rows * s.in) * size));
    cuda_check(cudaMemset(layer.weight.get(), 0, static_cast<std::size_t>(s.in * s.out) * size));
  }
  cuda_check(cudaDeviceSynchronize());
  const CudaStream stream;
  first_rows_ = first_rows_of(shape, use, layers_[0].shape.rows);
  for (const std::int64_t rows : first_rows_) first_forward_.push_back(plan(0, rows, stream.get()));
  for (std::size_t i = 1; i < layers_.size(); ++i)
    later_forward_.push_back(plan(i, layers_[i].shape.rows, stream.get()));
  stream.wait();
}

Product SageLayers::plan(std::size_t layer, std::int64_t rows, cudaStream_t stream) {
  const Layer& l = layers_[layer];
  const ActivationType result = layer + 1 == layers_.size() ? ActivationType::kF32 : shape_.activations;
  return Product(
      products_,
      {ProductKind::kForward, rows, l.shape.in, l.shape.out, shape_.activations, result, shape_.may_use_tf32},
      {l.operand.get(), l.weight.get(), l.result.get()}, shape_.is_deterministic, stream);
}

HiddenLayer SageLayers::hidden_layer(std::size_t i) const {
  const auto index = static_cast<std::uint32_t>(i);
  const DropoutMask mask = DropoutMask::make(shape_.dropout, 0, 0, index);  // seed and step are the header's
  const TreeDropout dropout{tree_.header(), index, mask.threshold, mask.threshold == 0 ? 1.0f : mask.scale};
  return {tree_.growth(layers_.size() - 2 - i),
          tree_.nodes(),
          dropout,
          layers_[i].shape.out,
          shape_.activations,
          layers_[i].kept.get()};
}

void SageLayers::start(std::span<const NodeId> order) {
  cuda_check(cudaDeviceSynchronize());  // earlier batches read the order
  if (order.size() > order_size_) {
    order_ = make_device_array<NodeId>(order.size());
    order_size_ = order.size();
  }
  cuda_check(cudaMemcpy(order_.get(), order.data(), order.size_bytes(), cudaMemcpyHostToDevice));
  tree_.clear_counts();
  num_seeds_ = 0;
}

void SageLayers::begin(const StepHeader& header, cudaStream_t stream) {
  num_seeds_ += header.num_seeds;
  tree_.begin(header, order_.get(), stream);
}

void SageLayers::enqueue_forward(std::size_t choice, cudaStream_t stream) const {
  LastHop hop = tree_.last_hop();
  hop.capacity = first_rows_[choice];
  first_operand(hop, features_, shape_.activations, layers_[0].operand.get(), stream);
  first_forward_[choice].run(stream);
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    next_operand(hidden_layer(i - 1), layers_[i - 1].result.get(), layers_[i].operand.get(), stream);
    later_forward_[i - 1].run(stream);
  }
}

SageCounts SageLayers::counts(cudaStream_t stream) const {
  SageCounts result{{}, tree_.num_edges(stream)};
  std::int64_t nodes = num_seeds_;
  for (const std::int64_t edges : result.hop_edges) result.hop_nodes.push_back(nodes += edges);
  return result;
}

}  // namespace salient
