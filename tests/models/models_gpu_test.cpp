// tests/models/models_gpu_test.cpp - a training step of every model on the device equals the host's.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "models/model.h"
#include "models/ops/adam.h"
#include "models/ops/linear.h"
#include "models/ops/multilabel_bce_loss.h"
#include "models/ops/operators.h"
#include "tests/support/sparse_batches.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

ModelOptions options_of(ModelKind kind) {
  ModelOptions options{.kind = kind, .in_dim = 24, .hidden_dim = 32, .num_classes = 5};
  options.edge_dim = test::edge_dim_of(kind);
  if (is_typed(kind)) options.types = test::small_types(/*scale=*/100);
  return options;
}

/// Of a relation without entries it may be undefined.
at::Tensor gradient_of(const at::Tensor& parameter) {
  return parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter);
}

std::shared_ptr<Model> model_on(const ModelOptions& options, at::Device device, const Numerics& numerics = {}) {
  const auto model = make_model(options, numerics);
  model->to(device);
  return model;
}

at::Tensor step(Model& model, const BatchView& batch) {
  const at::Tensor logits = model.forward(batch, {1, 2, batch.nodes});
  at::nll_loss(at::log_softmax(logits, -1), batch.y.to(at::kLong)).backward();
  return logits.detach();
}

void expect_trains_as_on_the_host(const ModelOptions& options, const std::string& name) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
    BatchView batch = test::batch_for(options, {900, 300, 90, 20}, 1);
    if (batch.x.is_defined()) batch.x = batch.x.dense().to(type);
    const auto on_host = model_on(options, at::kCPU), on_device = model_on(options, at::kCUDA);
    const at::Tensor expected = step(*on_host, batch), actual = step(*on_device, test::to(batch, at::kCUDA));
    EXPECT_TRUE(at::allclose(actual.cpu(), expected, 1e-4, 1e-4)) << name;
    for (const auto& item : on_host->named_parameters())
      EXPECT_TRUE(at::allclose(gradient_of(on_device->named_parameters()[item.key()]).cpu(), gradient_of(item.value()),
                               1e-3, 1e-4))
          << name << " " << item.key();
  }
}

TEST(ModelsOnDevice, TrainAsOnTheHost) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  for (const auto& [kind, name] : names_of(ModelKind{}))
    expect_trains_as_on_the_host(options_of(kind), std::string(name));
  for (const ModelKind kind : {ModelKind::kGat, ModelKind::kGatv2, ModelKind::kTransformer}) {
    ModelOptions options = options_of(kind);
    options.edge_dim = test::kEdgeDim, options.heads = 4;
    expect_trains_as_on_the_host(options, name_of(kind) + " with features of edges");
  }
  for (const Aggregation aggr : {Aggregation::kMean, Aggregation::kMax})
    for (const AggregateBy by : {AggregateBy::kCount, AggregateBy::kWeight}) {
      ModelOptions options = options_of(ModelKind::kSage);
      options.edge_dim = test::kEdgeDim, options.aggr = aggr, options.aggregate = by;
      if (problems_of(options).empty())
        expect_trains_as_on_the_host(options, "sage with features of edges, " + name_of(aggr) + " " + name_of(by));
    }
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (!can_aggregate_by_weight(kind)) continue;
    ModelOptions options = options_of(kind);
    options.aggregate = AggregateBy::kWeight;
    expect_trains_as_on_the_host(options, std::string(name) + " by the weights of edges");
  }
}

TEST(ModelsOnDevice, TrainOnSparseRowsAsOnTheHost) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  const auto check = [](const ModelOptions& options, const std::string& name) {
    for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
      const BatchView batch = test::twin_batches({900, 300, 90, 20}, 24, 5, type).sparse;
      const auto on_host = model_on(options, at::kCPU), on_device = model_on(options, at::kCUDA);
      const at::Tensor expected = step(*on_host, batch), actual = step(*on_device, test::to(batch, at::kCUDA));
      EXPECT_TRUE(at::allclose(actual.cpu(), expected, 1e-4, 1e-4)) << name;
      for (const auto& item : on_host->named_parameters())
        EXPECT_TRUE(
            at::allclose(on_device->named_parameters()[item.key()].grad().cpu(), item.value().grad(), 1e-3, 1e-4))
            << name << " " << item.key();
    }
  };
  for (const auto& [kind, name] : names_of(ModelKind{}))
    if (!is_typed(kind)) check(options_of(kind), std::string(name));
  ModelOptions largest = options_of(ModelKind::kSage);
  largest.aggr = Aggregation::kMax;
  check(largest, "sage, maximum");
}

