// tests/models/sparse_models_test.cpp - models of sparse rows compute what they do of dense ones, gradients included.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/ops/sparse_rows.h"
#include "tests/support/scratch.h"
#include "tests/support/sparse_batches.h"

namespace salient {
namespace {

constexpr std::int64_t kInDim = 30;

ModelOptions options_of(ModelKind kind) {
  ModelOptions options;
  options.kind = kind, options.in_dim = kInDim, options.hidden_dim = 8, options.num_classes = 3;
  options.num_layers = 2;
  options.edge_dim = test::edge_dim_of(kind);
  return options;
}

/// Every model, and every choice that decides what reads the first layer's input.
std::vector<std::pair<std::string, ModelOptions>> variants() {
  std::vector<std::pair<std::string, ModelOptions>> all;
  const auto add = [&](std::string name, ModelKind kind, auto choose) {
    ModelOptions options = options_of(kind);
    choose(options);
    all.emplace_back(std::move(name), options);
  };
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (is_typed(kind)) continue;
    add(std::string(name), kind, [](ModelOptions&) {});
    add(std::string(name) + ", one layer", kind, [](ModelOptions& o) { o.num_layers = 1; });
    if (kind == ModelKind::kSageRi) continue;
    add(std::string(name) + ", residual", kind, [](ModelOptions& o) { o.residual = true; });
    add(std::string(name) + ", residual identity", kind, [](ModelOptions& o) {
      o.residual = true;
      o.hidden_dim = kInDim;
    });
    add(std::string(name) + ", norm, jk", kind, [](ModelOptions& o) {
      o.norm = NormKind::kBatch;
      o.jk = JumpingKnowledge::kCat;
    });
  }
  add("sage, max", ModelKind::kSage, [](ModelOptions& o) { o.aggr = Aggregation::kMax; });
  add("gcn, row", ModelKind::kGcn, [](ModelOptions& o) { o.gcn_norm = GcnNorm::kRow; });
  add("gin, scaled", ModelKind::kGin, [](ModelOptions& o) { o.gin_sum = GinSum::kScaled; });
  add("gat, heads", ModelKind::kGat, [](ModelOptions& o) { o.heads = 4; });
  return all;
}

double largest(const at::Tensor& values) { return values.numel() == 0 ? 0 : values.abs().max().item<double>(); }

void expect_close(const at::Tensor& found, const at::Tensor& expected, double scale, const std::string& what) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  EXPECT_LE(largest(found - expected), 1e-5 * scale) << what;
}

/// Against the largest gradient of all: a bias before a batch norm has 0, and rounding.
void expect_equal_gradients(const std::string& name, const Model& dense, const Model& sparse) {
  const auto parameters = sparse.named_parameters();
  double scale = 0;
  for (const auto& item : dense.named_parameters())
    if (item.value().grad().defined()) scale = std::max(scale, largest(item.value().grad()));
  EXPECT_GT(scale, 0) << name;
  for (const auto& item : dense.named_parameters()) {
    if (!item.value().grad().defined()) continue;
    ASSERT_TRUE(parameters[item.key()].grad().defined()) << name << " " << item.key();
    expect_close(parameters[item.key()].grad(), item.value().grad(), scale, name + " " + item.key());
  }
}

void expect_twins(const std::string& name, const ModelOptions& options, const test::TwinBatches& batches) {
  const auto dense = make_model(options), sparse = make_model(options);
  for (const bool is_training : {true, false}) {
    dense->train(is_training);
    sparse->train(is_training);
    const DropoutKey key{7, 3, batches.dense.nodes};
    const at::Tensor expected = dense->forward(batches.dense, key), found = sparse->forward(batches.sparse, key);
    expect_close(found, expected, largest(expected), name);
    if (!is_training) continue;
    const at::Tensor weights = at::arange(expected.numel()).view(expected.sizes()).to(at::kFloat) + 1;
    (expected * weights).sum().backward();
    (found * weights).sum().backward();
    expect_equal_gradients(name, *dense, *sparse);
  }
}

