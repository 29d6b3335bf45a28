// engine/infer/confusion_counter.cpp - see confusion_counter.h. Integer sums do not depend on their order.
#include "engine/infer/confusion_counter.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>

#include <span>

namespace salient {

ConfusionCounter::ConfusionCounter(int num_classes, at::Device device)
    : num_classes_(num_classes),
      counts_(at::zeros({num_classes_ * num_classes_ + 1}, at::TensorOptions(device).dtype(at::kLong))) {}

void ConfusionCounter::clear() { counts_.zero_(); }

void ConfusionCounter::add(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor cell = labels.to(at::kLong).mul(num_classes_).add(at::argmax(logits, -1));
  const at::Tensor index = cell.masked_fill(labels.lt(0), num_classes_ * num_classes_);
  counts_.index_add_(0, index, at::ones_like(index));
}

std::vector<std::int64_t> ConfusionCounter::sum_over_ranks(Communicator& comm) const {
  const at::Tensor on_host = counts_.cpu();
  const std::span<const std::int64_t> mine(on_host.data_ptr<std::int64_t>(),
                                           static_cast<std::size_t>(num_classes_ * num_classes_));
  std::vector<double> sums(mine.begin(), mine.end());
  comm.all_reduce_sum(std::span<double>(sums));
  return {sums.begin(), sums.end()};
}

}  // namespace salient
