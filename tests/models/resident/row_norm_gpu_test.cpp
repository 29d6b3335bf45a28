// tests/models/resident/row_norm_gpu_test.cpp - rows of hidden layers against torch in f64: norm, ReLU, dropout,
// addends, sums and maxima of several matrices.
#include "models/resident/row_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "models/kernels/dropout.h"
#include "models/resident/combined_rows.h"
#include "models/resident/seed_rows.h"
#include "tests/support/device_copy.h"

namespace salient {
namespace {

constexpr std::int64_t kRows = 1500;  // of the matrices
constexpr LocalId kNodes = 1403;      // of the level, an odd number
constexpr std::uint32_t kLayer = 3;

struct Case {
  std::int64_t columns;
  ActivationType type;
  double dropout;
  bool has_addend, has_ones;
};

std::string name_of(const testing::TestParamInfo<Case>& each) {
  const Case& c = each.param;
  return std::to_string(c.columns) + (c.type == ActivationType::kF32 ? "_f32" : "_bf16") +
         (c.dropout > 0 ? "_dropout" : "") + (c.has_addend ? "_addend" : "") + (c.has_ones ? "_ones" : "");
}

at::Tensor random(std::vector<std::int64_t> sizes, ActivationType type) {
  return at::randn(sizes).to(type == ActivationType::kF32 ? at::kFloat : at::kBFloat16).to(at::kCUDA);
}

Matrix matrix_of(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()),
          tensor.size(1),
          {},
          tensor.scalar_type() == at::kFloat ? ActivationType::kF32 : ActivationType::kBf16};
}

at::Tensor in_f64(const at::Tensor& tensor) { return tensor.cpu().to(at::kDouble); }

/// Matrices of a hidden layer, on the device, with rows behind the level's end that are not zeros.
class RowsOfALevel : public testing::TestWithParam<Case> {
 protected:
  RowsOfALevel() {
    at::manual_seed(static_cast<std::uint64_t>(case_.columns));
    std::vector<NodeId> nodes(kRows);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(i) * 2654435761U >> 1;
    const std::int64_t width = case_.columns + (case_.has_ones ? 8 : 0);
    z_ = random({kRows, case_.columns}, case_.type);
    z_.add_(3);  // a mean that sums of squares alone would cancel with
    if (case_.has_addend) addend_ = random({kRows, case_.columns + 8}, case_.type);
    out_ = random({kRows, width}, case_.type);
    gradient_ = random({kRows, width + 16}, case_.type);
    dz_ = random({kRows, case_.columns}, case_.type);
    weight_ = (at::randn({case_.columns}) * 0.5 + 1).to(at::kCUDA);
    bias_ = (at::randn({case_.columns}) * 0.5).to(at::kCUDA);
    cuda_check(cudaDeviceSynchronize());
    nodes_.emplace(nodes, stream_);
    const DropoutMask mask = DropoutMask::make(case_.dropout, header_.seed, header_.global_step, kLayer);
    dropout_ = {header_on_device_.get(), kLayer, mask.threshold, mask.threshold == 0 ? 1.0F : mask.scale};
    factors_ = at::zeros({kNodes, case_.columns}, at::kDouble);
    auto factor = factors_.accessor<double, 2>();
    for (std::int64_t i = 0; i < kNodes; ++i)
      for (std::int64_t c = 0; c < case_.columns; ++c)
        if (mask.threshold == 0 || is_kept(mask, nodes[static_cast<std::size_t>(i)], static_cast<std::uint32_t>(c)))
          factor[i][c] = dropout_.scale;
  }

  /// z + addend of the level's nodes, a leaf.
  at::Tensor input() const {
    at::Tensor x = in_f64(z_.narrow(0, 0, kNodes));
    if (case_.has_addend) x = x + in_f64(addend_.narrow(0, 0, kNodes).narrow(1, 0, case_.columns));
    return x.requires_grad_(true);
  }
  /// Of the nodes' rows, relative to the size of what is expected.
  void expect_near(const at::Tensor& found, const at::Tensor& expected, const char* what) const {
    const double bound = case_.type == ActivationType::kF32 ? 1e-5 : 1e-2;
    EXPECT_LT((in_f64(found) - expected).norm().item<double>(), bound * expected.norm().item<double>() + 1e-12) << what;
  }
  void expect_out(const at::Tensor& expected) const {
    expect_near(out_.narrow(0, 0, kNodes).narrow(1, 0, case_.columns), expected, "out");
    EXPECT_EQ(out_.narrow(0, kNodes, kRows - kNodes).abs().max().item<float>(), 0) << "behind the end";
    if (!case_.has_ones) return;
    const at::Tensor ones = in_f64(out_.narrow(0, 0, kNodes).narrow(1, case_.columns, 8));
    EXPECT_TRUE(at::equal(ones, at::eye(1, 8, at::kDouble).expand({kNodes, 8})));
  }
  /// out, and dz of x, which is input(). @param y  of x, before ReLU and dropout
  void expect_activated(const at::Tensor& x, const at::Tensor& y) const {
    expect_out((at::relu(y) * factors_).detach());
    // where ReLU cuts as it was found, so that rounding around 0 makes no difference
    const at::Tensor positive = in_f64(out_.narrow(0, 0, kNodes).narrow(1, 0, case_.columns)).gt(0);
    (y * factors_ * positive).backward(in_f64(gradient_.narrow(0, 0, kNodes).narrow(1, 0, case_.columns)));
    expect_near(dz_.narrow(0, 0, kNodes), x.grad(), "dz");
    EXPECT_EQ(dz_.narrow(0, kNodes, kRows - kNodes).abs().max().item<float>(), 0) << "behind the end";
  }

