// tests/models/resident/mapped_norm_gpu_test.cpp - moments of rows, and a batch norm that is computed from them,
// against torch in f64.
#include "models/resident/mapped_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda/cuda.h"
#include "tests/support/device_copy.h"

namespace salient {
namespace {

constexpr std::int64_t kRows = 5000;  // of the matrices
constexpr LocalId kNodes = 4803;      // of the level, an odd number
constexpr float kSlope = 0.01F;

struct Case {
  std::int64_t in, ones, columns;  ///< in: of the map's input, of which column `ones` is 1
  LocalId nodes = kNodes;
};

Matrix matrix_of(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.size(1), {}, ActivationType::kBf16};
}

at::Tensor in_f64(const at::Tensor& tensor) { return tensor.cpu().to(at::kDouble); }

class MappedNorms : public testing::TestWithParam<Case> {
 protected:
  MappedNorms() {
    at::manual_seed(5);
    const at::Tensor rows = at::randn({kRows, case_.in}) + 0.5;
    rows.select(1, case_.ones).fill_(1);
    rows_ = rows.to(at::kBFloat16).to(at::kCUDA);
    weight_ = (at::randn({case_.columns, case_.in}) * 0.2).to(at::kBFloat16).to(at::kCUDA);
    first_ = at::rand({kRows}).gt(0.2).to(at::kByte).to(at::kCUDA);  // of rows behind the end, too
    is_first_ = first_.narrow(0, 0, case_.nodes).cpu().to(at::kDouble);
    num_first_ = static_cast<LocalId>(std::lround(is_first_.sum().item<double>()));
    z_ = at::zeros({kRows, case_.columns}, on_gpu_.dtype(at::kBFloat16));
    z_.narrow(0, 0, case_.nodes).copy_(at::matmul(in_f64(rows_), in_f64(weight_).t()).narrow(0, 0, case_.nodes));
    gradient_ = at::randn({kRows, case_.columns + 8}).to(at::kBFloat16).to(at::kCUDA);
    norm_weight_ = (at::randn({case_.columns}) * 0.5 + 1).to(at::kCUDA);
    norm_bias_ = (at::randn({case_.columns}) * 0.5).to(at::kCUDA);
    distinct_.emplace(std::vector{num_first_}, stream_);
    cuda_check(cudaDeviceSynchronize());
  }

  at::Tensor nan_f32(std::vector<std::int64_t> sizes) const { return at::full(sizes, NAN, on_gpu_.dtype(at::kFloat)); }

  NormLayer layer() {
    return {.tensors = {.weight = norm_weight_.const_data_ptr<float>(),
                        .bias = norm_bias_.const_data_ptr<float>(),
                        .weight_gradient = norm_gradients_[0].data_ptr<float>(),
                        .bias_gradient = norm_gradients_[1].data_ptr<float>(),
                        .running_mean = running_[0].data_ptr<float>(),
                        .running_var = running_[1].data_ptr<float>(),
                        .num_batches_tracked = batches_.data_ptr<std::int64_t>()},
            .nodes = nullptr,
            .num_nodes = count_.get(),
            .first = first_.const_data_ptr<std::uint8_t>(),
            .num_distinct = distinct_->get(),
            .columns = case_.columns,
            .slope = kSlope,
            .dropout = {},
            .z = matrix_of(z_),
            .out = matrix_of(out_),
            .residual = {},
            .sums = nullptr,
            .statistics = statistics_.data_ptr<float>(),
            .kept = nullptr,
            .positive = positive_.data_ptr<std::uint8_t>()};
  }
  MappedNorm mapped() {
    return {.norm = layer(),
            .weight = weight_.data_ptr(),
            .gradient = weight_gradient_.data_ptr<float>(),
            .width = case_.in,
            .ones = case_.ones,
            .moments = moments_.const_data_ptr<float>(),
            .mapped = scratch_.data_ptr<float>()};
  }
  void find_moments() {
    row_moments({.rows = matrix_of(rows_),
                 .ones = case_.ones,
                 .num_nodes = count_.get(),
                 .first = first_.const_data_ptr<std::uint8_t>(),
                 .num_distinct = distinct_->get(),
                 .parts = parts_.data_ptr<float>(),
                 .moments = moments_.data_ptr<float>()},
                stream_.get());
    stream_.wait();
  }
  static void expect_near(const at::Tensor& found, const at::Tensor& expected, double bound, const char* what) {
    EXPECT_LT((in_f64(found) - expected).norm().item<double>(), bound * expected.norm().item<double>() + 1e-6) << what;
  }
  /// Mean and variance of z over distinct nodes. @param z  of the nodes
  std::pair<at::Tensor, at::Tensor> statistics_of(const at::Tensor& z) const {
    const at::Tensor mean = at::matmul(is_first_, z) / num_first_;
    return {mean, at::matmul(is_first_, (z - mean).square()) / num_first_};
  }

