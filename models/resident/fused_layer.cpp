// models/resident/fused_layer.cpp - see fused_layer.h.
#include "models/resident/fused_layer.h"

#include <cudaTypedefs.h>

#include <algorithm>

#include "core/error.h"

namespace salient {
namespace {

std::int64_t max_tiles_of(const FusedShape& shape) {
  const int parents = FusedTiles::parents_of(shape.fanout);
  return (shape.parents + parents - 1) / parents;
}

int attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

/// Memory is planned on machines without a GPU, too.
bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/// The driver's function, without a link to the driver's library.
PFN_cuTensorMapEncodeTiled_v12000 encode_function() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cuda_check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  require(found == cudaDriverEntryPointSuccess, "the driver describes matrices to the copy engine");
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

/// Boxes of `rows` rows and 64 columns of the operand, as wgmma.cuh wants them.
CUtensorMap boxes_of(const FusedShape& shape, const void* operand, int rows) {
  CUtensorMap map{};
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(shape.in), static_cast<cuuint64_t>(shape.rows)};
  const cuuint64_t row_bytes = sizes[0] * 2;
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(rows)}, steps[] = {1, 1};
  const CUresult result =
      encode_function()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(operand), sizes, &row_bytes, box,
                        steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  require(result == CUDA_SUCCESS, "the copy engine can read the operand");
  return map;
}

}  // namespace

bool FusedLayer::fits(const FusedShape& shape, ActivationType type, int hidden_dim) {
  return type == ActivationType::kBf16 && hidden_dim == kFusedWidth && shape.in >= 64 && shape.in <= kMaxFusedInput &&
         shape.rows >= kSlots && has_device() && attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
         attribute(cudaDevAttrComputeCapabilityMinor) == 0;
}

int FusedLayer::num_multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

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
            .multiprocessors = std::max(2, num_multiprocessors() - apart)},
      bits_(make_device_array<std::uint32_t>(kNumBatches * static_cast<std::size_t>(same_.max_tiles) * kFusedThreads *
                                             4)) {
  for (std::size_t batch = 0; batch < kNumBatches; ++batch)
    boxes_[batch] = {boxes_of(shape, operands[batch], kOwnSlots), boxes_of(shape, operands[batch], kSlots - kOwnSlots)};
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
