// engine/train/learned_tables.cpp - see learned_tables.h.
#include "engine/train/learned_tables.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.h"
#include "models/typed_stack.h"

namespace salient {

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

namespace {

/// Of rows on the host each once, at its first place, with the sum of its gradients in their order.
/// @param place  [rows of the table] scratch memory, -1 before and after
void sum_repeats(at::Tensor& rows, at::Tensor& gradients, std::vector<std::int64_t>& place) {
  const std::int64_t count = rows.numel(), width = gradients.size(1);
  const auto* const row = rows.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> first;  // places of the distinct ones
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t& at = place[static_cast<std::size_t>(row[i])];
    if (at < 0) at = std::ssize(first), first.push_back(i);
  }
  if (std::ssize(first) < count) {
    at::Tensor distinct = at::empty({std::ssize(first)}, rows.options());
    at::Tensor sums = at::zeros({std::ssize(first), width}, gradients.options());
    const auto* const from = gradients.const_data_ptr<float>();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t to = place[static_cast<std::size_t>(row[i])];
      distinct.mutable_data_ptr<std::int64_t>()[to] = row[i];
      float* const sum = sums.mutable_data_ptr<float>() + to * width;
      for (std::int64_t k = 0; k < width; ++k) sum[k] += from[i * width + k];
    }
    for (const std::int64_t i : first) place[static_cast<std::size_t>(row[i])] = -1;
    rows = std::move(distinct), gradients = std::move(sums);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) place[static_cast<std::size_t>(row[i])] = -1;
}

}  // namespace

LearnedTables::LearnedTables(Model& model) {
  for (const auto& module : model.modules())
    if (const auto rows = std::dynamic_pointer_cast<LearnedRows>(module)) {
      rows->make_gradients_sparse();
      tables_.push_back({rows, num_rows_});
      require(width_ == 0 || width_ == rows->weight().size(1), "learned rows of a model are of one width");
      num_rows_ += rows->weight().size(0), width_ = rows->weight().size(1);
    }
}

bool LearnedTables::has(const at::Tensor& parameter) const {
  return std::ranges::any_of(tables_, [&](const Table& table) { return table.rows->weight().is_same(parameter); });
}

void LearnedTables::zero_gradients() {
  for (const Table& table : tables_) table.rows->weight().mutable_grad().reset();
  touched_ = {};
  is_taken_ = false;
}

/// What backward left.
void LearnedTables::take_gradients() {
  if (is_taken_) return;
  is_taken_ = true;
  std::vector<at::Tensor> rows, gradients;
  for (const Table& table : tables_) {
    const at::Tensor& gradient = table.rows->weight().grad();
    if (!gradient.defined()) continue;  // a batch without nodes of the type, or without seeds
    require(gradient.is_sparse(), "gradients of learned rows are lists of rows");
    rows.push_back(gradient._indices().select(0, 0).add(table.first_row));
    gradients.push_back(gradient._values());
  }
  const at::Tensor& weight = tables_.front().rows->weight();
  touched_.rows = rows.empty() ? at::empty({0}, weight.options().dtype(at::kLong)) : at::cat(rows);
  touched_.gradients = gradients.empty() ? at::empty({0, width_}, weight.options()) : at::cat(gradients);
  if (!weight.is_cpu()) return;
  if (place_.empty()) place_.assign(static_cast<std::size_t>(num_rows_), -1);
  sum_repeats(touched_.rows, touched_.gradients, place_);
}

void LearnedTables::sum_over_ranks(Communicator& comm, CUstream_st* stream) {
  if (empty() || comm.size() == 1) return;
  const at::NoGradGuard no_gradients;
  take_gradients();
  if (!marks_.defined()) marks_ = at::zeros({num_rows_}, touched_.gradients.options());
  marks_.index_fill_(0, touched_.rows, 1);
  comm.all_reduce_sum(floats_of(marks_), stream);
  const at::Tensor is_touched = marks_.gt(0);
  const at::Tensor rows = is_touched.nonzero().squeeze(1);
  const at::Tensor place_of_row = is_touched.cumsum(0).sub(1);
  const at::Tensor sums = at::zeros({rows.numel(), width_}, touched_.gradients.options());
  sums.index_copy_(0, place_of_row.index_select(0, touched_.rows), touched_.gradients);
  comm.all_reduce_sum(floats_of(sums), stream);
  marks_.zero_();
  touched_ = {rows, sums};
}

void LearnedTables::step(const at::Tensor& table, const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                         const at::Tensor& steps, double lr, double weight_decay) {
  if (empty()) return;
  take_gradients();
  adam_rows_step({table, exp_avg, exp_avg_sq, touched_.rows, touched_.gradients.contiguous(), steps}, lr, weight_decay);
}

}  // namespace salient
