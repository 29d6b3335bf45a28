// models/resident/attention_slots.cuh - the softmax of one node's entries by a warp or half of one: lane k has entry k.
#pragma once

#include <cfloat>
#include <cstdint>

namespace salient {

constexpr float kSlope = 0.2f;  // of leaky_relu below 0
constexpr unsigned kWarp = 0xFFFFFFFF;

/// The lanes of a thread's group of kLanes neighbouring ones.
template <int kLanes>
__device__ unsigned lanes_of_group() {
  return (kWarp >> (32 - kLanes)) << (threadIdx.x & 31 & ~(kLanes - 1U));
}

template <int kLanes = 32>
__device__ float warp_sum(float value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(lanes_of_group<kLanes>(), value, offset);
  return value;
}
template <int kLanes = 32>
__device__ float warp_max(float value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(lanes_of_group<kLanes>(), value, offset));
  return value;
}

/// Lane k gets the sum over the warp of values[k % 8]; values are lost.
__device__ inline float warp_sums(float (&values)[8]) {
  const unsigned lane = threadIdx.x & 31;
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {  // of the values that a lane still has; its partner keeps the others
    const bool keeps_upper = (lane & half) != 0;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const float lower = values[k], upper = values[k + half];
      const float given = __shfl_xor_sync(kWarp, keeps_upper ? lower : upper, half);
      values[k] = (keeps_upper ? upper : lower) + given;
    }
  }
  const float sum = values[0] + __shfl_xor_sync(kWarp, values[0], 8);
  return sum + __shfl_xor_sync(kWarp, sum, 16);
}

__device__ inline float leaky(float x) { return fmaxf(x, x * kSlope); }

/// Of a node itself, the same in all lanes, and of its entry `lane`.
struct Slots {
  float own, entry;

  /// The softmax of these logits; entries that do not count have -infinity.
  template <int kLanes = 32>
  __device__ Slots softmax() const {
    const float most = fmaxf(own, warp_max<kLanes>(entry));
    const float of_own = expf(own - most), of_entry = entry == -INFINITY ? 0.0f : expf(entry - most);
    const float all = of_own + warp_sum<kLanes>(of_entry);
    return {of_own / all, of_entry / all};
  }
  /// The gradient of softmax() where these are its results. @param d  the gradient of the results
  template <int kLanes = 32>
  __device__ Slots softmax_backward(const Slots& d) const {
    const float mean = own * d.own + warp_sum<kLanes>(entry * d.entry);
    return {own * (d.own - mean), entry * (d.entry - mean)};
  }
};

/// A node's row of [nodes, fanout + 2] slots: itself, its entries, one more.
struct SlotRow {
  float* at;

  __device__ SlotRow(float* slots, std::int64_t fanout, std::int64_t i) : at(slots + i * (fanout + 2)) {}
  __device__ Slots load(int lane, int kept) const { return {at[0], lane < kept ? at[1 + lane] : 0.0f}; }
  __device__ void store(const Slots& values, int lane, int kept) const {
    if (lane == 0) at[0] = values.own;
    if (lane < kept) at[1 + lane] = values.entry;
  }
};

}  // namespace salient
