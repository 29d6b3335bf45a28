// models/kernels/multilabel_bce_loss.cpp - see multilabel_bce_loss.h.
#include "models/kernels/multilabel_bce_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/kernels/parallel.h"

namespace salient {
namespace {

constexpr std::size_t kLabelsPerTask = 1 << 12;

}  // namespace

BceSums multilabel_bce_loss(BceTarget target, std::span<const float> logits, const std::int8_t* flags, float* grad) {
  const std::size_t num_tasks = (logits.size() + kLabelsPerTask - 1) / kLabelsPerTask;
  std::vector<BceSums> sum_of(num_tasks);
  parallel_rows(static_cast<std::int64_t>(num_tasks), 1, [&](std::int64_t task) {
    const std::size_t first = static_cast<std::size_t>(task) * kLabelsPerTask;
    BceSums& sum = sum_of[static_cast<std::size_t>(task)];
    for (std::size_t i = first; i < std::min(first + kLabelsPerTask, logits.size()); ++i) {
      grad[i] = 0;
      if (flags[i] < 0) continue;
      const float z = logits[i], t = target.of(flags[i]);
      const float e = std::exp(-std::fabs(z));
      sum.loss += static_cast<double>(std::max(z, 0.0f) - t * z + std::log1p(e));
      sum.correct += (z > 0) == (flags[i] == 1) ? 1 : 0;
      grad[i] = (z >= 0 ? 1.0f : e) / (1 + e) - t;
    }
  });
  BceSums sums;
  for (const BceSums& sum : sum_of) {
    sums.loss += sum.loss;
    sums.correct += sum.correct;
  }
  return sums;
}

BceSums multilabel_bce_loss_reference(BceTarget target, std::span<const float> logits, const std::int8_t* flags,
                                      float* grad) {
  BceSums sums;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    grad[i] = 0;
    if (flags[i] < 0) continue;
    const double t = double{target.of(flags[i])}, p = 1 / (1 + std::exp(-double{logits[i]}));
    sums.loss -= t * std::log(p) + (1 - t) * std::log(1 - p);
    sums.correct += (logits[i] > 0) == (flags[i] == 1) ? 1 : 0;
    grad[i] = static_cast<float>(p - t);
  }
  return sums;
}

}  // namespace salient
