// models/resident/seed_loss.cuh - the loss of one seed and the gradient of its logits, by a warp.
#pragma once

#include <cfloat>
#include <cmath>
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

/// The loss of a value that is d too high, in units of its deviation, and its slope.
struct ValueLoss {
  float loss, slope;

  __device__ static ValueLoss of(RegressionLoss kind, float d) {
    const float size = fabsf(d), sign = d > 0 ? 1.0f : d < 0 ? -1.0f : 0.0f;
    if (kind == RegressionLoss::kMse) return {d * d, 2 * d};
    if (kind == RegressionLoss::kMae) return {size, sign};
    return size <= 1 ? ValueLoss{d * d / 2, d} : ValueLoss{size - 0.5f, sign};
  }
};

/// loss_of_seed() of values.
template <class Store>
__device__ void loss_of_values(const SeedLoss& loss, std::int64_t i, const float* z, std::int64_t columns,
                               Store store) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const bool counts = i < loss.header->num_seeds;
  const float* const known = counts ? loss.targets.values + std::int64_t{loss.nodes[i]} * loss.num_classes : nullptr;
  float sum = 0;
  for (std::int64_t c = lane; c < columns; c += 32) {
    const float value = counts && c < loss.num_classes ? known[c] : NAN;
    ValueLoss one{0, 0};
    if (!isnan(value)) one = ValueLoss::of(loss.targets.regression, z[c] - value);
    sum += one.loss;
    store(c, one.slope * loss.header->gradient_scale);
  }
  sum = sum_of_lanes(sum);
  if (lane > 0) return;
  loss.rows[2 * i] = sum;
  loss.rows[2 * i + 1] = 0;
}

/// loss_of_seed() of classes.
template <bool is_weighted, class Store>
__device__ void loss_of_class(const SeedLoss& loss, std::int64_t i, const float* z, std::int64_t columns, Store store) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int32_t label = i < loss.header->num_seeds ? loss.targets.classes[loss.nodes[i]] : -1;
  if (label < 0) {
    for (std::int64_t c = lane; c < columns; c += 32) store(c, 0.0f);
    if (lane < 2) loss.rows[2 * i + lane] = 0;
    return;
  }
  const auto weight_of = [&loss](std::int64_t c) { return is_weighted ? loss.targets.class_weights[c] : 1.0f; };
  Best best{-FLT_MAX, loss.num_classes};
  for (std::int64_t c = lane; c < loss.num_classes; c += 32)
    if (z[c] > best.value) best = {z[c], c};
  best = best_of_lanes(best);
  float exponentials = 0, logits_sum = 0;
  for (std::int64_t c = lane; c < loss.num_classes; c += 32) {
    exponentials += expf(z[c] - best.value);
    logits_sum += is_weighted ? weight_of(c) * z[c] : z[c];
  }
  exponentials = sum_of_lanes(exponentials);
  logits_sum = sum_of_lanes(logits_sum);
  // apart from the largest logit, to which it would be rounded: of a sure prediction it is all that the loss is
  const float log_sum = logf(exponentials);
  const auto classes = static_cast<float>(loss.num_classes);
  const float even = loss.label_smoothing / classes;
  const float rest = is_weighted ? (1 - loss.label_smoothing) * weight_of(label) : 1 - loss.label_smoothing;
  const float all = is_weighted ? weight_of(loss.num_classes) : classes;  // the sum of all weights
  const float total = rest + even * all;                                  // of the target: 1 where all count alike
  for (std::int64_t c = lane; c < columns; c += 32) {
    const float probability = c < loss.num_classes ? expf(z[c] - best.value) / exponentials : 0.0f;
    const float share = is_weighted && c < loss.num_classes ? even * weight_of(c) : even;
    const float target = c < loss.num_classes ? share + (c == label ? rest : 0.0f) : 0.0f;
    store(c, ((is_weighted ? total * probability : probability) - target) * loss.header->gradient_scale);
  }
  if (lane > 0) return;
  loss.rows[2 * i] = rest * (log_sum + (best.value - z[label])) + even * (all * (log_sum + best.value) - logits_sum);
  loss.rows[2 * i + 1] = best.column == label ? 1.0f : 0.0f;
}

/// Of seed i, by all lanes of a warp. Writes its row of SeedLoss::rows.
/// @param z      its logits
/// @param store  store(c, value) takes the gradient of each column c < columns; zeros for a seed that does not count
template <SeedLossKind kind, class Store>
__device__ void loss_of_seed(const SeedLoss& loss, std::int64_t i, const float* z, std::int64_t columns, Store store) {
  if constexpr (kind == SeedLossKind::kValues)
    loss_of_values(loss, i, z, columns, store);
  else
    loss_of_class<kind == SeedLossKind::kWeightedClasses>(loss, i, z, columns, store);
}

}  // namespace salient