TEST(SparseModels, ComputeWhatTheyDoOfDenseRows) {
  for (const auto& [name, options] : variants()) {
    std::vector<std::int64_t> num_nodes{60, 40, 12};
    if (options.num_layers == 1) num_nodes.pop_back();
    for (const at::ScalarType type : {at::kFloat, at::kHalf})
      expect_twins(name, options, test::twin_batches(num_nodes, kInDim, 3, type));
  }
}

TEST(SparseModels, TakeABatchWithoutSeeds) {
  for (const auto& [name, options] : variants()) {
    if (options.num_layers == 1) continue;
    const auto model = make_model(options);
    const BatchView batch = test::twin_batches({0, 0, 0}, kInDim, 3).sparse;
    const at::Tensor logits = model->forward(batch, {1, 1, batch.nodes});
    EXPECT_EQ(logits.sizes(), (at::IntArrayRef{0, 3})) << name;
    logits.sum().backward();
  }
}

TEST(SparseLinear, IsTheDenseProductWithItsGradient) {
  const at::Tensor x = test::twin_batches({50, 10}, 20, 3).dense.x.dense();
  const SparseRows rows = test::sparse_rows_of(x);
  for (const std::int64_t count : {std::int64_t{50}, std::int64_t{17}, std::int64_t{0}}) {
    const at::Tensor weight = at::rand({6, 20}).requires_grad_(), twin = weight.detach().clone().requires_grad_();
    const at::Tensor expected = at::linear(x.narrow(0, 0, count), twin),
                     found = sparse_linear(rows.first(count), weight);
    EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-6));
    const at::Tensor grad = at::rand(expected.sizes());
    expected.backward(grad);
    found.backward(grad);
    EXPECT_TRUE(at::allclose(weight.grad(), twin.grad(), 1e-5, 1e-6)) << count;
  }
}

TEST(SparseLinear, TakesColumnsOfAWeight) {
  const at::Tensor x = test::twin_batches({50, 10}, 20, 3).dense.x.dense();
  const at::Tensor weight = at::rand({6, 27}).requires_grad_(), twin = weight.detach().clone().requires_grad_();
  const at::Tensor expected = at::linear(x, twin.narrow(1, 0, 20)),
                   found = sparse_linear(test::sparse_rows_of(x), weight.narrow(1, 0, 20));
  expected.sum().backward();
  found.sum().backward();
  EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(weight.grad(), twin.grad(), 1e-5, 1e-6));
}

TEST(SparseRows, GiveTheirDenseMatrix) {
  const at::Tensor x = test::twin_batches({50, 10}, 20, 3, at::kHalf).dense.x.dense();
  const SparseRows rows = test::sparse_rows_of(x);
  EXPECT_TRUE(at::equal(to_dense(rows), x.to(at::kFloat)));
  EXPECT_TRUE(at::equal(to_dense(rows.first(7)), x.narrow(0, 0, 7).to(at::kFloat)));
}

TEST(SparseRows, AreDroppedAsDenseRowsAre) {
  const at::Tensor x = test::twin_batches({50, 10}, 20, 3).dense.x.dense();
  const DropoutKey key{7, 3, at::arange(50, at::kInt) * 13};
  for (const double p : {0.0, 0.4, 1.0})
    EXPECT_TRUE(at::equal(to_dense(node_dropout(test::sparse_rows_of(x), p, key, 5)), node_dropout(x, p, key, 5)));
}

TEST(SparseLinear, RefusesOtherShapes) {
  const SparseRows rows = test::sparse_rows_of(at::eye(4));
  EXPECT_COMPLAINT(sparse_linear(rows, at::rand({3, 5})), ErrorKind::kInternal, "a column for each");
  EXPECT_COMPLAINT((void)rows.first(5), ErrorKind::kInternal, "as many rows");
}

}  // namespace
}  // namespace salient
