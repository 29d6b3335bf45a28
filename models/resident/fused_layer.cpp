// models/resident/fused_layer.cpp - see fused_layer.h.
#include "models/resident/fused_layer.h"

#include <algorithm>

#include "core/cuda/device_attribute.h"
#include "core/error.h"
#include "models/products/copy_boxes.h"

namespace salient {
namespace {

std::int64_t max_tiles_of(const FusedShape& shape) {
  const int parents = FusedTiles::parents_of(shape.fanout);
  return (shape.parents + parents - 1) / parents;
}

}  // namespace

bool FusedLayer::fits(const FusedShape& shape, ActivationType type, int hidden_dim) {
  return type == ActivationType::kBf16 && hidden_dim == kFusedWidth && shape.in >= 64 && shape.in <= kMaxFusedInput &&
         shape.rows >= kSlots && has_hopper();
}

std::int64_t FusedLayer::bytes(const FusedShape& shape) {
  constexpr std::int64_t kBitsOfTile = kFusedThreads * 16, kBlocks = 96;  // half of a GPU's multiprocessors at most
  return static_cast<std::int64_t>(kNumBatches) * max_tiles_of(shape) * kBitsOfTile +
         kBlocks * kFusedWidth * shape.in * 4;
}

FusedLayer::FusedLayer(const FusedShape& shape, const Operands& operands, int apart)
    : shape_(shape),
      same_{.tiles = {.parents = FusedTiles::parents_of(shape.fanout)},
            .max_tiles = max_tiles_of(shape),
            .own_rows = {},  // of a batch
            .child_rows = {},
            .in = static_cast<int>(shape.in),
            .multiprocessors = std::max(2, device_attribute(cudaDevAttrMultiProcessorCount) - apart)},
      bits_(make_device_array<std::uint32_t>(kNumBatches * static_cast<std::size_t>(same_.max_tiles) * kFusedThreads *
                                             4)) {
  for (std::size_t batch = 0; batch < kNumBatches; ++batch) {
    const BoxedMatrix operand{operands[batch], shape.rows, shape.in};
    boxes_[batch] = {boxes_of(operand, kOwnSlots), boxes_of(operand, kSlots - kOwnSlots)};
  }
  num_partials_ = static_cast<int>(std::clamp<std::int64_t>(same_.max_tiles, 1, same_.multiprocessors / 2));
  partials_ = make_device_array<float>(static_cast<std::size_t>(num_partials_ * kFusedWidth * shape.in));
}

FusedArguments FusedLayer::arguments(const HiddenLayer& layer, std::size_t batch) const {
  require(batch < kNumBatches, "two batches are under way");
  FusedArguments result = same_;
  result.own_rows = boxes_[batch].own_rows;
  result.child_rows = boxes_[batch].child_rows;
  result.tiles.num_nodes = layer.growth.num_nodes;
  result.tiles.first_child = layer.growth.first_child;
  result.tiles.bits = bits_.get() + static_cast<std::int64_t>(batch) * same_.max_tiles * kFusedThreads * 4;
  result.scale = layer.dropout.scale;
  return result;
}

void FusedLayer::draw(const HiddenLayer& layer, std::size_t batch, cudaStream_t stream) const {
  fused_dropout(arguments(layer, batch), {layer.nodes, layer.dropout}, stream);
}

void FusedLayer::forward(const HiddenLayer& layer, std::size_t batch, const void* weight, void* out,
                         cudaStream_t stream) const {
  fused_forward(arguments(layer, batch), weight, out, stream);
}

void FusedLayer::backward(const HiddenLayer& layer, std::size_t batch, const void* gradient,
                          cudaStream_t stream) const {
  fused_backward(arguments(layer, batch), gradient, num_partials_, partials_.get(), stream);
}

}  // namespace salient
