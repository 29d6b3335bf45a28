// tests/models/typed_models_test.cpp - models of typed graphs: where they apply, what a row depends on.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/describe/type_names.h"
#include "models/model.h"
#include "models/typed_stack.h"
#include "tests/support/scratch.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

constexpr ModelKind kTypedKinds[] = {ModelKind::kRgcn, ModelKind::kRsage, ModelKind::kRgat, ModelKind::kHgt};

ModelOptions options_of(ModelKind kind) {
  return {.kind = kind, .hidden_dim = 8, .num_classes = 3, .num_layers = 2, .types = test::small_types()};
}

TEST(TypedModels, AreThoseOfTypedGraphsAlone) {
  ModelOptions plain{.kind = ModelKind::kSage, .in_dim = 4, .num_classes = 3, .types = test::small_types()};
  EXPECT_COMPLAINT(make_model(plain), ErrorKind::kUsage,
                   "sage is a model of plain graphs, and this one has node types: rgcn, rsage, rgat, hgt");
  EXPECT_COMPLAINT(make_model({.kind = ModelKind::kRgat, .in_dim = 4, .num_classes = 3}), ErrorKind::kUsage,
                   "rgat is a model of typed graphs, and this one is plain: sage, gat, gin");
  ModelOptions unrelated = options_of(ModelKind::kRgcn);
  unrelated.types.relations.clear();
  EXPECT_COMPLAINT(make_model(unrelated), ErrorKind::kUsage, "no relations");
}

TEST(TypedModels, OfWeightsByRelationAreRgcn) {
  ModelOptions options = options_of(ModelKind::kRsage);
  options.bases = 2;
  EXPECT_COMPLAINT(make_model(options), ErrorKind::kUsage, "bases: only rgcn has a choice, not rsage");
  options = options_of(ModelKind::kRgcn);
  options.blocks = 3;
  EXPECT_COMPLAINT(make_model(options), ErrorKind::kUsage, "3 must divide the width of the hidden layers, 8");
  options.blocks = 2, options.bases = 2;
  EXPECT_COMPLAINT(make_model(options), ErrorKind::kUsage, "bases or blocks, not both");
}

/// The hop of its first destinations alone.
HopView first_destinations(const HopView& hop, std::int64_t count) {
  const GraphTypes types = test::small_types();
  const std::vector<int> row_begin = test::values_of(hop.typed->row_begin);
  std::vector<int> type_of_node(static_cast<std::size_t>(hop.num_src)), indptr = test::values_of(hop.indptr),
                                                                        indices = test::values_of(hop.indices);
  for (std::size_t t = 0; t < types.node_types.size(); ++t)
    for (const int node : test::values_of(hop.typed->nodes_of_type[t]))
      type_of_node[static_cast<std::size_t>(node)] = static_cast<int>(t);
  indptr.resize(static_cast<std::size_t>(row_begin[static_cast<std::size_t>(count)]) + 1);
  indices.resize(static_cast<std::size_t>(indptr.back()));
  return test::typed_hop(types, type_of_node, count, hop.num_src, indptr, indices);
}

TEST(TypedModels, RowsDependOnThemselvesAndTheirEntriesAlone) {
  for (const ModelKind kind : kTypedKinds) {
    const auto model = make_model(options_of(kind));
    model->eval();
    const BatchView whole = test::random_typed_batch(test::small_types(), {60, 60}, 3, 1);
    const at::Tensor h = model->input(whole, {}).dense();
    const HopView& hop = whole.hops.front();
    const at::Tensor all = model->layer(0, hop, h, {});
    for (const std::int64_t count : {0, 1, 7, 59})
      EXPECT_TRUE(
          at::allclose(model->layer(0, first_destinations(hop, count), h, {}), all.narrow(0, 0, count), 1e-5, 1e-6))
          << name_of(kind) << " " << count;
  }
}

