// models/resident/sage_layers.cpp - see sage_layers.h.
#include "models/resident/sage_layers.h"

#include <algorithm>

#include "core/cuda/device_attribute.h"
#include "core/error.h"
#include "models/kernels/dropout.h"
#include "models/resident/last_layer.h"
#include "models/resident/step_memory.h"

namespace salient {
namespace {

DeviceArray<std::byte> array_of(std::int64_t count, ActivationType type) {
  return make_device_array<std::byte>(static_cast<std::size_t>(count) * size_of(type));
}

enum class LayerKind : std::uint8_t { kFused, kHidden, kLast };

/// While a fused layer computes from one operand and back to it, the next batch's is gathered.
std::int64_t num_operands(LayerKind kind, SageUse use) {
  return kind == LayerKind::kFused && use == SageUse::kTraining ? std::int64_t{FusedLayer::kNumBatches} : 1;
}

SageLayers::Layer make_layer(const SageLayerShape& s, ActivationType type, SageUse use, LayerKind kind) {
  SageLayers::Layer layer{.shape = s,
                          .operand = array_of(num_operands(kind, use) * s.rows * s.in, type),
                          .result = array_of(kind == LayerKind::kFused ? 0 : s.rows * s.out,
                                             kind == LayerKind::kLast ? ActivationType::kF32 : type),
                          .weight = array_of(s.in * s.out, type)};
  if (use == SageUse::kTraining && kind == LayerKind::kHidden)
    layer.kept = make_device_array<std::uint8_t>(static_cast<std::size_t>(s.rows * s.out / 8));
  return layer;
}

std::vector<std::int64_t> first_rows_of(const SageShape& shape, SageUse use, bool is_fused, std::int64_t capacity) {
  if (!shape.has_size_choice || is_fused) return {capacity};
  return use == SageUse::kTraining ? row_choices(capacity, kTrainingShares) : row_choices(capacity, kPredictionShares);
}

/// Of a model with hidden layers.
FusedShape fused_shape(const SageShape& shape) {
  const std::vector<SageLayerShape> layers = sage_layer_shapes(shape);
  return {layers[0].rows, layers[0].in, layers[1].rows, shape.rule.fanouts[shape.rule.fanouts.size() - 2]};
}

/// Those that the gather has for itself while the others compute: as many as its share of the work. Rows are read in
/// whole lines of the cache. A row's arithmetic, which tiles of any width do in full, takes as long as moving 5 KB
/// (measured on an H200 with 132 multiprocessors and 5 entries a row: for 128 f16 32 to 36 were better than 26 and 40,
/// for 100 f16 34 and 42 than 26; for 128 fp8 34 to 46 than 26: turning them into f32 takes what their bytes save, so
/// they count as f16). Even, since gradients take pairs of the others.
int gather_multiprocessors(const SageShape& shape, const FeatureRows& features) {
  constexpr std::int64_t kArithmetic = 5400;  // bytes
  constexpr std::int64_t kLine = 128;
  const std::int64_t row_bytes =
      features.width * static_cast<std::int64_t>(std::max<std::size_t>(2, size_of(features.type)));
  const std::int64_t lines = (row_bytes + kLine - 1) / kLine;
  const std::int64_t moved = (1 + shape.rule.fanouts.back()) * lines * kLine + 2 * padded(features.width) * 2;
  const int all = device_attribute(cudaDevAttrMultiProcessorCount);
  const auto share = static_cast<int>(all * moved / (moved + kArithmetic));
  return std::clamp((share + 1) / 2 * 2, 2, std::max(2, all / 2));
}

}  // namespace

std::vector<SageLayerShape> sage_layer_shapes(const SageShape& shape) {
  const std::vector<std::int64_t> capacities = tree_capacities(shape.rule.fanouts, shape.max_seeds);
  const std::size_t count = shape.rule.fanouts.size();
  std::vector<SageLayerShape> layers;
  for (std::size_t i = 0; i < count; ++i)
    layers.push_back({capacities[count - 1 - i], 2 * padded(i == 0 ? shape.in_dim : shape.hidden_dim),
                      padded(i + 1 == count ? shape.num_classes : shape.hidden_dim)});
  return layers;
}

bool has_fused_layer(const SageShape& shape) {
  return shape.may_fuse && shape.rule.fanouts.size() > 1 &&
         FusedLayer::fits(fused_shape(shape), shape.activations, shape.hidden_dim);
}

bool has_fused_last_layer(const SageShape& shape) {
  const std::size_t kept_layers = has_fused_layer(shape) ? 2 : 1;  // a fused one has no result to read
  return shape.may_fuse && shape.rule.fanouts.size() > kept_layers && shape.activations == ActivationType::kBf16 &&
         shape.hidden_dim == kLastLayerWidth && padded(shape.num_classes) <= kMaxLastClasses;
}

SamplingLead sampling_lead(const SageShape& shape, SageUse use) {
  return use == SageUse::kTraining && has_fused_layer(shape) ? SamplingLead::kThreeBatches : SamplingLead::kOneBatch;
}

std::int64_t sage_layers_bytes(const SageShape& shape, SageUse use) {
  std::int64_t bytes = std::int64_t{100} << 20;  // the products' workspace, the tree's scratch
  const std::vector<SageLayerShape> layers = sage_layer_shapes(shape);
  const auto size = static_cast<std::int64_t>(size_of(shape.activations));
  const bool has_fused = has_fused_layer(shape);
  for (const SageLayerShape& s : layers) {
    const bool is_fused = has_fused && &s == layers.data();
    const std::int64_t operands = num_operands(is_fused ? LayerKind::kFused : LayerKind::kHidden, use);
    bytes += (operands * s.rows + s.out) * s.in * size;
    if (is_fused) continue;
    bytes += s.rows * s.out * size + (use == SageUse::kTraining ? s.rows * s.out / 8 : 0);
  }
  if (has_fused) bytes += FusedLayer::bytes(fused_shape(shape));
  const auto trees = static_cast<std::int64_t>(SampledBatches::num_trees(sampling_lead(shape, use)));
  return bytes + trees * layers.front().rows * (16 + 4 * shape.rule.fanouts.back());
}

SageLayers::SageLayers(const SageShape& shape, const StepInputs& data, SageUse use)
    : shape_(shape),
      gather_multiprocessors_(
          use == SageUse::kTraining && has_fused_layer(shape) ? gather_multiprocessors(shape, data.features) : 0),
      features_(data.features),
      batches_(data.graph, shape.rule, shape.max_seeds, sampling_lead(shape, use), Places::kNotKept, data.links) {
  require(shape.hidden_dim % 8 == 0 || shape.rule.fanouts.size() == 1, "hidden layers have a multiple of 8 columns");
  const bool has_fused = has_fused_layer(shape);
  for (const SageLayerShape& s : sage_layer_shapes(shape))
    layers_.push_back(make_layer(s, shape.activations, use,
                                 layers_.size() + 1 == shape.rule.fanouts.size() ? LayerKind::kLast
                                 : has_fused && layers_.empty()                  ? LayerKind::kFused
                                                                                 : LayerKind::kHidden));
  if (has_fused)
    fused_.emplace(fused_shape(shape), FusedLayer::Operands{aggregated_features_of(0), aggregated_features_of(1)},
                   gather_multiprocessors_);
  // What timing runs read must be numbers: some algorithms are faster on others.
  for (const Layer& layer : layers_) {
    const SageLayerShape& s = layer.shape;
    const std::size_t size = size_of(shape.activations);
    const bool is_fused = has_fused && &layer == layers_.data();
    const std::int64_t rows = num_operands(is_fused ? LayerKind::kFused : LayerKind::kHidden, use) * s.rows;
    cuda_check(cudaMemset(layer.operand.get(), 0, static_cast<std::size_t>(rows * s.in) * size));
    cuda_check(cudaMemset(layer.weight.get(), 0, static_cast<std::size_t>(s.in * s.out) * size));
  }
  cuda_check(cudaDeviceSynchronize());
  const CudaStream stream;
  first_rows_ = first_rows_of(shape, use, has_fused, layers_[0].shape.rows);
  for (const std::int64_t rows : first_rows_)
    if (!has_fused) first_forward_.push_back(plan(0, rows, stream.get()));
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    const Layer& l = layers_[i];
    if (has_hidden_product(i))
      hidden_.emplace_back(HiddenProduct::Kind::kForward, l.operand.get(), l.shape.rows, l.weight.get(),
                           multiprocessors());
    else
      later_forward_.push_back(plan(i, l.shape.rows, stream.get()));
  }
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

HiddenLayer SageLayers::hidden_layer(std::size_t i, std::size_t tree) const {
  const auto index = static_cast<std::uint32_t>(i);
  const DropoutMask mask = DropoutMask::make(shape_.dropout, 0, 0, index);  // seed and step are the header's
  const SampledTree& batch = batches_.tree(tree);
  const TreeDropout dropout{batch.header(), index, mask.threshold, mask.threshold == 0 ? 1.0f : mask.scale};
  return {batch.growth(layers_.size() - 2 - i),
          batch.nodes(),
          dropout,
          layers_[i].shape.out,
          shape_.activations,
          layers_[i].kept.get()};
}

std::byte* SageLayers::aggregated_features_of(std::size_t tree) const {
  const Layer& first = layers_.front();
  if (gather_multiprocessors_ == 0) return first.operand.get();
  const std::int64_t elements =
      static_cast<std::int64_t>(tree % FusedLayer::kNumBatches) * first.shape.rows * first.shape.in;
  return first.operand.get() + static_cast<std::size_t>(elements) * size_of(shape_.activations);
}

void SageLayers::gather(Place place, cudaStream_t stream) const {
  LastHop hop = batches_.tree(place.tree).last_hop();
  if (gather_multiprocessors_ > 0)
    return aggregate_features_apart(hop, features_, gather_multiprocessors_, aggregated_features_of(place.tree),
                                    stream);
  hop.capacity = first_rows_[place.choice];
  const RowsBehind behind = fused_ ? RowsBehind::kAsTheyWere : RowsBehind::kZeros;
  aggregate_features(hop, features_, shape_.activations, behind, layers_[0].operand.get(), stream);
}

void SageLayers::draw(Place place, cudaStream_t stream) const {
  if (fused_) fused_->draw(hidden_layer(0, place.tree), place.tree % FusedLayer::kNumBatches, stream);
}

void SageLayers::enqueue_first(Place place, cudaStream_t stream) const {
  if (fused_)
    fused_->forward(hidden_layer(0, place.tree), place.tree % FusedLayer::kNumBatches, layers_[0].weight.get(),
                    layers_[1].operand.get(), stream);
  else
    first_forward_[place.choice].run(stream);
}

void SageLayers::enqueue_layer(std::size_t i, Place place, cudaStream_t stream) const {
  if (i > 1 || !fused_)
    aggregate_hidden(hidden_layer(i - 1, place.tree), layers_[i - 1].result.get(), layers_[i].operand.get(), stream);
  if (has_hidden_product(i))
    hidden_[i - 1].run(hidden_layer(i, place.tree).growth.num_grown, layers_[i].result.get(), stream);
  else
    later_forward_[i - 1 - hidden_.size()].run(stream);
}

int SageLayers::multiprocessors() const {
  return device_attribute(cudaDevAttrMultiProcessorCount) - gather_multiprocessors_;
}

void SageLayers::enqueue_fused_gradient(Place place, const void* gradient, cudaStream_t stream) const {
  fused_->backward(hidden_layer(0, place.tree), place.tree % FusedLayer::kNumBatches, gradient, stream);
}

}  // namespace salient