  const Case case_ = GetParam();
  const StepHeader header_{.seed = 7, .epoch = 2, .global_step = 11};
  const CudaStream stream_;
  const test::OnDevice<StepHeader> header_on_device_{{header_}, stream_};
  const test::OnDevice<LocalId> count_{{kNodes}, stream_};
  std::optional<test::OnDevice<NodeId>> nodes_;
  TreeDropout dropout_{};
  at::Tensor z_, addend_, out_, gradient_, dz_, weight_, bias_;
  at::Tensor factors_;  // of dropout
};

TEST_P(RowsOfALevel, AreNormalisedAsByTorch) {
  const std::int64_t columns = case_.columns;
  const at::TensorOptions on_gpu(at::kCUDA);
  const at::Tensor gradients = at::full({2, columns}, NAN, on_gpu.dtype(at::kFloat)),
                   statistics = at::full({kRows, 2}, NAN, on_gpu.dtype(at::kFloat)),
                   kept = at::full({kRows, columns / 8}, 255, on_gpu.dtype(at::kByte)),
                   sums = at::full({row_norm_sums_size(columns)}, NAN, on_gpu.dtype(at::kFloat));
  cuda_check(cudaDeviceSynchronize());
  const RowNorm norm{.weight = weight_.const_data_ptr<float>(),
                     .bias = bias_.const_data_ptr<float>(),
                     .weight_gradient = gradients[0].data_ptr<float>(),
                     .bias_gradient = gradients[1].data_ptr<float>(),
                     .nodes = nodes_->get(),
                     .num_nodes = count_.get(),
                     .dropout = dropout_,
                     .z = matrix_of(z_),
                     .addend = case_.has_addend ? matrix_of(addend_) : Matrix{},
                     .out = matrix_of(out_),
                     .statistics = statistics.data_ptr<float>(),
                     .kept = kept.data_ptr<std::uint8_t>(),
                     .sums = sums.data_ptr<float>()};
  row_norm_forward(norm, kRows, stream_.get());
  row_norm_backward(norm, matrix_of(gradient_), matrix_of(dz_), kRows, stream_.get());
  stream_.wait();
  const at::Tensor x = input(), weight = in_f64(weight_).requires_grad_(true),
                   bias = in_f64(bias_).requires_grad_(true);
  expect_activated(x, at::layer_norm(x, {columns}, weight, bias, 1e-5));
  expect_near(gradients[0], weight.grad(), "weight");
  expect_near(gradients[1], bias.grad(), "bias");

  const at::Tensor first = out_.clone(), first_dz = dz_.clone(), first_gradients = gradients.clone();
  cuda_check(cudaDeviceSynchronize());
  row_norm_forward(norm, kRows, stream_.get());
  row_norm_backward(norm, matrix_of(gradient_), matrix_of(dz_), kRows, stream_.get());
  stream_.wait();
  EXPECT_TRUE(at::equal(first, out_) && at::equal(first_dz, dz_) && at::equal(first_gradients, gradients)) << "bits";
  RowNorm forward_alone = norm;
  forward_alone.statistics = nullptr;
  forward_alone.kept = nullptr;
  row_norm_forward(forward_alone, kRows, stream_.get());
  stream_.wait();
  EXPECT_TRUE(at::equal(first, out_)) << "without a backward";
}

TEST_P(RowsOfALevel, AreActivatedAsByTorch) {
  const ReluLayer layer{nodes_->get(), count_.get(),    dropout_,
                        matrix_of(z_), matrix_of(out_), case_.has_addend ? matrix_of(addend_) : Matrix{}};
  activate_rows(layer, kRows, stream_.get());
  activation_backward(layer, matrix_of(gradient_), matrix_of(dz_), kRows, stream_.get());
  stream_.wait();
  const at::Tensor x = input();
  expect_activated(x, x * 1);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::int64_t columns : {8, 24, 64, 104, 128, 256, 264, 512, 1032, 2048})
    for (const ActivationType type : {ActivationType::kF32, ActivationType::kBf16})
      for (const double dropout : {0.0, 0.5})
        for (const bool has_addend : {false, true}) all.push_back({columns, type, dropout, has_addend, !has_addend});
  all.push_back({256, ActivationType::kBf16, 0.3, true, true});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, RowsOfALevel, testing::ValuesIn(cases()), name_of);

