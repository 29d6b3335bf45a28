// tests/models/ops/operators_test.cpp - the differentiable neighbour operators equal dense algebra.
#include "models/ops/operators.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/kernels/segment.h"
#include "tests/support/batch_views.h"
#include "tests/support/hops.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::OwnedHop;
using test::random_hop;

/// The matrix of the operator: [num_dst, num_src] f64.
at::Tensor dense(const OwnedHop& hop, Reduce reduce) {
  at::Tensor matrix = at::zeros({hop.num_dst, hop.num_src}, at::kDouble);
  auto entry = matrix.accessor<double, 2>();
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (LocalId e = hop.indptr[static_cast<std::size_t>(i)]; e < hop.indptr[static_cast<std::size_t>(i) + 1]; ++e)
      entry[i][hop.indices[static_cast<std::size_t>(e)]] += row_scale(hop.edges(), reduce, i);
  return matrix;
}

TEST(SegmentOperators, ForwardAndGradientEqualADenseProduct) {
  const OwnedHop hop = random_hop(30, 50, 6, 1);
  const at::Tensor x = at::randn({50, 11}).requires_grad_();
  const at::Tensor grad = at::randn({30, 11});
  const at::Tensor mean = dense(hop, Reduce::kMean), sum = dense(hop, Reduce::kSum);
  const auto check = [&](const at::Tensor& out, const at::Tensor& matrix) {
    EXPECT_TRUE(at::allclose(out.to(at::kDouble), matrix.mm(x.detach().to(at::kDouble)), 1e-5, 1e-5));
    x.mutable_grad() = at::Tensor();
    out.backward(grad);
    EXPECT_TRUE(at::allclose(x.grad().to(at::kDouble), matrix.t().mm(grad.to(at::kDouble)), 1e-5, 1e-5));
  };
  check(segment_mean(test::view_of(hop), x), mean);
  check(segment_sum(test::view_of(hop), x), sum);
  const at::Tensor weights = at::rand({50});
  check(weighted_mean(test::view_of(hop), x, weights), mean * weights.to(at::kDouble).unsqueeze(0));
}

TEST(SegmentOperators, TheGradientOfTheMaximumIsThatOfADenseOne) {
  const OwnedHop hop = random_hop(30, 50, 6, 1);
  const at::Tensor x = at::randn({50, 11}).requires_grad_(), y = x.detach().clone().requires_grad_();
  const at::Tensor grad = at::randn({30, 11});
  const at::Tensor out = segment_max(test::view_of(hop), x);
  const at::Tensor is_entry = dense(hop, Reduce::kSum).gt(0).unsqueeze(2);
  const at::Tensor masked = at::where(is_entry, y.unsqueeze(0), at::full({}, -1e30f));
  const at::Tensor expected = at::where(is_entry.any(1), masked.amax(1), at::zeros({}));
  EXPECT_TRUE(at::equal(out, expected));
  out.backward(grad);
  expected.backward(grad);
  EXPECT_TRUE(at::allclose(x.grad(), y.grad(), 1e-6, 1e-6));
}

TEST(SegmentOperators, HalfRowsAreSummedInSinglePrecision) {
  const OwnedHop hop = random_hop(10, 500, 400, 2);
  const at::Tensor x = at::rand({500, 24}).to(at::kHalf);
  const at::Tensor out = segment_sum(test::view_of(hop), x);
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), dense(hop, Reduce::kSum).mm(x.to(at::kDouble)), 1e-6, 1e-6));
}