TEST(TypedModels, KeepRowsOfTypesThatNoRelationLeadsTo) {
  const BatchView whole = test::random_typed_batch(test::small_types(), {60, 60}, 3, 1);
  for (const ModelKind kind : {ModelKind::kRsage, ModelKind::kRgat}) {
    const auto model = make_model(options_of(kind));
    model->eval();
    const at::Tensor h = model->input(whole, {}).dense(), next = model->layer(0, whole.hops.front(), h, {});
    const std::vector<int> into = num_relations_into(test::small_types());
    ASSERT_EQ(into, (std::vector<int>{4, 2, 0, 0}));
    for (std::size_t t = 0; t < into.size(); ++t)
      EXPECT_EQ(at::equal(next.index_select(0, whole.types[t].rows), h.index_select(0, whole.types[t].rows).relu()),
                into[t] == 0)
          << name_of(kind) << " " << t;
  }
}

TEST(TypedModels, LearnTheRowsOfTheirBatchAlone) {
  const BatchView batch = test::random_typed_batch(test::small_types(), {40, 12, 5}, 3, 1);
  for (const ModelKind kind : kTypedKinds) {
    const auto model = make_model(options_of(kind));
    model->forward(batch, {1, 1, batch.nodes}).sum().backward();
    const at::Tensor grad = model->named_parameters()["emb.author.weight"].grad();
    const at::Tensor touched = batch.nodes.index_select(0, batch.types[1].rows) - 90;  // behind the papers
    EXPECT_EQ(grad.sizes(), (at::IntArrayRef{80, 8}));
    const at::Tensor others = grad.index_fill(0, touched.to(at::kLong), 0);
    EXPECT_EQ(others.abs().sum().item<float>(), 0) << name_of(kind);
    EXPECT_GT(grad.abs().sum().item<float>(), 0) << name_of(kind);
  }
}

TEST(TypedModels, TakeIdsBeyondTwoToThe31) {
  GraphTypes types = test::small_types();
  types.node_types[0].num_nodes = (std::int64_t{1} << 31) + 5;  // features: no rows are learned
  const auto model = make_model({.kind = ModelKind::kRsage, .hidden_dim = 8, .num_classes = 3, .types = types});
  BatchView batch = test::random_typed_batch(test::small_types(), {20, 4}, 3, 1);
  const at::Tensor small = at::tensor(std::vector<std::int64_t>{79, 3}), ids = small + types.node_types[0].num_nodes;
  batch.nodes = ids.to(at::kInt);
  for (TypeRows& type : batch.types) {
    type.rows = type.rows.narrow(0, 0, 0);
    if (type.x.is_defined()) type.x = type.x.dense().narrow(0, 0, 0);
  }
  batch.types[1].rows = at::arange(2, at::kInt);
  EXPECT_TRUE(at::equal(model->input(batch, {}).dense(),
                        model->named_parameters()["emb.author.weight"].index_select(0, small)));
}

TEST(TypedModels, HaveTheSameGradientsEachTime) {
  const BatchView batch = test::random_typed_batch(test::small_types(/*scale=*/10), {600, 200, 50}, 3, 1);
  for (const ModelKind kind : kTypedKinds) {
    ModelOptions options = options_of(kind);
    options.types = test::small_types(10);
    const auto run = [&] {
      const auto model = make_model(options);
      model->forward(batch, {1, 1, batch.nodes}).square().sum().backward();
      return model;
    };
    const auto once = run(), again = run();
    for (const auto& item : once->named_parameters())
      if (item.value().grad().defined()) {
        EXPECT_TRUE(at::equal(again->named_parameters()[item.key()].grad(), item.value().grad())) << item.key();
      }
  }
}

TEST(TypedModels, NodesThatTrainingDidNotKnowHaveTheMeanOfLearnedRows) {
  LearnedRows rows(3, 2);
  const at::Tensor weight = rows.named_parameters().front().value().detach();
  weight.copy_(at::tensor({1.F, 2.F, 3.F, 4.F, 8.F, 0.F}).view({3, 2}));
  const at::Tensor ids = at::tensor({2, 7, 0}, at::kLong);
  EXPECT_TRUE(rows.forward_or_mean(ids).equal(at::tensor({8.F, 0.F, 4.F, 2.F, 1.F, 2.F}).view({3, 2})));
  weight.mul_(2);
  EXPECT_TRUE(rows.forward_or_mean(ids.narrow(0, 1, 1)).equal(at::tensor({8.F, 4.F}).view({1, 2})));
}

}  // namespace
}  // namespace salient