/// Layers of which many values are equal, zeros among them.
class JoinedLayers : public testing::TestWithParam<ActivationType> {
 protected:
  static constexpr std::int64_t kColumns = 40, kLayers = 3;

  JoinedLayers() {
    at::manual_seed(5);
    joined_ = {.num_nodes = count_.get(), .columns = kColumns, .num_layers = kLayers};
    for (std::int64_t i = 0; i < kLayers; ++i) {
      rows_.push_back(random({kRows, kColumns + 8 * i}, GetParam()).round().clamp_min(0));
      joined_.layers[i] = {rows_.back().data_ptr(), rows_.back().size(1)};
    }
    cuda_check(cudaDeviceSynchronize());
  }
  std::vector<at::Tensor> layers() const {
    std::vector<at::Tensor> found;
    for (const at::Tensor& rows : rows_)
      found.push_back(in_f64(rows.narrow(0, 0, kNodes).narrow(1, 0, kColumns)).requires_grad_(true));
    return found;
  }
  /// (expected | 1), and zeros
  static void expect_rows(const at::Tensor& found, const at::Tensor& expected) {
    const at::Tensor wanted = at::zeros({kRows, found.size(1)}, at::kDouble);
    wanted.narrow(0, 0, kNodes).narrow(1, 0, expected.size(1)).copy_(expected);
    wanted.narrow(0, 0, kNodes).select(1, expected.size(1)).fill_(1);
    EXPECT_TRUE(at::equal(in_f64(found), wanted));
  }

  const CudaStream stream_;
  const test::OnDevice<LocalId> count_{{kNodes}, stream_};
  std::vector<at::Tensor> rows_;
  JoinedRows joined_{};
};

TEST_P(JoinedLayers, SideBySideHaveAColumnOfOnesBehind) {
  const at::Tensor out = random({kRows, kLayers * kColumns + 8}, GetParam());
  cuda_check(cudaDeviceSynchronize());
  concat_rows(joined_, matrix_of(out), kRows, stream_.get());
  stream_.wait();
  expect_rows(out, at::cat(layers(), 1).detach());
}

TEST_P(JoinedLayers, AreMaximaAndGradientsOfThoseAsByTorch) {
  const at::Tensor out = random({kRows, kColumns + 8}, GetParam()),
                   gradient = random({kRows, kColumns + 8}, GetParam()),
                   to = random({kRows, kLayers * kColumns}, GetParam());
  cuda_check(cudaDeviceSynchronize());
  max_rows(joined_, matrix_of(out), kRows, stream_.get());
  max_rows_backward(joined_, matrix_of(gradient), matrix_of(to), kRows, stream_.get());
  stream_.wait();
  const std::vector<at::Tensor> x = layers();
  const at::Tensor expected = std::get<0>(at::max(at::stack(x, -1), -1));
  expect_rows(out, expected.detach());
  expected.backward(in_f64(gradient.narrow(0, 0, kNodes).narrow(1, 0, kColumns)));
  for (std::int64_t i = 0; i < kLayers; ++i)
    EXPECT_TRUE(at::equal(in_f64(to.narrow(0, 0, kNodes).narrow(1, i * kColumns, kColumns)),
                          x[static_cast<std::size_t>(i)].grad()))
        << i;
  EXPECT_EQ(to.narrow(0, kNodes, kRows - kNodes).abs().max().item<float>(), 0);
}

TEST_P(JoinedLayers, AreAddedInTheLevelsRows) {
  const at::Tensor to = random({kRows, kColumns + 8}, GetParam()), before = to.clone();
  cuda_check(cudaDeviceSynchronize());
  add_rows(matrix_of(to), kColumns, joined_.layers[1], count_.get(), kRows, stream_.get());
  stream_.wait();
  at::Tensor expected = before.to(at::kFloat);
  expected.narrow(0, 0, kNodes).narrow(1, 0, kColumns) +=
      rows_[1].narrow(0, 0, kNodes).narrow(1, 0, kColumns).to(at::kFloat);
  EXPECT_TRUE(at::equal(to, expected.to(to.scalar_type())));
}

INSTANTIATE_TEST_SUITE_P(Types, JoinedLayers, testing::Values(ActivationType::kF32, ActivationType::kBf16),
                         [](const testing::TestParamInfo<ActivationType>& each) {
                           return each.param == ActivationType::kF32 ? "f32" : "bf16";
                         });

}  // namespace
}  // namespace salient
