// tests/models/model_test.cpp - models end to end: parameters, dropout, half precision, empty batches.
#include "models/model.h"
#include "core/host/processor.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "models/describe/costs.h"
#include "models/kernels/dropout.h"
#include "models/ops/linear.h"
#include "models/ops/operators.h"
#include "tests/support/scratch.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

ModelOptions small(ModelKind kind) {
  ModelOptions options;
  options.kind = kind, options.in_dim = 6, options.hidden_dim = 8, options.num_classes = 3, options.num_layers = 2;
  options.edge_dim = test::edge_dim_of(kind);
  if (is_typed(kind)) options.types = test::small_types();
  return options;
}

BatchView two_hop_batch(ModelKind kind) { return test::batch_for(small(kind), {40, 12, 5}, 4); }

TEST(Models, ParametersDependOnSeedAndNameAlone) {
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    const auto a = make_model(small(kind));
    at::randn({7});  // moves torch's generator
    const auto b = make_model(small(kind));
    ModelOptions other = small(kind);
    other.seed = 2;
    const auto c = make_model(other);
    for (const auto& item : a->named_parameters()) {
      EXPECT_TRUE(at::equal(item.value(), b->named_parameters()[item.key()])) << item.key();
      const bool is_of_batch_norm =
          at::equal(item.value(), at::ones_like(item.value())) || at::equal(item.value(), at::zeros_like(item.value()));
      EXPECT_EQ(at::equal(item.value(), c->named_parameters()[item.key()]), is_of_batch_norm) << item.key();
    }
  }
}

TEST(Models, SageHasThePyGNamesAndBounds) {
  const auto model = make_model(small(ModelKind::kSage));
  std::set<std::string> names;
  for (const auto& item : model->named_parameters()) names.insert(item.key());
  EXPECT_EQ(names, (std::set<std::string>{"convs.0.lin_l.weight", "convs.0.lin_r.weight", "convs.1.lin_l.weight",
                                          "convs.1.lin_r.weight"}));
  const at::Tensor weight = model->named_parameters()["convs.1.lin_l.weight"];
  EXPECT_EQ(weight.sizes(), (at::IntArrayRef{3, 8}));
  EXPECT_LE(weight.abs().max().item<double>(), 1 / std::sqrt(8.0));
  EXPECT_GT(weight.abs().max().item<double>(), 0.7 / std::sqrt(8.0));
}

TEST(Models, GatSplitsItsWidthOverItsHeads) {
  ModelOptions options = small(ModelKind::kGat);
  options.heads = 4;
  const auto model = make_model(options);
  EXPECT_EQ(model->named_parameters()["convs.0.att_src"].sizes(), (at::IntArrayRef{1, 4, 2}));
  EXPECT_EQ(model->named_parameters()["convs.1.att_src"].sizes(), (at::IntArrayRef{1, 1, 3}));
  options.heads = 3;
  EXPECT_COMPLAINT(make_model(options), ErrorKind::kUsage, "3 must divide the width of the hidden layers, 8");
}

TEST(Models, TakeABatchWithoutSeeds) {  // a rank that has run out
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    const auto model = make_model(small(kind));
    const BatchView batch = test::batch_for(small(kind), {0, 0, 0}, 4);
    const at::Tensor logits = model->forward(batch, {1, 1, batch.nodes});
    EXPECT_EQ(logits.sizes(), (at::IntArrayRef{0, 3})) << name;
    logits.sum().backward();
    for (const auto& item : model->named_parameters())
      if (item.value().grad().defined()) {
        EXPECT_EQ(item.value().grad().abs().sum().item<double>(), 0) << name << " " << item.key();
      }
  }
}

