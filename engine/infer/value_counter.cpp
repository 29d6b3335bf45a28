// engine/infer/value_counter.cpp - see value_counter.h.
#include "engine/infer/value_counter.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <span>

namespace salient {

ValueCounter::ValueCounter(const TargetScales& scales, at::Device device)
    : means_(at::tensor(scales, at::kDouble).narrow(0, 0, static_cast<std::int64_t>(scales.size() / 2)).to(device)),
      sums_(at::zeros({5, means_.size(0)}, means_.options())) {}

void ValueCounter::add(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor is_known = labels.isnan().logical_not(), known = labels.to(at::kDouble);
  const auto of_known = [&](const at::Tensor& values) { return at::where(is_known, values, at::zeros_like(values)); };
  const at::Tensor value = of_known(known - means_), error = of_known(logits.to(at::kDouble) - known);
  sums_.add_(at::stack({is_known.to(at::kDouble).sum(0), value.sum(0), value.square().sum(0), error.square().sum(0),
                        error.abs().sum(0)}));
}

std::vector<ValueSums> ValueCounter::sum_over_ranks(Communicator& comm) const {
  const at::Tensor on_host = sums_.cpu();
  const auto width = static_cast<std::size_t>(means_.size(0));
  const std::span<const double> mine(on_host.const_data_ptr<double>(), 5 * width);
  std::vector<double> sums(mine.begin(), mine.end());
  comm.all_reduce_sum(std::span<double>(sums));
  std::vector<ValueSums> targets;
  for (std::size_t t = 0; t < width; ++t)
    targets.push_back({sums[t], sums[width + t], sums[2 * width + t], sums[3 * width + t], sums[4 * width + t]});
  return targets;
}

}  // namespace salient
