// tests/models/ops/weighted_sum_test.cpp - sums with a factor for each entry equal dense algebra.
#include "models/ops/weighted_sum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "models/edge_weights.h"
#include "tests/support/batch_views.h"
#include "tests/support/hops.h"

namespace salient {
namespace {

/// [num_dst, num_src] f64: the factors of a row's entries, equal ones added, and of the row's own node.
at::Tensor dense(const HopView& hop, const EntryFactors& factors) {
  at::Tensor matrix = at::zeros({hop.num_dst, hop.num_src}, at::kDouble);
  const at::Tensor row = of_rows(hop, at::arange(hop.num_dst)), own = at::arange(hop.num_dst);
  matrix.index_put_({row, hop.indices.to(at::kLong)}, factors.of_entries.to(at::kDouble), /*accumulate=*/true);
  return matrix.index_put_({own, own}, factors.of_self.to(at::kDouble), /*accumulate=*/true);
}

TEST(WeightedSum, AndItsGradientEqualADenseProduct) {
  const HopView hop = test::view_of(test::random_hop(30, 50, 6, 1));
  ASSERT_GT(hop.indices.eq(of_rows(hop, at::arange(30, at::kInt))).sum().item<std::int64_t>(), 0) << "self loops";
  ASSERT_GT(hop.indptr.diff().eq(0).sum().item<std::int64_t>(), 0) << "empty rows";
  const EntryFactors factors{at::randn({hop.indices.numel()}), at::randn({30})};
  const at::Tensor matrix = dense(hop, factors), grad = at::randn({30, 11});
  const at::Tensor x = at::randn({50, 11}).requires_grad_();
  const at::Tensor out = weighted_sum(hop, x, factors, GradientOrder::kFixed);
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), matrix.mm(x.detach().to(at::kDouble)), 1e-5, 1e-5));
  out.backward(grad);
  EXPECT_TRUE(at::allclose(x.grad().to(at::kDouble), matrix.t().mm(grad.to(at::kDouble)), 1e-5, 1e-5));
}

TEST(WeightedSum, TakesHalfRowsAndMoreRowsThanSources) {
  const HopView hop = test::view_of(test::random_hop(10, 20, 4, 2));
  const EntryFactors factors{at::rand({hop.indices.numel()}), at::zeros({10})};
  const at::Tensor x = at::randn({25, 8}).to(at::kHalf);
  const at::Tensor expected = dense(hop, factors).mm(x.narrow(0, 0, 20).to(at::kDouble));
  EXPECT_TRUE(at::allclose(weighted_sum(hop, x, factors, GradientOrder::kAny).to(at::kDouble), expected, 1e-5, 1e-5));
}

TEST(WeightedMean, OfEqualWeightsIsTheMeanAndOfWeightsOfZeroIsZero) {
  HopView hop = test::view_of(test::random_hop(30, 50, 6, 3));
  const at::Tensor x = at::randn({50, 7});
  const at::Tensor counts = hop.indptr.diff().clamp_min(1).unsqueeze(1);
  const at::Tensor ones = at::ones({hop.indices.numel()}), none = at::zeros({30});
  hop.edge_weight = ones * 3;
  const at::Tensor mean = dense(hop, {ones, none}).mm(x.to(at::kDouble)) / counts;
  EXPECT_TRUE(at::allclose(mean_by_weight(hop, x, GradientOrder::kAny).to(at::kDouble), mean, 1e-5, 1e-5));
  hop.edge_weight = ones * 0;
  EXPECT_TRUE(at::equal(mean_by_weight(hop, x, GradientOrder::kAny), at::zeros({30, 7})));
}

TEST(WeightedMean, TakesWeightsOfAnySize) {
  HopView hop = test::view_of(test::random_hop(30, 50, 6, 4));
  const at::Tensor x = at::randn({50, 7}), weights = at::rand({hop.indices.numel()});
  hop.edge_weight = weights;
  const at::Tensor expected = mean_by_weight(hop, x, GradientOrder::kAny);
  for (const double scale : {1e-30, 1e30}) {
    hop.edge_weight = weights * scale;
    EXPECT_TRUE(at::allclose(mean_by_weight(hop, x, GradientOrder::kAny), expected, 1e-4, 1e-5)) << scale;
  }
}

TEST(EdgeWeights, AreAskedForOfEveryHopThatHasEntries) {
  const HopView hop = test::view_of(test::random_hop(10, 20, 4, 5));
  EXPECT_THROW((void)edge_weights_of(hop), Error);
}

}  // namespace
}  // namespace salient