TEST(ModelsOnDevice, TrainAsOnTheHostWithNormsResidualsJumpingKnowledgeAndHeads) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  const auto check = [](ModelKind kind, const std::string& name, const auto& change) {
    ModelOptions options = options_of(kind);
    change(options);
    expect_trains_as_on_the_host(options, name);
  };
  check(ModelKind::kSage, "sage, layer norm, residual, jk cat",
        [](auto& o) { o.norm = NormKind::kLayer, o.residual = true, o.jk = JumpingKnowledge::kCat; });
  check(ModelKind::kSage, "sage, maximum, batch norm",
        [](auto& o) { o.aggr = Aggregation::kMax, o.norm = NormKind::kBatch; });
  check(ModelKind::kGat, "gat, 4 heads, batch norm, jk max",
        [](auto& o) { o.heads = 4, o.norm = NormKind::kBatch, o.jk = JumpingKnowledge::kMax; });
  check(ModelKind::kGatv2, "gatv2, 4 heads, layer norm, residual",
        [](auto& o) { o.heads = 4, o.norm = NormKind::kLayer, o.residual = true; });
  check(ModelKind::kGcn, "gcn, residual, jk max", [](auto& o) { o.residual = true, o.jk = JumpingKnowledge::kMax; });
  check(ModelKind::kGcn, "gcn, row mean", [](auto& o) { o.gcn_norm = GcnNorm::kRow; });
  check(ModelKind::kRgcn, "rgcn, bases, layer norm, jk cat",
        [](auto& o) { o.bases = 3, o.norm = NormKind::kLayer, o.jk = JumpingKnowledge::kCat; });
  check(ModelKind::kRgcn, "rgcn, blocks, residual", [](auto& o) { o.blocks = 4, o.residual = true; });
  check(ModelKind::kRgat, "rgat, 4 heads", [](auto& o) { o.heads = 4; });
  check(ModelKind::kHgt, "hgt, 4 heads", [](auto& o) { o.heads = 4; });
  check(ModelKind::kGin, "gin, scaled sum", [](auto& o) { o.gin_sum = GinSum::kScaled; });
  check(ModelKind::kGin, "gin, layer norm, residual, jk cat",
        [](auto& o) { o.norm = NormKind::kLayer, o.residual = true, o.jk = JumpingKnowledge::kCat; });
}

TEST(SegmentMeanOnDevice, HasTheSameGradientInAnyAndInFixedOrder) {  // in any order it goes through bins
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  const std::int64_t num_dst = 12'000, num_src = 40'000, width = 128;
  at::manual_seed(3);
  const at::Tensor indices = at::randint(num_src, {num_dst * 5}, at::kInt);
  const HopView hop{num_dst, num_src, at::arange(num_dst + 1, at::kInt).mul(5).to(at::kCUDA), indices.to(at::kCUDA)};
  const at::Tensor x = at::zeros({num_src + 10, width}, at::kCUDA).requires_grad_();
  const at::Tensor grad = at::randn({num_dst, width}).to(at::kCUDA);
  const auto gradient = [&](GradientOrder order) {
    x.mutable_grad() = at::Tensor();
    segment_mean(hop, x, order).backward(grad);
    return x.grad().clone();
  };
  EXPECT_TRUE(at::allclose(gradient(GradientOrder::kAny), gradient(GradientOrder::kFixed), 1e-5, 1e-5));
}

/// Five entries a row, but for rows without one; some are their row itself, and one source has more than a bin's room.
HopView hop_for_bins(std::int64_t num_dst, std::int64_t num_src) {
  at::Tensor degrees = at::full({num_dst}, 5, at::kLong), indices;
  degrees.slice(0, 1, num_dst, 4).zero_();
  const at::Tensor ends = degrees.cumsum(0);
  indices = at::randint(num_src, {ends[-1].item<std::int64_t>()}, at::kInt);
  indices.slice(0, 0, num_dst, 50).fill_(static_cast<int>(num_src - 1));
  const at::Tensor rows = at::arange(num_dst, at::kInt).repeat_interleave(degrees);
  indices.slice(0, 3, indices.size(0), 40).copy_(rows.slice(0, 3, rows.size(0), 40));
  return {num_dst, num_src, at::cat({at::zeros({1}, at::kLong), ends}).to(at::kInt).to(at::kCUDA),
          indices.to(at::kCUDA)};
}

