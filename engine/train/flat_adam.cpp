// engine/train/flat_adam.cpp - see flat_adam.h.
#include "engine/train/flat_adam.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <functional>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {
FlatAdam::FlatAdam(Model& model, Options options) : options_(options), tables_(model) {
  const at::NoGradGuard no_gradients;
  std::int64_t size = 0, num_dense = 0;
  for (const auto& named : model.named_parameters()) {
    size += named.value().numel();
    if (!tables_.has(named.value())) num_dense += named.value().numel();
  }
  const auto on_device = at::TensorOptions(model.parameters().front().device()).dtype(at::kFloat);
  parameters_ = at::empty({size}, on_device);
  gradients_ = at::zeros({num_dense}, on_device);
  exp_avg_ = at::zeros({size}, on_device);
  exp_avg_sq_ = at::zeros({size}, on_device);
  step_ = at::zeros({}, on_device);
  num_finished_blocks_ = at::zeros({}, on_device.dtype(at::kInt));
  std::int64_t next_dense = 0, next_row = num_dense;
  for (auto& named : model.named_parameters()) {
    at::Tensor& parameter = named.value();
    const bool is_dense = !tables_.has(parameter);
    std::int64_t& begin = is_dense ? next_dense : next_row;
    slices_.push_back({named.key(), begin, parameter.sizes().vec()});
    const auto slice_of = [&](const at::Tensor& flat) {
      return flat.narrow(0, begin, parameter.numel()).view(parameter.sizes());
    };
    const at::Tensor view = slice_of(parameters_);
    view.copy_(parameter);
    parameter.set_data(view);
    if (is_dense) parameter.mutable_grad() = slice_of(gradients_);
    begin += parameter.numel();
  }
}

AdamTensors FlatAdam::tensors() const {
  const auto dense = [&](const at::Tensor& flat) { return flat.narrow(0, 0, gradients_.numel()); };
  return {dense(parameters_), gradients_, dense(exp_avg_), dense(exp_avg_sq_), step_, num_finished_blocks_};
}

/// The learned rows of a flat buffer.
at::Tensor FlatAdam::rows_of(const at::Tensor& flat) const {
  return flat.narrow(0, gradients_.numel(), tables_.num_values()).view({tables_.num_rows(), -1});
}

AdamState FlatAdam::device_state() {
  require(tables_.empty(), "learned rows are moved by step()");
  return device_state_of(tensors());
}

void FlatAdam::zero_gradients() {
  gradients_.zero_();
  tables_.zero_gradients();
}
std::span<float> FlatAdam::gradients() { return floats_of(gradients_); }
std::span<float> FlatAdam::parameters() { return floats_of(parameters_); }

void FlatAdam::sum_over_ranks(Communicator& comm, CUstream_st* stream) {
  comm.all_reduce_sum(gradients(), stream);
  tables_.sum_over_ranks(comm, stream);
}

void FlatAdam::step() {
  const at::NoGradGuard no_gradients;
  if (!tables_.empty())
    tables_.step(rows_of(parameters_), rows_of(exp_avg_), rows_of(exp_avg_sq_), step_, options_.lr,
                 options_.weight_decay);
  adam_step(tensors(), options_.lr, options_.weight_decay);
}

std::uint64_t FlatAdam::checksum() const {
  const at::Tensor on_host = parameters_.cpu();
  return digest_of(std::as_bytes(floats_of(on_host))).xxh3;
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
