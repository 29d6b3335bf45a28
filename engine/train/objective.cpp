// engine/train/objective.cpp - see objective.h.
#include "engine/train/objective.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>
#include <span>
#include <string>

#include "engine/comm/agreement.h"
#include "models/ops/multilabel_bce_loss.h"

namespace salient {
namespace {

/// Every rank comes here for the same step, and some have a loss that is not a number.
[[noreturn]] void fail_diverged(Communicator& comm, int epoch, std::size_t step, bool is_mine,
                                const std::function<std::string()>& inputs) {
  std::vector<double> is_bad(static_cast<std::size_t>(comm.size()), 0.0);
  is_bad[static_cast<std::size_t>(comm.rank())] = is_mine ? 1 : 0;
  comm.all_reduce_sum(std::span<double>(is_bad));
  std::string ranks;
  for (std::size_t rank = 0; rank < is_bad.size() && comm.size() > 1; ++rank)
    if (is_bad[rank] > 0) ranks.append(ranks.empty() ? ", rank " : " and ").append(std::to_string(rank));
  const std::string what =
      "the loss is not a number at epoch " + std::to_string(epoch) + ", step " + std::to_string(step + 1) + ranks;
  if (epoch > 1 || step > 0) fail_on_all_ranks(comm, ErrorKind::kDiverged, what, Topic::kLearningRate);
  const std::string facts = comm.rank() == 0 ? inputs() : "";
  fail_on_all_ranks(comm, ErrorKind::kDiverged,
                    what + ", before any update, so it comes from the features" + (facts.empty() ? "" : ": ") + facts +
                        "; scale them to a size of about 1 and prepare the set again");
}

}  // namespace

at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels, double label_smoothing,
                             const at::Tensor& class_weights) {
  const at::Tensor log_p = at::log_softmax(logits, -1);
  at::Tensor likelihood = at::nll_loss(log_p, labels, class_weights, at::Reduction::Sum, /*ignore_index=*/-1);
  if (label_smoothing == 0) return likelihood;
  const at::Tensor of_classes = class_weights.defined() ? log_p * class_weights : log_p;
  const at::Tensor over_classes = of_classes.sum(-1).masked_fill(labels.lt(0), 0).sum();
  const double share = label_smoothing / static_cast<double>(logits.size(1));
  return likelihood.mul(1 - label_smoothing).sub(over_classes.mul(share));
}

at::Tensor regression_loss_sum(const at::Tensor& outputs, const at::Tensor& values, RegressionLoss loss) {
  const at::Tensor none = at::zeros_like(outputs);
  const at::Tensor difference = at::where(values.isnan(), none, outputs - values);
  switch (loss) {
    case RegressionLoss::kMse: return difference.square().sum();
    case RegressionLoss::kMae: return difference.abs().sum();
    case RegressionLoss::kHuber: return at::huber_loss(difference, none, at::Reduction::Sum, /*delta=*/1.0);
  }
  return none.sum();
}

Objective::Objective(const LossSpec& spec, std::size_t steps_per_epoch, at::Device device)
    : label_smoothing_(spec.label_smoothing), regression_(spec.regression) {
  if (!spec.class_weights.empty()) class_weights_ = at::tensor(spec.class_weights, at::kFloat).to(device);
  if (!spec.target_scales.empty()) {
    const at::Tensor scales = at::tensor(spec.target_scales, at::kFloat).view({2, -1}).to(device);
    means_ = scales[0];
    deviations_ = scales[1];
  }
  sums_ = at::zeros({static_cast<std::int64_t>(steps_per_epoch), 2}, at::TensorOptions(device).dtype(at::kDouble));
}

void Objective::start_epoch() {
  sums_.zero_();
  asked_.reset();
  told_ = {};
}

Objective::Told Objective::glance(std::size_t first, std::size_t end) {
  const auto read = [&](std::size_t to) {
    const double* const values = seen_.const_data_ptr<double>();
    told_ = {.steps = to - first};
    for (std::size_t s = first; s < to; ++s) told_.loss += values[2 * s];
  };
  if (sums_.is_cpu()) {
    seen_ = sums_;
    read(end);
    return told_;
  }
  if (asked_ && !asked_->query()) return told_;
  if (asked_) read(asked_end_);
  if (!seen_.defined()) seen_ = at::empty(sums_.sizes(), at::TensorOptions().dtype(at::kDouble).pinned_memory(true));
  seen_.copy_(sums_, /*non_blocking=*/true);
  asked_.emplace(sums_.device().type());
  asked_->record(c10::impl::VirtualGuardImpl(sums_.device().type()).getStream(sums_.device()));
  asked_end_ = end;
  return told_;
}

at::Tensor Objective::loss_sum(std::size_t step, const at::Tensor& logits, const at::Tensor& y) {
  const at::Tensor sums = sums_[static_cast<std::int64_t>(step)];
  if (y.is_floating_point()) {
    at::Tensor sum = regression_loss_sum(logits, (y - means_) / deviations_, regression_);
    sums[0].copy_(sum.detach());
    return sum;
  }
  if (y.dim() == 2) return multilabel_bce_loss_sum(logits, y, label_smoothing_, sums);
  const at::Tensor labels = y.to(at::kLong);
  at::Tensor sum = cross_entropy_sum(logits, labels, label_smoothing_, class_weights_);
  sums[0].copy_(sum.detach());
  sums[1].copy_(at::argmax(logits.detach(), -1).eq(labels).sum());
  return sum;
}

at::Tensor Objective::record(std::size_t step, at::Tensor sum) {
  sums_[static_cast<std::int64_t>(step)][0].copy_(sum.detach());
  return sum;
}

std::vector<Objective::StepSums> Objective::collect(Communicator& comm, int epoch, std::size_t first, std::size_t end,
                                                    const std::function<std::string()>& inputs) const {
  const at::Tensor on_host = sums_.cpu();
  const double* const values = on_host.const_data_ptr<double>();
  std::vector<double> mine;
  for (std::size_t s = first; s < end; ++s) mine.push_back(values[2 * s]);
  for (std::size_t s = first; s < end; ++s) mine.push_back(values[2 * s + 1]);
  std::vector<double> sums = mine;
  comm.all_reduce_sum(std::span<double>(sums));
  std::vector<StepSums> steps;
  const std::size_t count = end - first;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(sums[i])) fail_diverged(comm, epoch, first + i, /*is_mine=*/!std::isfinite(mine[i]), inputs);
    steps.push_back({sums[i], static_cast<std::int64_t>(sums[count + i])});
  }
  return steps;
}

}  // namespace salient