/// In any order gradients go through bins.
template <class Run>
void expect_same_gradients_in_both_orders(const std::vector<at::Tensor>& inputs, const Run& run,
                                          const std::string& name) {
  const auto gradients = [&](GradientOrder order, int times) {
    for (const at::Tensor& x : inputs) x.mutable_grad() = at::Tensor();
    const at::Tensor out = run(order);
    at::manual_seed(4);
    const at::Tensor grad = at::randn(out.sizes()).to(at::kCUDA);
    for (int i = 0; i < times; ++i) out.backward(grad, /*retain_graph=*/i + 1 < times);
    std::vector<at::Tensor> found{out.detach()};
    for (const at::Tensor& x : inputs) found.push_back(x.grad().clone());
    return found;
  };
  const std::vector<at::Tensor> any = gradients(GradientOrder::kAny, 1), fixed = gradients(GradientOrder::kFixed, 1),
                                twice = gradients(GradientOrder::kAny, 2);
  EXPECT_TRUE(at::equal(any[0], fixed[0])) << name;
  for (std::size_t i = 1; i < any.size(); ++i) {
    const double bound = 1e-4 * fixed[i].abs().max().item<double>();
    EXPECT_TRUE(at::allclose(any[i], fixed[i], 1e-4, bound)) << name << ", input " << i;
    EXPECT_TRUE(at::allclose(twice[i], 2 * fixed[i], 1e-4, 2 * bound)) << name << ", twice, input " << i;
  }
  const at::NoGradGuard no_gradients;
  EXPECT_TRUE(at::equal(run(GradientOrder::kAny), fixed[0])) << name << " without gradients";
}

TEST(AttentionOnDevice, HasTheSameGradientsInAnyAndInFixedOrder) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  at::manual_seed(3);
  const std::int64_t num_dst = 12'000, num_src = 40'000;
  const HopView hop = hop_for_bins(num_dst, num_src);
  const auto values = [](at::IntArrayRef shape) { return at::randn(shape).to(at::kCUDA).requires_grad_(); };
  for (const auto& [heads, channels] : {std::pair<std::int64_t, std::int64_t>{1, 256}, {4, 128}, {8, 16}}) {
    const std::string name = std::to_string(heads) + " heads of " + std::to_string(channels);
    const at::Tensor z = values({num_src, heads * channels}), own = values({num_dst, heads * channels}),
                     att = values({heads, channels}), src = values({num_src, heads}), dst = values({num_dst, heads});
    expect_same_gradients_in_both_orders(
        {z, src, dst}, [&](GradientOrder order) { return attention(hop, z, src, dst, order); }, "gat, " + name);
    expect_same_gradients_in_both_orders(
        {z, own, att}, [&](GradientOrder order) { return attention_v2(hop, z, own, att, order); }, "gatv2, " + name);
  }
}

TEST(MultilabelBceLossOnDevice, IsThatOfTheHostWithItsGradient) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  const at::Tensor logits = at::randn({300, 112}) * 4, flags = at::randint(-1, 2, {300, 112}, at::kChar);
  const auto run = [&](at::Device device) {
    const at::Tensor z = logits.to(device).clone().requires_grad_();
    const at::Tensor sums = at::zeros({5, 2}, at::TensorOptions(device).dtype(at::kDouble));
    const at::Tensor loss = multilabel_bce_loss_sum(z, flags.to(device), 0.1, sums[3]);
    (loss / 7).backward();
    return std::vector<at::Tensor>{loss.detach().cpu(), sums.cpu(), z.grad().cpu()};
  };
  const auto expected = run(at::kCPU), actual = run(at::kCUDA);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::allclose(actual[i], expected[i], 1e-5, 1e-6)) << i;
}

// The host's steps are LibTorch's, which flat_adam_test.cpp compares with the formula.
TEST(AdamOnDevice, TakesTheStepsOfTheHost) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  at::manual_seed(5);
  for (const std::int64_t size : {1, 255, 257, 70'001}) {
    const auto state_on = [&](at::Device device, const at::Tensor& start) {
      const auto zeros = [&] { return at::zeros({size}, at::TensorOptions(device).dtype(at::kFloat)); };
      return AdamTensors{start.clone().to(device),
                         zeros(),
                         zeros(),
                         zeros(),
                         zeros()[0].clone(),
                         at::zeros({}, at::TensorOptions(device).dtype(at::kInt))};
    };
    const at::Tensor start = at::randn({size});
    const AdamTensors host = state_on(at::kCPU, start), device = state_on(at::kCUDA, start);
    for (int step = 0; step < 8; ++step) {
      const at::Tensor gradients = at::randn({size}) * std::pow(10.0, -step);
      host.gradients.copy_(gradients);
      device.gradients.copy_(gradients);
      const double lr = 0.01 / (1 + step % 3), weight_decay = step % 2 == 0 ? 0.0 : 0.05;
      adam_step(host, lr, weight_decay);
      adam_step(device, lr, weight_decay);
    }
    EXPECT_EQ(device.step.item<float>(), 8) << size;
    EXPECT_EQ(device.num_finished_blocks.item<int>(), 0) << size;
    EXPECT_TRUE(at::allclose(device.parameters.cpu(), host.parameters, 1e-6, 1e-7)) << size;
    EXPECT_TRUE(at::allclose(device.exp_avg.cpu(), host.exp_avg, 1e-5, 2e-7)) << size;  // terms of both signs
    EXPECT_TRUE(at::allclose(device.exp_avg_sq.cpu(), host.exp_avg_sq, 1e-5, 1e-12)) << size;
    EXPECT_FALSE(at::allclose(host.parameters, start, 1e-3, 1e-3)) << "the steps changed the parameters";
  }
}

