// models/resident/weights.cu - see weights.h.
//
// Work split  a thread per element of a packed matrix, a row of blocks per layer; grid stride.
// Limit       latency: weights are a few hundred kilobytes, in the L2 cache; of a fused first layer 50 times that.
// Sync        none; in the update the block's, around Adam's corrections, and an atomic a block. With peers a block
//             waits for the same elements of all ranks, so the grid is small enough to be on the GPU as a whole.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/adam.cuh"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/peer_sums.cuh"
#include "models/resident/weights.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// Where element `t` of the packed matrix comes from.
struct PackedElement {
  bool is_weight;  ///< false: padding
  bool is_self;
  std::int64_t at;

  __device__ static PackedElement of(const SageWeights& w, std::int64_t t) {
    const std::int64_t in_padded = padded(w.in_dim);
    const std::int64_t row = t / (2 * in_padded), column = t % (2 * in_padded) % in_padded;
    return {row < w.out_dim && column < w.in_dim, t % (2 * in_padded) >= in_padded, row * w.in_dim + column};
  }
};

/// All layers, as a kernel's argument.
struct Layers {
  PackedWeights layer[kMaxResidentLayers];
};

__host__ __device__ std::int64_t num_packed(const SageWeights& weights) {
  return padded(weights.out_dim) * 2 * padded(weights.in_dim);
}

/// Of element `t` of a packed matrix.
__device__ float gradient_of(const PackedWeights& from, std::int64_t t) {
  float sum = 0;
#pragma unroll 8
  for (int part = 0; part < from.num_gradients; ++part)
    sum += from.packed_gradient[part * num_packed(from.weights) + t];
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) pack_kernel(Layers layers) {
  const PackedWeights& to = layers.layer[blockIdx.y];
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < num_packed(to.weights);
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const PackedElement e = PackedElement::of(to.weights, t);
    const float value = !e.is_weight ? 0.0f : e.is_self ? to.weights.self[e.at] : to.weights.around[e.at];
    static_cast<T*>(to.packed)[t] = static_cast<T>(value);
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock) unpack_kernel(Layers layers) {
  const PackedWeights& from = layers.layer[blockIdx.y];
  const SageWeights& to = from.weights;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < num_packed(to);
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const PackedElement e = PackedElement::of(to, t);
    if (!e.is_weight) continue;
    (e.is_self ? to.self_gradient : to.around_gradient)[e.at] = gradient_of(from, t);
  }
}

