// models/resident/aggregate_hidden.cu - see operands.h: ReLU, dropout and mean of a hidden layer, and their gradient.
//
// Work split  a group of lanes per row, a lane per chunk of eight columns; up, it walks over the row's children. Rows
//             that do not fill a GPU so have a block each, whose warps share the children.
// Access      children lie behind each other, so both ways stream through memory in words of 16 bytes.
// Limit       memory: up, z read once, one bit an element written; down, dz written once, its source comes from the
//             cache.
// Sync        none; where a block has a row, its barrier before its warps' sums are added up.
#include "core/error.h"
#include "models/kernels/dropout.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/activation.cuh"
#include "models/resident/operands.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    aggregate_hidden_kernel(HiddenLayer layer, const T* __restrict__ z, RowGroup group, T* __restrict__ out) {
  const TreeGrowth& growth = layer.growth;
  const TreeDropout& dropout = layer.dropout;
  const std::int64_t chunks = layer.width / 8;
  const int lane = static_cast<int>(threadIdx.x) & (group.lanes() - 1);
  const std::int64_t rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const LocalId count = *growth.num_nodes;
  const DropoutMask mask{dropout.header->seed, dropout.header->global_step, dropout.layer, dropout.threshold,
                         dropout.scale};
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
       i < growth.capacity; i += std::int64_t{gridDim.x} * rows_per_block) {
    const bool is_node = i < count;
    const LocalId first = is_node ? growth.first_child[i] : 0, end = is_node ? growth.first_child[i + 1] : 0;
    const float scale = end == first ? 0.0f : 1.0f / static_cast<float>(end - first);
    for (std::int64_t chunk = lane; chunk < chunks; chunk += group.lanes()) {
      float mean[8] = {}, own[8] = {};
      if (is_node) {
        load_eight(z + (i * chunks + chunk) * 8, own);
        const std::uint8_t own_bits = activate(dropout, mask, layer.nodes[i], chunk, own);
        if (layer.kept != nullptr) layer.kept[i * chunks + chunk] = own_bits;
#pragma unroll 4
        for (LocalId child = first; child < end; ++child) {
          const std::int64_t row = std::int64_t{count} + child;
          float values[8];
          load_eight(z + (row * chunks + chunk) * 8, values);
          const std::uint8_t bits = activate(dropout, mask, layer.nodes[row], chunk, values);
          if (layer.kept != nullptr) layer.kept[row * chunks + chunk] = bits;
#pragma unroll
          for (int c = 0; c < 8; ++c) mean[c] += values[c];
        }
#pragma unroll
        for (int c = 0; c < 8; ++c) mean[c] *= scale;
      }
      store_eight(mean, out + (i * 2 * chunks + chunk) * 8);
      store_eight(own, out + ((i * 2 + 1) * chunks + chunk) * 8);
    }
  }
}

constexpr int kWarps = kThreadsPerBlock / 32;

