// engine/infer/confusion_counter.cpp - see confusion_counter.h. Integer sums do not depend on their order.
#include "engine/infer/confusion_counter.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <span>

#include "engine/report/confusion.h"

namespace salient {
namespace {

std::int64_t num_counts(std::int64_t num_classes) {
  return num_classes <= kMaxConfusionClasses ? num_classes * num_classes : 3 * num_classes;
}

}  // namespace

ConfusionCounter::ConfusionCounter(int num_classes, at::Device device)
    : num_classes_(num_classes),
      has_matrix_(num_classes <= kMaxConfusionClasses),
      counts_(at::zeros({num_counts(num_classes_) + 1}, at::TensorOptions(device).dtype(at::kLong))) {}

void ConfusionCounter::clear() { counts_.zero_(); }

void ConfusionCounter::add(const at::Tensor& logits, const at::Tensor& labels) {
  const std::int64_t none = num_counts(num_classes_);
  const auto count = [&](const at::Tensor& cell, const at::Tensor& is_left_out) {
    const at::Tensor index = cell.masked_fill(is_left_out, none);
    counts_.index_add_(0, index, at::ones_like(index));
  };
  const at::Tensor truth = labels.to(at::kLong), guess = at::argmax(logits, -1), is_unlabelled = labels.lt(0);
  if (has_matrix_) return count(truth.mul(num_classes_).add(guess), is_unlabelled);
  count(truth, is_unlabelled);
  count(guess.add(num_classes_), is_unlabelled);
  count(truth.add(2 * num_classes_), truth.ne(guess));
}

ConfusionCounter::Sums ConfusionCounter::sum_over_ranks(Communicator& comm) const {
  const at::Tensor on_host = counts_.cpu();
  const auto classes = static_cast<std::size_t>(num_classes_);
  const std::span<const std::int64_t> mine(on_host.data_ptr<std::int64_t>(),
                                           static_cast<std::size_t>(num_counts(num_classes_)));
  std::vector<double> sums(mine.begin(), mine.end());
  comm.all_reduce_sum(std::span<double>(sums));
  const std::vector<std::int64_t> counts(sums.begin(), sums.end());
  if (has_matrix_) return {counts, ClassTally::of_matrix(counts, classes)};
  Sums found{.tally = ClassTally(classes)};
  std::copy_n(counts.begin(), classes, found.tally.labelled.begin());
  std::copy_n(counts.begin() + num_classes_, classes, found.tally.predicted.begin());
  std::copy_n(counts.begin() + 2 * num_classes_, classes, found.tally.correct.begin());
  return found;
}

}  // namespace salient
