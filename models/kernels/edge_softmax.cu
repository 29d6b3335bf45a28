// models/kernels/edge_softmax.cu - softmax over attention edges on the device.
//
// Work split  a warp per (row, head), lanes over the row's edges.
// Access      logits and weights are scalars; each is read two or three times, through the L1 cache.
// Sync        warp shuffles.
#include "models/kernels/attention_edges.cuh"
#include "models/kernels/edge_softmax.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__device__ float warp_max(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, step));
  return value;
}

__global__ void edge_softmax_kernel(HopEdges hop, std::int64_t heads, float* __restrict__ edges) {
  for_each_edge_group(hop, heads, 5, [&](const EdgeGroup& at) {
    float largest = -INFINITY, total = 0;
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp)
      largest = fmaxf(largest, edges[e * heads + at.head]);
    largest = warp_max(largest);
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp)
      total += edges[e * heads + at.head] = expf(edges[e * heads + at.head] - largest);
    total = warp_sum(total);
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp) edges[e * heads + at.head] /= total;
  });
}

__global__ void edge_softmax_backward_kernel(HopEdges hop, std::int64_t heads, const float* __restrict__ weights,
                                             float* __restrict__ grad) {
  for_each_edge_group(hop, heads, 5, [&](const EdgeGroup& at) {
    float mean = 0;
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp)
      mean += weights[e * heads + at.head] * grad[e * heads + at.head];
    mean = warp_sum(mean);
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp)
      grad[e * heads + at.head] = weights[e * heads + at.head] * (grad[e * heads + at.head] - mean);
  });
}

}  // namespace

// ---- host code: size the grid, launch, check -------------------------------------------------------------

void edge_softmax(const HopEdges& hop, std::int64_t heads, float* edges, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  edge_softmax_kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, stream>>>(hop, heads, edges);
  cuda_check(cudaGetLastError());
}

void edge_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad,
                           cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  edge_softmax_backward_kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, stream>>>(hop, heads, weights, grad);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
