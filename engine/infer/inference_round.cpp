// engine/infer/inference_round.cpp - see inference_round.h.
#include "engine/infer/inference_round.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <span>

namespace salient {

AccuracyCounter::AccuracyCounter(at::Device device)
    : counts_(at::zeros({3}, at::TensorOptions(device).dtype(at::kLong))) {}

void AccuracyCounter::add(const at::Tensor& logits, const at::Tensor& labels) {
  counts_[0] += logits.size(0);
  counts_[1] += labels.ge(0).sum();
  counts_[2] += at::argmax(logits, -1).eq(labels).sum();
}

InferenceCounts AccuracyCounter::sum_over_ranks(Communicator& comm) const {
  const at::Tensor on_host = counts_.cpu();
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<double>(on_host.data_ptr<std::int64_t>()[i]);
  comm.all_reduce_sum(std::span<double>(sums));
  return {.nodes = static_cast<std::int64_t>(sums[0]),
          .labelled = static_cast<std::int64_t>(sums[1]),
          .correct = static_cast<std::int64_t>(sums[2])};
}

}  // namespace salient
