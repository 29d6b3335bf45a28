// engine/infer/inference_round.cpp - see inference_round.h.
#include "engine/infer/inference_round.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <span>

#include "models/ops/class_counts.h"

namespace salient {
namespace {

constexpr std::int64_t kNumCounts = 7;

}  // namespace

AccuracyCounter::AccuracyCounter(at::Device device)
    : counts_(at::zeros({kNumCounts}, at::TensorOptions(device).dtype(at::kLong))) {}

void AccuracyCounter::add(const at::Tensor& logits, const at::Tensor& labels) {
  if (labels.dim() == 1 && logits.is_cuda()) {
    auto* const counts = counts_.mutable_data_ptr<std::int64_t>();
    return add_class_counts(logits, labels,
                            {.nodes = counts, .labelled = counts + 1, .correct = counts + 2, .not_finite = counts + 6});
  }
  counts_[0] += logits.size(0);
  counts_[1] += labels.is_floating_point() ? labels.isnan().logical_not().sum() : labels.ge(0).sum();
  counts_[6] += at::isfinite(logits).all(-1).logical_not().sum();
  if (labels.dim() == 1) {
    counts_[2] += at::argmax(logits, -1).eq(labels).sum();
    return;
  }
  if (labels.is_floating_point()) return;
  const at::Tensor is_positive = labels.eq(1), is_predicted = logits.gt(0);
  counts_[2] += is_predicted.eq(labels).sum();  // an unknown label, -1, equals neither 0 nor 1
  counts_[3] += is_positive.sum();
  counts_[4] += is_predicted.logical_and(labels.ge(0)).sum();
  counts_[5] += is_predicted.logical_and(is_positive).sum();
}

InferenceCounts AccuracyCounter::sum_over_ranks(Communicator& comm) const {
  const at::Tensor on_host = counts_.cpu();
  std::array<double, kNumCounts> sums{};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<double>(on_host.data_ptr<std::int64_t>()[i]);
  comm.all_reduce_sum(std::span<double>(sums));
  return {.nodes = static_cast<std::int64_t>(sums[0]),
          .labelled = static_cast<std::int64_t>(sums[1]),
          .correct = static_cast<std::int64_t>(sums[2]),
          .positives = static_cast<std::int64_t>(sums[3]),
          .predicted_positives = static_cast<std::int64_t>(sums[4]),
          .true_positives = static_cast<std::int64_t>(sums[5]),
          .not_finite = static_cast<std::int64_t>(sums[6])};
}

}  // namespace salient