  const Case case_ = GetParam();
  const at::TensorOptions on_gpu_{at::kCUDA};
  const CudaStream stream_;
  const test::OnDevice<LocalId> count_{{case_.nodes}, stream_};
  std::optional<test::OnDevice<LocalId>> distinct_;
  at::Tensor rows_, weight_, first_, is_first_, z_, gradient_, norm_weight_, norm_bias_;
  LocalId num_first_ = 0;
  at::Tensor parts_ = nan_f32({moment_parts_size(case_.in)}), moments_ = nan_f32({case_.in + 1, case_.in});
  at::Tensor scratch_ = nan_f32({case_.columns, case_.in}), weight_gradient_ = nan_f32({case_.columns, case_.in});
  at::Tensor norm_gradients_ = nan_f32({2, case_.columns}), statistics_ = nan_f32({4, case_.columns});
  at::Tensor running_ = at::ones({2, case_.columns}, on_gpu_.dtype(at::kFloat));
  at::Tensor batches_ = at::zeros({1}, on_gpu_.dtype(at::kLong));
  at::Tensor positive_ = at::zeros({kRows, case_.columns / 8}, on_gpu_.dtype(at::kByte));
  at::Tensor out_ = at::ones({kRows, case_.columns + 8}, on_gpu_.dtype(at::kBFloat16));
  at::Tensor masked_ = at::ones({kRows, case_.columns}, on_gpu_.dtype(at::kBFloat16));
};

TEST_P(MappedNorms, HaveTheMomentsOfDistinctNodes) {
  find_moments();
  const at::Tensor rows = in_f64(rows_).narrow(0, 0, case_.nodes), sum = at::matmul(is_first_, rows);
  const at::Tensor centred = (rows - sum / std::max(1, num_first_)) * is_first_.unsqueeze(1);
  expect_near(moments_.narrow(0, 0, case_.in), at::matmul(centred.t(), centred), 1e-4, "products");
  expect_near(moments_.select(0, case_.in), sum, 1e-5, "sums");
}

TEST_P(MappedNorms, NormaliseAndHaveGradientsAsByTorch) {
  find_moments();
  mapped_statistics(mapped(), stream_.get());
  norm_apply(layer(), kRows, stream_.get());
  masked_gradient(layer(), matrix_of(gradient_), matrix_of(masked_), kRows, stream_.get());
  stream_.wait();
  const at::Tensor rows = in_f64(rows_).narrow(0, 0, case_.nodes);
  const at::Tensor weight = in_f64(weight_).requires_grad_(true), z = at::matmul(rows, weight.t());
  const auto [mean, variance] = statistics_of(z);
  expect_near(statistics_[0], mean.detach(), 1e-4, "mean");
  expect_near(statistics_[1], (1 / (variance + 1e-5).sqrt()).detach(), 1e-4, "1 / deviation");
  expect_near(running_[0], 0.9 + 0.1 * mean.detach(), 1e-4, "running mean");
  expect_near(running_[1], 0.9 + 0.1 * variance.detach() * num_first_ / (num_first_ - 1), 1e-4, "running variance");
  EXPECT_EQ(batches_.item<std::int64_t>(), 1);

  const at::Tensor norm_weight = in_f64(norm_weight_).requires_grad_(true),
                   norm_bias = in_f64(norm_bias_).requires_grad_(true);
  const at::Tensor y = (z - mean) / (variance + 1e-5).sqrt() * norm_weight + norm_bias;
  const at::Tensor out = out_.narrow(0, 0, case_.nodes).narrow(1, 0, case_.columns);
  expect_near(out, at::leaky_relu(y.detach(), kSlope), 1e-2, "out");
  // where leaky_relu cuts as it was found, so that rounding around 0 makes no difference
  const at::Tensor factor = at::where(in_f64(out).gt(0), 1.0, static_cast<double>(kSlope));
  const at::Tensor masked = masked_.narrow(0, 0, case_.nodes);
  expect_near(masked, in_f64(gradient_).narrow(0, 0, case_.nodes).narrow(1, 0, case_.columns) * factor, 1e-2, "v");
  EXPECT_EQ(masked_.narrow(0, case_.nodes, kRows - case_.nodes).abs().max().item<float>(), 0) << "behind the end";

  weight_gradient_.copy_(at::matmul(in_f64(masked).t(), rows));
  cuda_check(cudaDeviceSynchronize());
  finish_mapped_gradient(mapped(), stream_.get());
  stream_.wait();
  y.backward(in_f64(masked));
  expect_near(weight_gradient_, weight.grad(), 1e-3, "the map's weight");
  expect_near(norm_gradients_[0], norm_weight.grad(), 1e-3, "the norm's weight");
  expect_near(norm_gradients_[1], norm_bias.grad(), 1e-3, "the norm's bias");
}

INSTANTIATE_TEST_SUITE_P(Sizes, MappedNorms,
                         testing::Values(Case{24, 16, 8}, Case{104, 100, 64}, Case{128, 3, 256}, Case{208, 100, 256},
                                         Case{272, 128, 40}, Case{384, 200, 384}, Case{104, 100, 64, 37}),
                         [](const testing::TestParamInfo<Case>& each) {
                           return std::to_string(each.param.in) + "_to_" + std::to_string(each.param.columns) + "_of_" +
                                  std::to_string(each.param.nodes);
                         });

}  // namespace
}  // namespace salient