/// The same, a block per row, of whole warps of chunks. The last warp has the row itself, too.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    aggregate_hidden_few_kernel(HiddenLayer layer, const T* __restrict__ z, T* __restrict__ out) {
  __shared__ float sums[kWarps][32][9];  // a column more, so that lanes meet in no bank
  const TreeGrowth& growth = layer.growth;
  const TreeDropout& dropout = layer.dropout;
  const std::int64_t chunks = layer.width / 8;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) & 31;
  const LocalId count = *growth.num_nodes;
  const DropoutMask mask{dropout.header->seed, dropout.header->global_step, dropout.layer, dropout.threshold,
                         dropout.scale};
  const auto activated = [&](std::int64_t row, std::int64_t chunk, float(&values)[8]) {
    load_eight(z + (row * chunks + chunk) * 8, values);
    const std::uint8_t bits = activate(dropout, mask, layer.nodes[row], chunk, values);
    if (layer.kept != nullptr) layer.kept[row * chunks + chunk] = bits;
  };
  for (std::int64_t i = blockIdx.x; i < growth.capacity; i += gridDim.x) {
    const bool is_node = i < count;
    const LocalId first = is_node ? growth.first_child[i] : 0, end = is_node ? growth.first_child[i + 1] : 0;
    const float scale = end == first ? 0.0f : 1.0f / static_cast<float>(end - first);
    for (std::int64_t base = 0; base < chunks; base += 32) {
      float sum[8] = {}, own[8] = {};
#pragma unroll 2
      for (LocalId child = first + warp; child < end; child += kWarps) {
        float values[8];
        activated(std::int64_t{count} + child, base + lane, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) sum[c] += values[c];
      }
      if (warp == kWarps - 1) {
        if (is_node) activated(i, base + lane, own);
        store_eight(own, out + ((i * 2 + 1) * chunks + base + lane) * 8);
      }
#pragma unroll
      for (int c = 0; c < 8; ++c) sums[warp][lane][c] = sum[c];
      __syncthreads();
      float mean = 0;
      const int column = static_cast<int>(threadIdx.x);
#pragma unroll
      for (int w = 0; w < kWarps; ++w) mean += sums[w][column / 8][column % 8];
      out[i * 2 * layer.width + base * 8 + column] = static_cast<T>(mean * scale);
      __syncthreads();  // before the sums are written again
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    aggregate_backward_kernel(HiddenLayer layer, const T* __restrict__ gradient, RowGroup group, T* __restrict__ dz) {
  const TreeGrowth& growth = layer.growth;
  const std::int64_t chunks = layer.width / 8;
  const float scale = layer.dropout.scale;
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const LocalId count = *growth.num_nodes, num_grown = *growth.num_grown;
  for (std::int64_t row = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
       row < growth.grown_capacity; row += std::int64_t{gridDim.x} * rows_per_block) {
    const T* from = gradient + (2 * row + 1) * chunks * 8;  // its own half of the operand's row
    float share = scale;
    if (row >= count && row < num_grown) {
      const std::int64_t parent = growth.parent[row - count];
      from = gradient + 2 * parent * chunks * 8;
      share = scale / static_cast<float>(growth.first_child[parent + 1] - growth.first_child[parent]);
    }
    for (std::int64_t chunk = lane; chunk < chunks; chunk += group.lanes()) {
      float values[8] = {};
      if (row < num_grown) {
        const std::uint8_t bits = layer.kept[row * chunks + chunk];
        load_eight(from + chunk * 8, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) values[c] = (bits >> c & 1) != 0 ? values[c] * share : 0.0f;
      }
      store_eight(values, dz + (row * chunks + chunk) * 8);
    }
  }
}

// ---- host code -------------------------------------------------------------------------------------------

/// Blocks for a group of lanes per row.
unsigned blocks_of(std::int64_t rows, RowGroup group) { return blocks_for(rows << group.log_lanes); }

template <class T>
void launch_next(const HiddenLayer& layer, const void* z, void* out, cudaStream_t stream) {
  constexpr std::int64_t kFewRows = 4096;  // warps of them do not fill a GPU
  const RowGroup group = RowGroup::make(layer.width / 8);
  if (layer.growth.capacity <= kFewRows && layer.width % kThreadsPerBlock == 0) {
    aggregate_hidden_few_kernel<<<static_cast<unsigned>(layer.growth.capacity), kThreadsPerBlock, 0, stream>>>(
        layer, static_cast<const T*>(z), static_cast<T*>(out));
    return cuda_check(cudaGetLastError());
  }
  aggregate_hidden_kernel<<<blocks_of(layer.growth.capacity, group), kThreadsPerBlock, 0, stream>>>(
      layer, static_cast<const T*>(z), group, static_cast<T*>(out));
  cuda_check(cudaGetLastError());
}

template <class T>
void launch_spread(const HiddenLayer& layer, const void* gradient, void* dz, cudaStream_t stream) {
  const RowGroup group = RowGroup::make(layer.width / 8);
  aggregate_backward_kernel<<<blocks_of(layer.growth.grown_capacity, group), kThreadsPerBlock, 0, stream>>>(
      layer, static_cast<const T*>(gradient), group, static_cast<T*>(dz));
  cuda_check(cudaGetLastError());
}

}  // namespace

void aggregate_hidden(const HiddenLayer& layer, const void* z, void* out, cudaStream_t stream) {
  require(layer.width % 8 == 0, "hidden layers have a multiple of 8 columns");
  layer.type == ActivationType::kF32 ? launch_next<float>(layer, z, out, stream)
                                     : launch_next<Bf16>(layer, z, out, stream);
}

void aggregate_backward(const HiddenLayer& layer, const void* gradient, void* dz, cudaStream_t stream) {
  layer.type == ActivationType::kF32 ? launch_spread<float>(layer, gradient, dz, stream)
                                     : launch_spread<Bf16>(layer, gradient, dz, stream);
}

}  // namespace salient