// One node of the graph against the four operators that it replaces; x may have rows that no entry reaches.
TEST(SageConvolution, ValueAndGradientsEqualItsParts) {
  const OwnedHop owned = random_hop(30, 50, 6, 4);
  const HopView hop = test::view_of(owned);
  const at::Tensor x = at::randn({53, 11}), weight_l = at::randn({7, 11}), weight_r = at::randn({7, 11});
  const at::Tensor grad = at::randn({30, 7});
  const auto run = [&](const auto& convolution, const at::Tensor& rows) {
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& t : {rows, weight_l, weight_r}) inputs.push_back(t.clone());
    for (at::Tensor& t : inputs) t.requires_grad_(t.scalar_type() == at::kFloat);
    const at::Tensor y = convolution(inputs[0], inputs[1], inputs[2]);
    y.backward(grad);
    return std::vector<at::Tensor>{y.detach(), inputs[0].grad(), inputs[1].grad(), inputs[2].grad()};
  };
  for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
    const at::Tensor rows = x.to(type);
    const auto fused =
        run([&](const auto& a, const auto& l, const auto& r) { return sage_convolution(hop, a, l, r); }, rows);
    const auto parts = run(
        [&](const auto& a, const auto& l, const auto& r) {
          return at::linear(segment_mean(hop, a), l) + at::linear(a.narrow(0, 0, 30).to(at::kFloat), r);
        },
        rows);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      ASSERT_EQ(fused[i].defined(), parts[i].defined()) << i;
      EXPECT_TRUE(!fused[i].defined() || at::allclose(fused[i], parts[i], 1e-5, 1e-5)) << i;
    }
    EXPECT_EQ(fused[1].defined(), type == at::kFloat) << "stored features take no gradient";
  }
}

TEST(SegmentOperators, RefuseWhatDoesNotFit) {
  const HopView hop = test::view_of(random_hop(4, 6, 2, 3));
  EXPECT_COMPLAINT(segment_mean(hop, at::zeros({5, 2})), ErrorKind::kInternal, "one contiguous row per source");
  EXPECT_COMPLAINT(segment_mean(hop, at::zeros({6, 2}, at::kDouble)), ErrorKind::kInternal, "f16 or f32");
  EXPECT_COMPLAINT(weighted_mean(hop, at::zeros({6, 2}), at::ones({5})), ErrorKind::kInternal, "weight per source");
}

/// The same by dense algebra in double precision: a [num_dst, num_src] matrix of multiplicities, masked softmax.
at::Tensor dense_attention(const OwnedHop& hop, const at::Tensor& z, const at::Tensor& src, const at::Tensor& dst) {
  at::Tensor count = dense(hop, Reduce::kSum);
  for (std::int64_t i = 0; i < hop.num_dst; ++i) count[i][i] = 1;  // itself once, however often the row names it
  std::vector<at::Tensor> heads;
  const std::int64_t channels = z.size(1) / src.size(1);
  for (std::int64_t k = 0; k < src.size(1); ++k) {
    const at::Tensor logits = at::leaky_relu(src.select(1, k).unsqueeze(0) + dst.select(1, k).unsqueeze(1), 0.2);
    const at::Tensor weights = at::exp(logits) * count;
    heads.push_back((weights / weights.sum(1, true)).mm(z.narrow(1, k * channels, channels)));
  }
  return at::cat(heads, 1);
}

TEST(AttentionOperator, ForwardAndGradientsEqualDenseAlgebra) {
  const OwnedHop hop = random_hop(15, 25, 9, 6);
  std::vector<at::Tensor> sparse, dense;
  for (const auto& [rows, columns] : {std::pair{25, 12}, {25, 2}, {15, 2}}) {
    sparse.push_back(at::randn({rows, columns}).requires_grad_());
    dense.push_back(sparse.back().detach().to(at::kDouble).requires_grad_());
  }
  const at::Tensor grad = at::randn({15, 12});
  const at::Tensor out = attention(test::view_of(hop), sparse[0], sparse[1], sparse[2]);
  const at::Tensor expected = dense_attention(hop, dense[0], dense[1], dense[2]);
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), expected, 1e-5, 1e-5));
  out.backward(grad);
  expected.backward(grad.to(at::kDouble));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(at::allclose(sparse[i].grad().to(at::kDouble), dense[i].grad(), 1e-5, 1e-5)) << "input " << i;
}

}  // namespace
}  // namespace salient
