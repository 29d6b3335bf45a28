// tests/models/compute_bytes_test.cpp - the terms of the estimate; tests/apps/memory_plan_test.py has the measurement.
#include "models/compute_bytes.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/small_types.h"

namespace salient {
namespace {

/// 20 seeds, 80 nodes around them, 300 in all.
const MfgShape kMfg{.num_nodes = 300,
                    .hops = {{.num_dst = 80, .num_src = 300, .num_edges = 500}, {.num_dst = 20, .num_src = 80}}};
constexpr std::int64_t kFloat = 4;

ModelOptions sage(int classes) { return {.in_dim = 30, .hidden_dim = 8, .num_classes = classes, .num_layers = 2}; }

TEST(ComputeBytes, CountsLayersLogitsAndLoss) {
  const std::int64_t first = 80 * (30 + 2 * 8), second = 20 * 8;
  EXPECT_EQ(compute_bytes(sage(5), kMfg, Gradients::kNone), kFloat * (first + second + 20 * 2 * 5));
  EXPECT_EQ(compute_bytes(sage(5), kMfg, Gradients::kAll), kFloat * (first + 80 * 2 * 8))
      << "the first layer's gradients, when all else is freed; features have none";
}

TEST(ComputeBytes, OfSparseRowsHasNothingAsWideAsThey) {
  const auto bytes = [](ModelOptions options, int in_dim) {
    options.in_dim = in_dim;
    return compute_bytes(options, kMfg, Gradients::kAll, InputKind::kSparse);
  };
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (is_typed(kind) || kind == ModelKind::kGine) continue;
    ModelOptions options = sage(5);
    options.kind = kind;
    EXPECT_EQ(bytes(options, 60'000) - bytes(options, 10'000), kFloat * 2 * 50'000 * 8)
        << name << ": the weight, transposed, and its gradient";
  }
  ModelOptions largest = sage(5);
  largest.aggr = Aggregation::kMax;
  EXPECT_GT(bytes(largest, 60'000) - bytes(largest, 10'000), kFloat * 300 * 50'000) << "dense rows";
  ModelOptions with_edges = sage(5);
  with_edges.kind = ModelKind::kGine, with_edges.edge_dim = 3;
  EXPECT_GT(bytes(with_edges, 60'000) - bytes(with_edges, 10'000), kFloat * 300 * 50'000) << "dense rows";
}

TEST(ComputeBytes, GrowsWithManyClassesAsLogitsAndLossDo) {
  const auto bytes = [](int classes) { return compute_bytes(sage(classes), kMfg, Gradients::kAll); };
  EXPECT_EQ(bytes(600'001) - bytes(100'001), kFloat * 20 * 3 * 500'000);
}

TEST(ComputeBytes, OfAttentionCountsWhatTrainingKeepsOfTheEdges) {
  const auto bytes = [](ModelKind kind, LocalId num_edges, Gradients gradients) {
    ModelOptions options = sage(5);
    options.kind = kind, options.hidden_dim = 256, options.heads = 1;
    const MfgShape mfg{.num_nodes = 100'000,
                       .hops = {{.num_dst = 15'000, .num_src = 100'000, .num_edges = num_edges}, {.num_dst = 20}}};
    return compute_bytes(options, mfg, gradients);
  };
  const std::int64_t more = 100'000;  // edges: 12 bytes in the list of full bins, GATv2 a bit a value and its padding
  for (const auto& [kind, of_edge] : {std::pair{ModelKind::kGat, 12}, {ModelKind::kGatv2, 12 + 256 / 4}}) {
    EXPECT_EQ(bytes(kind, 150'000 + more, Gradients::kAll) - bytes(kind, 150'000, Gradients::kAll), more * of_edge);
    EXPECT_EQ(bytes(kind, 150'000 + more, Gradients::kNone), bytes(kind, 150'000, Gradients::kNone));
    EXPECT_GT(bytes(kind, 400'000, Gradients::kAll), bytes(kind, 400'001, Gradients::kAll)) << "too many for bins";
  }
}

TEST(ComputeBytes, OfEveryModelGrowWithTheBatchAndWithTraining) {
  MfgShape larger = kMfg;
  larger.hops[0].num_dst *= 2;
  larger.hops[0].num_src *= 2;
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    ModelOptions options = sage(5);
    options.kind = kind;
    options.edge_dim = test::edge_dim_of(kind);
    if (is_typed(kind)) options.types = test::small_types();
    const std::int64_t trained = compute_bytes(options, kMfg, Gradients::kAll);
    EXPECT_GT(trained, compute_bytes(options, kMfg, Gradients::kNone)) << name;
    EXPECT_GT(compute_bytes(options, larger, Gradients::kAll), trained) << name;
    options.norm = NormKind::kLayer;
    options.jk = JumpingKnowledge::kCat;
    EXPECT_GE(compute_bytes(options, kMfg, Gradients::kAll), trained) << name;
  }
  EXPECT_EQ(compute_bytes(sage(5), {}, Gradients::kAll), 0);
}

TEST(ComputeBytes, GrowWithFeaturesOfEdges) {
  MfgShape more = kMfg;
  more.hops[0].num_edges += 1000;
  for (const ModelKind kind : {ModelKind::kGat, ModelKind::kGatv2, ModelKind::kTransformer}) {
    ModelOptions options = sage(5);
    options.kind = kind;
    const auto of_entries = [&](int edge_dim) {
      options.edge_dim = edge_dim;
      return compute_bytes(options, more, Gradients::kAll) - compute_bytes(options, kMfg, Gradients::kAll);
    };
    EXPECT_GT(of_entries(3), of_entries(0) + 1000 * kFloat * 8) << name_of(kind) << ": a mapped row for each, at least";
  }
}

TEST(ComputeBytes, OfSageWithFeaturesOfEdgesHaveAProductMore) {
  ModelOptions options = sage(5);
  const std::int64_t without = compute_bytes(options, kMfg, Gradients::kAll);
  options.edge_dim = 3;
  const std::int64_t with = compute_bytes(options, kMfg, Gradients::kAll);
  EXPECT_GE(with, without + kFloat * 80 * 8);
  options.edge_dim = 403;
  EXPECT_GE(compute_bytes(options, kMfg, Gradients::kAll), with + kFloat * 80 * 400) << "their means";
}

/// As measured on the models' operators when the counts were fitted; a list that changes shows here.
TEST(ComputeBytes, OfPlainModelsAreWhatWasFitted) {
  struct Fitted {
    ModelKind kind;
    std::int64_t trained, predicted, trained_on_sparse_rows;  // values
  };
  using enum ModelKind;
  for (const Fitted& fitted :
       {Fitted{kSage, 4960, 4040, 6080}, Fitted{kGat, 18120, 13280, 12000}, Fitted{kGin, 14380, 13160, 10220},
        Fitted{kSageRi, 31740, 9240, 16700}, Fitted{kGcn, 15200, 15020, 9280}, Fitted{kGatv2, 18280, 14020, 12160}}) {
    ModelOptions options = sage(5);
    options.kind = fitted.kind;
    EXPECT_EQ(compute_bytes(options, kMfg, Gradients::kAll), kFloat * fitted.trained) << name_of(fitted.kind);
    EXPECT_EQ(compute_bytes(options, kMfg, Gradients::kNone), kFloat * fitted.predicted) << name_of(fitted.kind);
    EXPECT_EQ(compute_bytes(options, kMfg, Gradients::kAll, InputKind::kSparse), kFloat * fitted.trained_on_sparse_rows)
        << name_of(fitted.kind);
  }
}

}  // namespace
}  // namespace salient