// Products of rounded inputs, summed in f32: near the exact ones, not equal to them.
TEST(PrecisionOnDevice, RoundsInputsOfProductsAndNothingElse) {
  const at::Tensor x = at::randn({300, 64}).to(at::kCUDA), weight = at::randn({32, 64}).to(at::kCUDA),
                   bias = at::randn({32}).to(at::kCUDA), grad = at::randn({300, 32}).to(at::kCUDA);
  const auto run = [&](Precision precision) {
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& t : {x, weight, bias}) inputs.push_back(t.clone().requires_grad_());
    const at::Tensor y = salient::linear(inputs[0], inputs[1], inputs[2], precision);
    EXPECT_EQ(y.scalar_type(), at::kFloat);
    y.backward(grad);
    return std::vector<at::Tensor>{y.detach(), inputs[0].grad(), inputs[1].grad(), inputs[2].grad()};
  };
  const auto exact = run(Precision::kFp32);
  for (const Precision precision : {Precision::kTf32, Precision::kBf16}) {
    const auto rounded = run(precision);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double error = ((rounded[i] - exact[i]).norm() / exact[i].norm()).item<double>();
      EXPECT_LT(error, precision == Precision::kTf32 ? 2e-3 : 1e-2) << i;
      EXPECT_EQ(error > 0, i < 3) << i << ": all but the bias' gradient, a plain sum, are rounded";
    }
  }
  EXPECT_TRUE(run(Precision::kFp32)[0].equal(exact[0])) << "the flag of cuBLAS is as before";
}

TEST(PrecisionOnDevice, TakesHalfPrecisionFeaturesAsTheyAre) {
  const at::Tensor x = at::randn({50, 16}).to(at::kCUDA).to(at::kHalf), weight = at::randn({8, 16}).to(at::kCUDA);
  const at::Tensor exact = salient::linear(x, weight, at::Tensor(), Precision::kFp32);
  const at::Tensor rounded = salient::linear(x, weight, at::Tensor(), Precision::kBf16);
  EXPECT_LT(((rounded - exact).norm() / exact.norm()).item<double>(), 1e-2);
}

TEST(PrecisionOnDevice, IsThatOfAModelNotOfTheProcess) {
  const BatchView batch = test::to(test::random_batch({900, 300, 90, 20}, 24, 5, 1), at::kCUDA);
  const ModelOptions options = options_of(ModelKind::kSage);
  const at::Tensor exact = step(*model_on(options, at::kCUDA), batch);
  for (const Precision precision : {Precision::kTf32, Precision::kBf16}) {
    const auto rounded = model_on(options, at::kCUDA, {.precision = precision});
    EXPECT_FALSE(at::equal(step(*rounded, batch), exact));
    EXPECT_TRUE(at::equal(step(*model_on(options, at::kCUDA), batch), exact)) << "after one of lower precision";
  }
}

TEST(ModelsOnDevice, AreDeterministicIfAskedToBe) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    const BatchView batch = test::to(test::batch_for(options_of(kind), {9000, 3000, 900, 200}, 1), at::kCUDA);
    const Numerics fixed{.gradient_order = GradientOrder::kFixed};
    const auto once = model_on(options_of(kind), at::kCUDA, fixed),
               again = model_on(options_of(kind), at::kCUDA, fixed);
    EXPECT_TRUE(at::equal(step(*once, batch), step(*again, batch))) << name;
    for (const auto& item : once->named_parameters())
      EXPECT_TRUE(at::equal(gradient_of(again->named_parameters()[item.key()]), gradient_of(item.value())))
          << name << " " << item.key();
  }
}

}  // namespace
}  // namespace salient