/// Adam's step of element `t`, and its packed form.
/// @param gradient  gives it; called when all else is there
template <class T, class Gradient>
__device__ void update_element(const PackedWeights& layer, std::int64_t t, const ParameterUpdate& update,
                               const AdamCorrections& corrections, const Gradient& gradient) {
  const SageWeights& w = layer.weights;
  const PackedElement e = PackedElement::of(w, t);
  const std::int64_t i = (e.is_self ? w.self : w.around) + e.at - update.state.parameters;
  const AdamElement before = AdamElement::of(update.state, i);
  const AdamElement after = before.after(gradient(), update.rates, corrections);
  after.store(update.state, i);
  static_cast<T*>(layer.packed)[t] = static_cast<T>(after.value);
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    update_kernel(Layers layers, ParameterUpdate update, const StepHeader* __restrict__ header) {
  __shared__ AdamCorrections corrections;
  AdamCorrections::compute(update.rates, header->learning_rate, *update.state.step, &corrections);
  const PackedWeights& layer = layers.layer[blockIdx.y];
  const std::int64_t count = num_packed(layer.weights), stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const float first_gradient = t < count ? gradient_of(layer, t) : 0.0f;  // before the corrections are waited for
  __syncthreads();
  for (float gradient = first_gradient; t < count; t += stride, gradient = t < count ? gradient_of(layer, t) : 0.0f)
    if (PackedElement::of(layer.weights, t).is_weight)  // padding stays zero
      update_element<T>(layer, t, update, corrections, [&] { return gradient; });
  if (threadIdx.x == 0) (void)count_adam_step(update.state, gridDim.x * gridDim.y);
}

/// The same with the gradients of all ranks.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksWithPeers)
    update_with_peers_kernel(Layers layers, ParameterUpdate update, const __grid_constant__ PeerSums peers,
                             const StepHeader* __restrict__ header) {
  __shared__ AdamCorrections corrections;
  const PackedWeights& layer = layers.layer[blockIdx.y];
  const std::int64_t count = num_packed(layer.weights), stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const PeerSum sum(peers);
  for (std::int64_t t = first; t < count; t += stride)
    if (PackedElement::of(layer.weights, t).is_weight) sum.send(layer.first_value + t, gradient_of(layer, t));
  AdamCorrections::compute(update.rates, header->learning_rate, *update.state.step, &corrections);
  __syncthreads();
  for (std::int64_t t = first; t < count; t += stride)
    if (PackedElement::of(layer.weights, t).is_weight)
      update_element<T>(layer, t, update, corrections, [&] { return sum.receive(layer.first_value + t); });
  __syncthreads();
  if (threadIdx.x == 0 && count_adam_step(update.state, gridDim.x * gridDim.y)) sum.end();
}

// ---- host code -------------------------------------------------------------------------------------------

struct Grid {
  Layers layers{};
  dim3 blocks{};
};

template <class Kernel>
Kernel of_type(ActivationType type, Kernel f32, Kernel f16, Kernel bf16) {
  return type == ActivationType::kF32 ? f32 : type == ActivationType::kF16 ? f16 : bf16;
}

Grid grid_of(std::span<const PackedWeights> layers) {
  require(!layers.empty() && layers.size() <= std::size_t{kMaxResidentLayers}, "a model has 1 to 8 layers");
  Grid grid;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    grid.layers.layer[i] = layers[i];
    largest = std::max(largest, num_packed(layers[i].weights));
  }
  grid.blocks = dim3(blocks_for(largest), static_cast<unsigned>(layers.size()));
  return grid;
}

}  // namespace

void pack_weights(std::span<const PackedWeights> layers, ActivationType type, cudaStream_t stream) {
  const Grid grid = grid_of(layers);
  const auto kernel = of_type(type, pack_kernel<float>, pack_kernel<__half>, pack_kernel<Bf16>);
  kernel<<<grid.blocks, kThreadsPerBlock, 0, stream>>>(grid.layers);
  cuda_check(cudaGetLastError());
}

void unpack_gradients(std::span<const PackedWeights> layers, cudaStream_t stream) {
  const Grid grid = grid_of(layers);
  unpack_kernel<<<grid.blocks, kThreadsPerBlock, 0, stream>>>(grid.layers);
  cuda_check(cudaGetLastError());
}

void update_weights(std::span<const PackedWeights> layers, ActivationType type, const ParameterUpdate& update,
                    const StepHeader* header, cudaStream_t stream) {
  Grid grid = grid_of(layers);
  if (update.peers) {
    const PackedWeights& last = layers.back();
    require(last.first_value + num_packed(last.weights) <= update.peers->num_values, "layers fit the peers' memory");
    grid.blocks.x = std::min(grid.blocks.x, std::max(1U, most_blocks_with_peers() / grid.blocks.y));
    const auto kernel = of_type(type, update_with_peers_kernel<float>, update_with_peers_kernel<__half>,
                                update_with_peers_kernel<Bf16>);
    kernel<<<grid.blocks, kThreadsPerBlock, 0, stream>>>(grid.layers, update, *update.peers, header);
  } else {
    const auto kernel = of_type(type, update_kernel<float>, update_kernel<__half>, update_kernel<Bf16>);
    kernel<<<grid.blocks, kThreadsPerBlock, 0, stream>>>(grid.layers, update, header);
  }
  cuda_check(cudaGetLastError());
}

}  // namespace salient
