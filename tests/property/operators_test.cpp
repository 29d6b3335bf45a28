// tests/property/operators_test.cpp - the differentiable operators against dense algebra, and models end to end.
#include "models/ops/operators.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "models/model.h"
#include "models/ops/dropout.h"
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
}

TEST(SegmentOperators, HalfRowsAreSummedInSinglePrecision) {
  const OwnedHop hop = random_hop(10, 500, 400, 2);
  const at::Tensor x = at::rand({500, 24}).to(at::kHalf);
  const at::Tensor out = segment_sum(test::view_of(hop), x);
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), dense(hop, Reduce::kSum).mm(x.to(at::kDouble)), 1e-6, 1e-6));
}

TEST(SegmentOperators, RefuseWhatDoesNotFit) {
  const HopView hop = test::view_of(random_hop(4, 6, 2, 3));
  EXPECT_COMPLAINT(segment_mean(hop, at::zeros({5, 2})), ErrorKind::kInternal, "one contiguous row per source");
  EXPECT_COMPLAINT(segment_mean(hop, at::zeros({6, 2}, at::kDouble)), ErrorKind::kInternal, "f16 or f32");
}

TEST(NodeDropout, GradientUsesTheMaskOfTheForwardPass) {
  const DropoutKey key{1, 2, at::arange(20, at::kInt)};
  const at::Tensor x = at::rand({20, 30}).add(0.5).requires_grad_();
  const at::Tensor out = node_dropout(x, 0.4, key, 1);
  out.backward(at::ones_like(out));
  EXPECT_TRUE(at::allclose(x.grad() * x, out));
  EXPECT_GT((out == 0).sum().item<int>(), 0);
  EXPECT_TRUE(at::equal(node_dropout(x, 0, key, 1), x));
}

TEST(ReluDropout, EqualsReluThenDropoutAndSoDoesItsGradient) {
  const DropoutKey key{1, 2, at::arange(20, at::kInt)};
  const at::Tensor values = at::randn({20, 30}), grad = at::randn({20, 30});
  const at::Tensor x = values.clone().requires_grad_(), y = values.clone().requires_grad_();
  const at::Tensor fused = relu_dropout(x, 0.5, key, 1), plain = node_dropout(at::relu(y), 0.5, key, 1);
  EXPECT_TRUE(at::equal(fused, plain));
  fused.backward(grad);
  plain.backward(grad);
  EXPECT_TRUE(at::equal(x.grad(), y.grad()));
}

// ---- models ----------------------------------------------------------------------------------------------

ModelOptions small(const std::string& name) {
  ModelOptions options;
  options.model = name, options.in_dim = 6, options.hidden_dim = 8, options.num_classes = 3, options.num_layers = 2;
  return options;
}

BatchView two_hop_batch() { return test::random_batch({40, 12, 5}, 6, 3, 4); }

TEST(Models, ParametersDependOnSeedAndNameAlone) {
  for (const std::string& name : model_names()) {
    const auto a = make_model(small(name));
    at::randn({7});  // moves torch's generator
    const auto b = make_model(small(name));
    ModelOptions other = small(name);
    other.seed = 2;
    const auto c = make_model(other);
    for (const auto& item : a->named_parameters()) {
      EXPECT_TRUE(at::equal(item.value(), b->named_parameters()[item.key()])) << item.key();
      EXPECT_FALSE(at::equal(item.value(), c->named_parameters()[item.key()])) << item.key();
    }
  }
}

TEST(Models, SageHasThePyGNamesAndBounds) {
  const auto model = make_model(small("sage"));
  std::set<std::string> names;
  for (const auto& item : model->named_parameters()) names.insert(item.key());
  EXPECT_EQ(names, (std::set<std::string>{"convs.0.lin_l.weight", "convs.0.lin_r.weight", "convs.1.lin_l.weight",
                                          "convs.1.lin_r.weight"}));
  const at::Tensor weight = model->named_parameters()["convs.1.lin_l.weight"];
  EXPECT_EQ(weight.sizes(), (at::IntArrayRef{3, 8}));
  EXPECT_LE(weight.abs().max().item<double>(), 1 / std::sqrt(8.0));
  EXPECT_GT(weight.abs().max().item<double>(), 0.7 / std::sqrt(8.0));
}

TEST(Models, DropOutOnlyInTraining) {
  for (const std::string& name : model_names()) {
    const auto model = make_model(small(name));
    const BatchView batch = two_hop_batch();
    model->eval();
    const at::Tensor evaluated = model->forward(batch, {1, 1, batch.nodes});
    EXPECT_EQ(evaluated.sizes(), (at::IntArrayRef{5, 3}));
    EXPECT_TRUE(at::equal(evaluated, model->forward(batch, {1, 2, batch.nodes}))) << name;
    model->train();
    const at::Tensor trained = model->forward(batch, {1, 1, batch.nodes});
    EXPECT_TRUE(at::equal(trained, model->forward(batch, {1, 1, batch.nodes}))) << name;
    EXPECT_FALSE(at::equal(trained, model->forward(batch, {1, 2, batch.nodes}))) << name;
  }
}

TEST(Models, TakeHalfFeatures) {
  for (const std::string& name : model_names()) {
    const auto model = make_model(small(name));
    model->eval();
    BatchView batch = two_hop_batch();
    batch.x = batch.x.to(at::kHalf);
    const at::Tensor from_half = model->forward(batch, {1, 1, batch.nodes});
    batch.x = batch.x.to(at::kFloat);
    EXPECT_TRUE(at::allclose(from_half, model->forward(batch, {1, 1, batch.nodes}), 1e-6, 1e-6)) << name;
  }
}

TEST(Models, UnknownNamesListTheKnownOnes) {
  EXPECT_COMPLAINT(make_model(small("sagee")), ErrorKind::kUsage, "known models: sage");
  ModelOptions options = small("sage");
  options.init = "zeros";
  EXPECT_COMPLAINT(make_model(options), ErrorKind::kUsage, "pyg or xavier");
}

}  // namespace
}  // namespace salient
