// tests/support/learned_rows.h - a model with learned rows of a type, and a sparse gradient of some of them.
#pragma once

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/model.h"
#include "tests/support/small_types.h"

namespace salient::test {

inline constexpr const char* kLearnedRows = "emb.author.weight";  // [80, 4]

inline std::shared_ptr<Model> model_with_learned_rows() {
  return make_model(
      {.kind = ModelKind::kRgcn, .hidden_dim = 4, .num_classes = 3, .num_layers = 1, .types = small_types()});
}

/// Values of a made-up gradient: other ones for each row, place and step.
inline std::vector<float> gradient_of_row(std::int64_t row, std::int64_t place, int step) {
  std::vector<float> values;
  for (int k = 0; k < 4; ++k)
    values.push_back(static_cast<float>((row * 7 + place * 5 + step * 3 + k) % 11 - 5) * 0.37F + 0.013F);
  return values;
}

inline void set_gradient(const Model& model, const std::vector<std::int64_t>& rows, int step) {
  std::vector<float> values;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const float value : gradient_of_row(rows[i], static_cast<std::int64_t>(i), step)) values.push_back(value);
  at::Tensor parameter = model.named_parameters()[kLearnedRows];
  const auto count = static_cast<std::int64_t>(rows.size());
  parameter.mutable_grad() = at::_sparse_coo_tensor_unsafe(at::tensor(rows, at::kLong).view({1, count}),
                                                           at::tensor(values).view({count, 4}), parameter.sizes());
}

}  // namespace salient::test
