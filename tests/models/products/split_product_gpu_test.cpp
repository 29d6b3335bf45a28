// tests/models/products/split_product_gpu_test.cpp - products of split factors against f64: as exact as f32 sums.
#include "models/products/split_product.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

namespace salient {
namespace {

struct Case {
  const char* name;
  ProductKind kind;
  std::int64_t rows, in, out;
  float first_scale = 1;
  bool has_relu = false;
  std::int64_t more_stride = 0;      ///< of the weight, in kForward
  std::int64_t workspace = 1 << 22;  ///< floats
};

/// Of the distance from f64, relative to its norm. Sums of f32 by fused multiply and add have 3e-7 at 256 terms and
/// 1e-6 at 3600; one tf32 product has 3e-4.
constexpr double kBound = 1e-6;

class SplitProduct : public testing::TestWithParam<std::tuple<Splitting, Case>> {
 protected:
  static constexpr std::int64_t kGuard = 64;

  SplitProduct() {
    const Case& c = each();
    at::manual_seed(5);
    const bool is_weight = c.kind == ProductKind::kWeightGradient;
    first_ = at::randn({c.rows, c.kind == ProductKind::kForward ? c.in : c.out}, at::kCUDA) * c.first_scale;
    second_ = at::randn({is_weight ? c.rows : c.out, c.in + c.more_stride}, at::kCUDA);
    height_ = is_weight ? c.out : c.rows;
    width_ = c.kind == ProductKind::kForward ? c.out : c.in;
    memory_ = at::full({height_ * width_ + 2 * kGuard}, NAN, first_.options());
    workspace_ = at::full({c.workspace}, NAN, first_.options());
    cuda_check(cudaDeviceSynchronize());
  }

  void SetUp() override {
    if (!has_split_product(splitting(), shape(), matrices())) GTEST_SKIP() << "this GPU has no such kernel";
  }

  static Splitting splitting() { return std::get<0>(GetParam()); }
  static const Case& each() { return std::get<1>(GetParam()); }
  ProductShape shape() const {
    const Case& c = each();
    return {c.kind,
            c.rows,
            c.in,
            c.out,
            ActivationType::kF32,
            ActivationType::kF32,
            false,
            c.has_relu,
            c.more_stride == 0 ? 0 : c.in + c.more_stride};
  }
  ProductMatrices matrices() const {
    return {first_.const_data_ptr<float>(), second_.const_data_ptr<float>(), memory_.data_ptr<float>() + kGuard};
  }
  at::Tensor result() const { return memory_.narrow(0, kGuard, height_ * width_).view({height_, width_}); }
  void run() {
    const CudaStream stream;
    split_product(splitting(), shape(), matrices(),
                  {workspace_.data_ptr<float>(), static_cast<std::size_t>(workspace_.numel())}, stream.get());
    stream.wait();
  }

  at::Tensor expected() const {
    const Case& c = each();
    const at::Tensor first = first_.to(at::kDouble), second = second_.narrow(1, 0, c.in).to(at::kDouble);
    const at::Tensor product = c.kind == ProductKind::kForward         ? first.mm(second.t())
                               : c.kind == ProductKind::kInputGradient ? first.mm(second)
                                                                       : first.t().mm(second);
    return c.has_relu ? product.relu() : product;
  }

  at::Tensor first_, second_, memory_, workspace_;
  std::int64_t height_ = 0, width_ = 0;
};

TEST_P(SplitProduct, IsAsExactAsF32) {
  run();
  const at::Tensor right = expected(), difference = result().to(at::kDouble) - right;
  EXPECT_LT(difference.norm().item<double>(), kBound * right.norm().item<double>());
  const double largest = difference.abs().max().item<double>();
  EXPECT_LT(largest, 20 * kBound * right.norm().item<double>() / std::sqrt(static_cast<double>(right.numel())));
  EXPECT_TRUE(memory_.narrow(0, 0, kGuard).isnan().all().item<bool>());
  EXPECT_TRUE(memory_.narrow(0, kGuard + height_ * width_, kGuard).isnan().all().item<bool>());
}

TEST_P(SplitProduct, RepeatsItsBits) {
  run();
  const at::Tensor once = result().clone();
  run();
  EXPECT_TRUE(at::equal(once, result()));
}

TEST_P(SplitProduct, LeavesWhatIsNoNumber) {
  first_.fill_(NAN);
  cuda_check(cudaDeviceSynchronize());
  run();
  EXPECT_TRUE(result().isnan().all().item<bool>());
}

constexpr auto kForward = ProductKind::kForward, kInput = ProductKind::kInputGradient,
               kWeight = ProductKind::kWeightGradient;

INSTANTIATE_TEST_SUITE_P(
    Shapes, SplitProduct,
    testing::Combine(
        testing::Values(Splitting::kTf32x3, Splitting::kBf16x6),
        testing::Values(Case{"forward", kForward, 20001, 256, 256}, Case{"forward_of_one_row", kForward, 1, 8, 8},
                        Case{"forward_at_edges", kForward, 129, 264, 136},
                        Case{"forward_short_sum", kForward, 300, 16, 176},
                        Case{"forward_with_relu", kForward, 127, 72, 120, 1, true},
                        Case{"forward_of_part_of_a_weight", kForward, 500, 128, 48, 1, false, 128},
                        Case{"forward_of_small_numbers", kForward, 512, 512, 256, 1e-20F},
                        Case{"input_gradient", kInput, 2000, 512, 256},
                        Case{"input_gradient_of_one_row", kInput, 1, 8, 8},
                        Case{"input_gradient_of_classes", kInput, 1024, 512, 176, 1e-3F},
                        Case{"weight_gradient", kWeight, 20000, 256, 256, 1e-3F},
                        Case{"weight_gradient_at_edges", kWeight, 5001, 264, 136},
                        Case{"weight_gradient_of_one_row", kWeight, 1, 16, 8},
                        Case{"weight_gradient_in_one_part", kWeight, 3000, 128, 128, 1, false, 0, 1},
                        Case{"weight_gradient_in_two_parts", kWeight, 3000, 128, 128, 1, false, 0, 2 * 128 * 128})),
    [](const testing::TestParamInfo<std::tuple<Splitting, Case>>& each) {
      const bool is_tf32 = std::get<0>(each.param) == Splitting::kTf32x3;
      return (is_tf32 ? "tf32x3_" : "bf16x6_") + std::string(std::get<1>(each.param).name);
    });

TEST(SplitProduct, IsOfF32Alone) {
  const at::Tensor some = at::zeros({4096}, at::kCUDA);
  auto* const data = some.data_ptr<float>();
  const ProductShape shape{kForward, 16, 16, 16, ActivationType::kF32, ActivationType::kF32, false};
  EXPECT_TRUE(has_split_product(Splitting::kTf32x3, shape, {data, data, data}));
  EXPECT_FALSE(has_split_product(Splitting::kTf32x3, shape, {data + 1, data, data})) << "not aligned";
  ProductShape other = shape;
  other.may_use_tf32 = true;
  EXPECT_FALSE(has_split_product(Splitting::kTf32x3, other, {data, data, data})) << "one tf32 product is asked for";
  other = shape;
  other.inputs = ActivationType::kBf16;
  EXPECT_FALSE(has_split_product(Splitting::kTf32x3, other, {data, data, data}));
  other = shape;
  other.in = 12;
  EXPECT_FALSE(has_split_product(Splitting::kTf32x3, other, {data, data, data}));
}

}  // namespace
}  // namespace salient
