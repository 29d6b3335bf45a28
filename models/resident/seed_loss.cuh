// models/resident/seed_loss.cuh - the loss of one seed and the gradient of its logits, by a warp.
#pragma once

#include <cfloat>
#include <cstdint>

#include "models/resident/loss.h"

namespace salient {

inline constexpr unsigned kAllLanes = 0xFFFFFFFF;

__device__ inline float sum_of_lanes(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  return value;
}

struct Best {
  float value;
  std::int64_t column;
};

/// The largest value of a warp; of equal ones that in the first column.
__device__ inline Best best_of_lanes(Best best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Best other{__shfl_xor_sync(kAllLanes, best.value, offset), __shfl_xor_sync(kAllLanes, best.column, offset)};
    if (other.value > best.value || (other.value == best.value && other.column < best.column)) best = other;
  }
  return best;
}

/// Of seed i, by all lanes of a warp. Writes its row of SeedLoss::rows.
/// @param z      its logits
/// @param store  store(c, value) takes the gradient of each column c < columns; zeros for a seed that does not count
template <class Store>
__device__ void loss_of_seed(const SeedLoss& loss, std::int64_t i, const float* z, std::int64_t columns, Store store) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int32_t label = i < loss.header->num_seeds ? loss.labels[loss.nodes[i]] : -1;
  if (label < 0) {
    for (std::int64_t c = lane; c < columns; c += 32) store(c, 0.0f);
    if (lane < 2) loss.rows[2 * i + lane] = 0;
    return;
  }
  Best best{-FLT_MAX, loss.num_classes};
  for (std::int64_t c = lane; c < loss.num_classes; c += 32)
    if (z[c] > best.value) best = {z[c], c};
  best = best_of_lanes(best);
  float exponentials = 0, logits_sum = 0;
  for (std::int64_t c = lane; c < loss.num_classes; c += 32) {
    exponentials += expf(z[c] - best.value);
    logits_sum += z[c];
  }
  exponentials = sum_of_lanes(exponentials);
  logits_sum = sum_of_lanes(logits_sum);
  // apart from the largest logit, to which it would be rounded: of a sure prediction it is all that the loss is
  const float log_sum = logf(exponentials);
  const auto classes = static_cast<float>(loss.num_classes);
  const float even = loss.label_smoothing / classes, rest = 1 - loss.label_smoothing;
  for (std::int64_t c = lane; c < columns; c += 32) {
    const float probability = c < loss.num_classes ? expf(z[c] - best.value) / exponentials : 0.0f;
    const float target = c < loss.num_classes ? even + (c == label ? rest : 0.0f) : 0.0f;
    store(c, (probability - target) * loss.header->gradient_scale);
  }
  if (lane > 0) return;
  loss.rows[2 * i] =
      rest * (log_sum + (best.value - z[label])) + even * (classes * (log_sum + best.value) - logits_sum);
  loss.rows[2 * i + 1] = best.column == label ? 1.0f : 0.0f;
}

}  // namespace salient
