// engine/train/flat_adam.cpp - see flat_adam.h.
#include "engine/train/flat_adam.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <functional>
#include <numeric>
#include <utility>

#include "core/files/file_io.h"

namespace salient {
namespace {

std::span<float> as_span(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

FlatAdam::FlatAdam(Model& model, Options options) : options_(options) {
  const at::NoGradGuard no_gradients;
  std::int64_t size = 0;
  for (const auto& named : model.named_parameters()) {
    slices_.push_back({named.key(), size, named.value().sizes().vec()});
    size += named.value().numel();
  }
  const auto on_device = at::TensorOptions(model.parameters().front().device()).dtype(at::kFloat);
  parameters_ = at::empty({size}, on_device);
  gradients_ = at::zeros({size}, on_device);
  exp_avg_ = at::zeros({size}, on_device);
  exp_avg_sq_ = at::zeros({size}, on_device);
  step_ = at::zeros({}, on_device);
  num_finished_blocks_ = at::zeros({}, on_device.dtype(at::kInt));
  auto slice = slices_.begin();
  for (at::Tensor& parameter : model.parameters()) {
    const at::Tensor view = parameters_.narrow(0, slice->begin, parameter.numel()).view(slice->shape);
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients_.narrow(0, slice->begin, parameter.numel()).view(slice->shape);
    ++slice;
  }
}

void FlatAdam::zero_gradients() { gradients_.zero_(); }
std::span<float> FlatAdam::gradients() { return as_span(gradients_); }
std::span<float> FlatAdam::parameters() { return as_span(parameters_); }

void FlatAdam::step() {
  const at::NoGradGuard no_gradients;
  adam_step(tensors(), options_.lr, options_.weight_decay);
}

std::uint64_t FlatAdam::checksum() const {
  const at::Tensor on_host = parameters_.cpu();
  return digest_of(std::as_bytes(as_span(on_host))).xxh3;
}

NamedTensors FlatAdam::state() const {
  NamedTensors state{{"step", step_.view({1})}};
  for (const Slice& slice : slices_) {
    const std::int64_t size =
        std::accumulate(slice.shape.begin(), slice.shape.end(), std::int64_t{1}, std::multiplies<>());
    state.emplace_back(slice.name + ".exp_avg", exp_avg_.narrow(0, slice.begin, size).view(slice.shape));
    state.emplace_back(slice.name + ".exp_avg_sq", exp_avg_sq_.narrow(0, slice.begin, size).view(slice.shape));
  }
  return state;
}

}  // namespace salient