TEST(Models, DropOutOnlyInTraining) {
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    const auto model = make_model(small(kind));
    const BatchView batch = two_hop_batch(kind);
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

void expect_takes_half_features(const ModelOptions& options, const std::string& name) {
  const auto model = make_model(options);
  model->eval();
  BatchView batch = two_hop_batch(options.kind);
  const auto convert = [](InputRows& x, at::ScalarType type) {
    if (x.is_defined()) x = x.dense().to(type);
  };
  const auto convert_all = [&](at::ScalarType type) {
    convert(batch.x, type);
    for (TypeRows& rows : batch.types) convert(rows.x, type);
  };
  convert_all(at::kHalf);
  const at::Tensor from_half = model->forward(batch, {1, 1, batch.nodes});
  convert_all(at::kFloat);
  EXPECT_TRUE(at::allclose(from_half, model->forward(batch, {1, 1, batch.nodes}), 1e-6, 1e-6)) << name;
}

TEST(Models, TakeHalfFeatures) {
  for (const auto& [kind, name] : names_of(ModelKind{})) expect_takes_half_features(small(kind), std::string(name));
  ModelOptions largest = small(ModelKind::kSage);
  largest.aggr = Aggregation::kMax;
  expect_takes_half_features(largest, "sage with the maximum");
}

// ---- degrees ---------------------------------------------------------------------------------------------

TEST(Degrees, AreReadByTheModelsWhoseOptionsSaySo) {
  int num_reading = 0;
  for (const auto& [kind, name] : names_of(ModelKind{}))
    for (const GcnNorm norm : {GcnNorm::kSymmetric, GcnNorm::kRow})
      for (const GinSum sum : {GinSum::kScaled, GinSum::kPlain}) {
        ModelOptions options = small(kind);
        options.gcn_norm = norm, options.gin_sum = sum;
        if (!problems_of(options).empty()) continue;
        const auto model = make_model(options);
        EXPECT_EQ(model->reads_degrees(), reads_degrees(options)) << name;
        BatchView batch = two_hop_batch(kind);
        for (HopView& hop : batch.hops) hop.degrees = at::Tensor();
        const auto forward = [&] { (void)model->forward(batch, {1, 1, batch.nodes}); };
        if (model->reads_degrees())
          EXPECT_COMPLAINT(forward(), ErrorKind::kInternal, "carries degrees");
        else
          forward();
        num_reading += model->reads_degrees() ? 1 : 0;
      }
  EXPECT_EQ(num_reading, 3) << "gcn, gin and gine, one variant each";
}

/// One convolution as the first layer of a model whose result are the logits.
ModelOptions one_layer(ModelKind kind) {
  ModelOptions options = small(kind);
  options.num_layers = 1;
  return options;
}

TEST(Gcn, OnAWholeGraphIsKipfAndWellings) {
  const test::OwnedHop graph = test::random_hop(30, 30, 6, 3);  // with self loops, repeats and isolated nodes
  const HopView hop = test::whole_graph_view_of(graph);
  at::Tensor adjacency = at::zeros({30, 30}, at::kDouble);  // each entry once, the diagonal once
  for (std::size_t i = 0; i < 30; ++i)
    for (LocalId e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
      adjacency[static_cast<LocalId>(i)][graph.indices[static_cast<std::size_t>(e)]] += 1;
  ASSERT_GT(adjacency.diagonal().sum().item<double>(), 1);
  adjacency.diagonal().fill_(1);
  const at::Tensor root = adjacency.sum(1).rsqrt();
  const auto model = make_model(one_layer(ModelKind::kGcn));
  const at::Tensor x = at::randn({30, 6}), weight = model->named_parameters()["convs.0.lin.weight"];
  const at::Tensor expected =
      (root.unsqueeze(1) * adjacency * root.unsqueeze(0)).mm(x.to(at::kDouble)).mm(weight.detach().to(at::kDouble).t());
  EXPECT_TRUE(at::allclose(model->layer(0, hop, x, {}).to(at::kDouble), expected, 1e-5, 1e-6));
}

/// Rows of `kept` entries each, drawn without replacement from every row of `graph`, which has as many at least.
test::OwnedHop sample_rows(const test::OwnedHop& graph, LocalId kept, std::mt19937& random) {
  test::OwnedHop hop{graph.num_dst, graph.num_src};
  for (std::size_t i = 0; i < static_cast<std::size_t>(graph.num_dst); ++i) {
    std::vector<LocalId> row(graph.indices.begin() + graph.indptr[i], graph.indices.begin() + graph.indptr[i + 1]);
    std::shuffle(row.begin(), row.end(), random);
    hop.indices.insert(hop.indices.end(), row.begin(), row.begin() + std::min<std::ptrdiff_t>(kept, std::ssize(row)));
    hop.indptr.push_back(static_cast<LocalId>(hop.indices.size()));
  }
  return hop;
}

TEST(SampledSums, OfGcnAreUnbiased) {
  const test::OwnedHop graph = test::random_hop(20, 20, 9, 5);
  const HopView whole = test::whole_graph_view_of(graph);
  const auto model = make_model(one_layer(ModelKind::kGcn));
  const at::Tensor x = at::randn({20, 6}), exact = model->layer(0, whole, x, {}).detach();
  at::Tensor sum = at::zeros_like(exact), squares = at::zeros_like(exact);
  std::mt19937 random(1);
  constexpr int kDraws = 4000;
  for (int draw = 0; draw < kDraws; ++draw) {
    HopView hop = test::view_of(sample_rows(graph, 2, random));
    hop.degrees = whole.degrees;
    const at::Tensor difference = model->layer(0, hop, x, {}).detach() - exact;
    sum += difference;
    squares += difference.square();
  }
  const at::Tensor deviation = (squares / kDraws).sqrt() / std::sqrt(double{kDraws});
  EXPECT_TRUE(((sum / kDraws).abs() <= 5 * deviation + 1e-6).all().item<bool>());
  EXPECT_GT(deviation.max().item<double>(), 1e-4) << "the draws differ";
}

TEST(SampledSums, OfGinAreThoseOfTheWholeRowInTheMean) {
  ModelOptions options = one_layer(ModelKind::kGin);
  options.gin_sum = GinSum::kScaled;
  const auto scaled = make_model(options);
  options.gin_sum = GinSum::kPlain;
  const auto plain = make_model(options);
  const test::OwnedHop graph = test::random_hop(20, 20, 9, 5);
  const HopView whole = test::whole_graph_view_of(graph);
  const at::Tensor x = at::randn({20, 6});
  EXPECT_TRUE(at::allclose(scaled->layer(0, whole, x, {}), plain->layer(0, whole, x, {}), 1e-4, 1e-5))
      << "nothing is scaled where all neighbours are there";
  std::mt19937 random(1);
  HopView hop = test::view_of(sample_rows(graph, 1, random));
  hop.degrees = whole.degrees;
  const at::Tensor repeated = at::randn({1, 6}).expand({20, 6}).contiguous();  // one neighbour tells what all are
  EXPECT_TRUE(at::allclose(scaled->layer(0, hop, repeated, {}), plain->layer(0, whole, repeated, {}), 1e-4, 1e-5));
  EXPECT_FALSE(at::allclose(plain->layer(0, hop, repeated, {}), plain->layer(0, whole, repeated, {}), 1e-2, 1e-2));
}

// ---- dropout: every mask is that of dropout_reference() --------------------------------------------------

constexpr double kDropped = 0.4;

at::Tensor dropped_by_reference(const at::Tensor& x, const DropoutKey& key, std::uint32_t layer) {
  const at::Tensor in = x.detach().contiguous(), out = at::empty_like(in);
  const auto* nodes = reinterpret_cast<const std::uint32_t*>(key.nodes.const_data_ptr<int>());
  dropout_reference(DropoutMask::make(kDropped, key.seed, key.step, layer), Activation::kNone,
                    {in.const_data_ptr<float>(), nodes, in.size(0), in.size(1)}, {out.mutable_data_ptr<float>()});
  return out;
}

std::shared_ptr<Model> model_that_drops(ModelKind kind) {
  ModelOptions options = small(kind);
  options.num_layers = 3;
  options.dropout = kDropped;
  return make_model(options);
}

BatchView three_hop_batch() { return test::random_batch({60, 40, 12, 5}, 6, 3, 4); }

TEST(DropoutInModels, HiddenLayersOfAStackUseTheReferenceMask) {
  using enum ModelKind;
  for (const ModelKind kind : {kSage, kGat, kGcn, kGatv2, kTransformer, kRgcn, kRsage}) {
    const auto model = model_that_drops(kind);
    const BatchView batch = test::batch_for(small(kind), {60, 40, 12, 5}, 4);
    const DropoutKey key{7, 3, batch.nodes};
    at::Tensor x = model->input(batch, {}).dense();
    for (int i = 0; i < 2; ++i) {
      const HopView& hop = batch.hops[static_cast<std::size_t>(i)];
      model->eval();
      const at::Tensor all = model->layer(i, hop, x, key);
      model->train();
      const at::Tensor kept = model->layer(i, hop, x, key).detach();
      EXPECT_TRUE(at::equal(kept, dropped_by_reference(all, key, static_cast<std::uint32_t>(i)))) << i;
      EXPECT_FALSE(at::equal(kept, all)) << i;
      x = kept;
    }
    const at::Tensor last = model->layer(2, batch.hops[2], x, key);
    model->eval();
    EXPECT_TRUE(at::equal(last, model->layer(2, batch.hops[2], x, key))) << "logits are not dropped";
  }
}

TEST(DropoutInModels, GinDropsBetweenTheMapsOfItsReadOutAlone) {
  const auto model = model_that_drops(ModelKind::kGin);
  const auto parameters = model->named_parameters();
  const at::Tensor h = at::randn({5, 8});
  const DropoutKey key{7, 3, at::arange(5, at::kInt)};
  const at::Tensor hidden = at::relu(at::linear(h, parameters["lin1.weight"], parameters["lin1.bias"]));
  const at::Tensor expected =
      at::linear(dropped_by_reference(hidden, key, 0), parameters["lin2.weight"], parameters["lin2.bias"]);
  EXPECT_TRUE(at::allclose(model->head({h, h, h, h}, key), expected, 1e-6, 1e-6));
}

TEST(DropoutInModels, SageRiHasFourMasksInItsFirstLayer) {
  const auto model = model_that_drops(ModelKind::kSageRi);
  const auto parameters = model->named_parameters();
  const BatchView batch = three_hop_batch();
  const HopView& hop = batch.hops[0];
  const DropoutKey key{7, 3, batch.nodes};
  const at::Tensor in = dropped_by_reference(batch.x.dense(), key, 0), self = in.narrow(0, 0, hop.num_dst);
  const at::Tensor h =
      at::linear(segment_mean(hop, dropped_by_reference(in, key, 1)), parameters["convs.0.lin_l.weight"]) +
      at::linear(dropped_by_reference(self, key, 2), parameters["convs.0.lin_r.weight"]);
  const at::Tensor normal =
      at::batch_norm(h, parameters["bns.0.weight"], parameters["bns.0.bias"], {}, {}, true, 0.1, 1e-5, false);
  const at::Tensor expected = dropped_by_reference(at::leaky_relu(normal), key, 3) +
                              at::linear(self, parameters["res_linears.0.weight"], parameters["res_linears.0.bias"]);
  EXPECT_TRUE(at::allclose(model->layer(0, hop, batch.x, key), expected, 1e-5, 1e-5));
}

TEST(Models, OfLowerPrecisionRoundFactorsWhereTheProcessorMultipliesSuch) {
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    const BatchView batch = two_hop_batch(kind);
    const at::Tensor expected = make_model(small(kind))->forward(batch, {1, 1, batch.nodes});
    const auto logits = [&](Precision precision) {
      return make_model(small(kind), {precision, GradientOrder::kFixed})->forward(batch, {1, 1, batch.nodes});
    };
    EXPECT_TRUE(at::equal(logits(Precision::kTf32), expected)) << name << ": tf32 is of a GPU";
    const at::Tensor rounded = logits(Precision::kBf16);
    EXPECT_EQ(rounded.scalar_type(), at::kFloat);
    EXPECT_TRUE(has_bf16_products() || at::equal(rounded, expected)) << name;  // oneDNN may round, or not
    EXPECT_LT(((rounded - expected).norm() / expected.norm()).item<double>(), 0.03) << name;
  }
}

TEST(Products, OfBfloat16RoundFactorsAtMost) {
  struct Shape {
    std::int64_t rows, in, out;
  };
  for (const auto& [rows, in, out] :
       std::vector<Shape>{{0, 5, 7}, {5, 7, 0}, {1, 1, 1}, {65, 100, 47}, {300, 1100, 17}, {9001, 31, 16}}) {
    const std::string name = std::to_string(rows) + " " + std::to_string(in) + " " + std::to_string(out);
    const at::Tensor weight = at::randn({out, in}), grad = at::randn({rows, out + 3}).narrow(1, 2, out);
    const auto expect_near = [&](const at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
      const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
      EXPECT_EQ(y.scalar_type(), at::kFloat) << name;
      EXPECT_EQ(y.sizes(), exact.sizes()) << name;
      EXPECT_LE((y - exact).norm().item<double>(), 4e-3 * exact.norm().item<double>()) << name;
      EXPECT_TRUE(y.numel() < 100 || !at::equal(y, y.to(at::kBFloat16).to(at::kFloat))) << name << ": sums are f32";
    };
    for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
      const at::Tensor x = at::randn({rows, in}).to(type);
      expect_near(product(x, weight.t(), Precision::kBf16), x, weight.t());
      expect_near(product(grad.t(), x, Precision::kBf16), grad.t(), x);
    }
    const at::Tensor sum = at::zeros({rows, in});
    add_product(sum, grad, weight, Precision::kBf16);
    expect_near(sum, grad, weight);
  }
}

TEST(Linear, OfBfloat16HasGradientsOfBfloat16) {
  const at::Tensor x = at::randn({300, 64}), weight = at::randn({32, 64}), bias = at::randn({32}),
                   grad = at::randn({300, 32});
  const auto run = [&](Precision precision) {
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& t : {x, weight, bias}) inputs.push_back(t.clone().requires_grad_());
    const at::Tensor y = linear(inputs[0], inputs[1], inputs[2], precision);
    y.backward(grad);
    return std::vector<at::Tensor>{y.detach(), inputs[0].grad(), inputs[1].grad(), inputs[2].grad()};
  };
  const auto exact = run(Precision::kFp32), rounded = run(Precision::kBf16);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = ((rounded[i] - exact[i]).norm() / exact[i].norm()).item<double>();
    EXPECT_LT(error, 1e-2) << i;
    const bool may_differ =
        i < 3 && has_bf16_products();  // oneDNN may round, or not; the bias' gradient is a plain sum
    EXPECT_TRUE(may_differ || error == 0) << i;
  }
}

}  // namespace
}  // namespace salient
