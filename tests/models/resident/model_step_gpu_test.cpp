// tests/models/resident/model_step_gpu_test.cpp - resident steps against the models of models/ on the host, over the
// reference's batch. Those are tested against PyG: tests/models/golden.
#include "models/resident/model_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/models/resident/model_problem.h"

namespace salient {
namespace {

using test::ModelCase;
using test::ModelProblem;
constexpr auto kMaxSeeds = static_cast<std::uint32_t>(test::kSageMaxSeeds);
constexpr auto kF32 = ActivationType::kF32, kBf16 = ActivationType::kBf16;

class ResidentModelStep : public testing::TestWithParam<ModelCase> {};

TEST_P(ResidentModelStep, TrainsAsTheModelOnTheHost) { test::expect_training_as_on_the_host(GetParam()); }

TEST_P(ResidentModelStep, OfNoSeedsHasZeroGradients) {
  ModelProblem problem(GetParam());
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  step.run({1, 1, 2, 0, 10, kMaxSeeds, 1.0F}, {}, stream.get());  // leaves rows behind the next batch's end
  std::map<std::string, at::Tensor> before;
  stream.wait();
  for (const auto& [name, value] : problem.buffers()) before[name] = value.clone();
  step.run({1, 1, 0, 0, 0, 0, 1.0F}, {}, stream.get());
  stream.wait();
  for (const auto& [name, gradient] : problem.gradients()) EXPECT_EQ(gradient.abs().max().item<float>(), 0) << name;
  for (const auto& [name, value] : problem.buffers()) EXPECT_TRUE(at::equal(value, before.at(name))) << name;
  EXPECT_EQ(problem.sums()[0][0].item<double>(), 0);
}

TEST_P(ResidentModelStep, RepeatsItsBits) {
  ModelProblem problem(GetParam());
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  std::map<std::string, at::Tensor> first;
  for (int round = 0; round < 3; ++round) {
    step.run({1, 1, 2, 0, 64, kMaxSeeds, 1.0F}, {}, stream.get());
    stream.wait();
    for (const auto& [name, gradient] : problem.gradients()) {
      if (round == 0) first[name] = gradient.clone();
      EXPECT_TRUE(at::equal(first[name], gradient)) << name;
    }
  }
}

TEST(ResidentModelStep, CountsWhatItSampledInTheEpoch) {
  const ModelCase c{"counts", ModelKind::kGcn, {4, 3}, 16, 8, 3};
  ModelProblem problem(c);
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  for (const std::uint32_t epoch : {1U, 2U}) {
    step.start_epoch(problem.seeds());
    step.run({1, epoch, 0, 0, 100, 20, 1.0F}, {}, stream.get());
    step.run({1, epoch, 1, 1, 120, 0, 1.0F}, {}, stream.get());
    step.run({1, epoch, 2, 2, 120, 17, 1.0F}, {}, stream.get());
    for (int reading = 0; reading < 2; ++reading) {  // the second one is as the first
      const StepCounts counts = step.counts(stream.get());
      ASSERT_EQ(counts.hop_edges.size(), 2U);
      EXPECT_EQ(counts.hop_edges[0], problem.entries_of(problem.seeds().subspan(100, 37), 4)) << epoch;
      EXPECT_EQ(counts.hop_nodes[0], 37 + counts.hop_edges[0]) << "the seeds, and the first hop's children";
      EXPECT_EQ(counts.hop_nodes[1], counts.hop_nodes[0] + counts.hop_edges[1]);
      EXPECT_GT(counts.hop_edges[1], 0);
      EXPECT_LE(counts.hop_edges[1], counts.hop_nodes[0] * 3);
    }
  }
}

ModelCase of_heads(const char* name, ModelKind kind, std::vector<int> fanouts, int hidden_dim, int heads,
                   ActivationType type) {
  ModelCase c{name, kind, std::move(fanouts), 45, hidden_dim, 17, FeatureType::kF16, type};
  c.heads = heads;
  return c;
}

/// Sizes that take other ways through the kernels than those of every model below.
std::vector<ModelCase> cases_of_sizes() {
  constexpr FeatureType f16 = FeatureType::kF16;
  constexpr Draw without = Draw::kUniform;
  return {{"gcn_draws_of_one_pass", ModelKind::kGcn, {4, 3}, 16, 128, 5, f16, kBf16, false, 0.5, 0, without, false},
          {"gcn_draws_of_two_passes", ModelKind::kGcn, {4, 3}, 16, 264, 5, f16, kF32, false, 0.5, 0, without, false},
          {"gat_draws_of_two_passes", ModelKind::kGat, {4, 3}, 16, 264, 5, f16, kF32, false, 0.5, 0, without, false},
          {"ri_draws_of_two_passes", ModelKind::kSageRi, {4, 3}, 16, 264, 5, f16, kF32, false, 0.5, 0, without, false},
          {"v2_teams_of_four", ModelKind::kGatv2, {7, 9}, 16, 520, 5},
          {"v2_teams_of_eight", ModelKind::kGatv2, {4, 3}, 16, 2048, 5},
          {"v2_teams_of_eight_bf16", ModelKind::kGatv2, {4, 3}, 16, 1032, 47, FeatureType::kF16, kBf16},
          of_heads("gat_heads_of_one_lane", ModelKind::kGat, {5, 4}, 64, 8, kF32),
          of_heads("gat_heads_of_sixteen_lanes_bf16", ModelKind::kGat, {15, 10, 5}, 512, 4, kBf16),
          of_heads("gat_heads_of_two_warps", ModelKind::kGat, {4, 3}, 1040, 2, kF32),
          of_heads("v2_heads_of_three_chunks", ModelKind::kGatv2, {5, 32}, 72, 3, kF32),
          of_heads("v2_heads_bf16", ModelKind::kGatv2, {15, 10, 5}, 256, 4, kBf16),
          of_heads("v2_heads_of_two_warps", ModelKind::kGatv2, {4, 3}, 1040, 2, kF32),
          of_heads("transformer_head_of_two_warps", ModelKind::kTransformer, {4, 3}, 520, 1, kF32),
          of_heads("transformer_heads_of_one_lane", ModelKind::kTransformer, {5, 4}, 64, 8, kF32),
          of_heads("transformer_heads_bf16", ModelKind::kTransformer, {15, 10, 5}, 256, 4, kBf16),
          {"gin_moments_of_two_tiles_bf16", ModelKind::kGin, {5, 4}, 128, 256, 5, f16, kBf16},
          {"gin_moments_alone_bf16", ModelKind::kGin, {7}, 45, 64, 5, f16, kBf16, false, 0},
          {"gin_no_moments_bf16", ModelKind::kGin, {5, 4}, 100, 64, 5, f16, kBf16},
          {"ri_moments_of_three_tiles_bf16", ModelKind::kSageRi, {5, 4}, 128, 512, 5, f16, kBf16, false, 0.3},
          {"ri_no_moments_bf16", ModelKind::kSageRi, {5, 4}, 100, 64, 5, f16, kBf16},
          {"gat_holds_six_entries", ModelKind::kGat, {7, 6}, 128, 64, 5, f16, kBf16},
          {"gat_holds_odd_rows", ModelKind::kGat, {4}, 45, 64, 5, FeatureType::kF32, kBf16},
          {"gat_holds_no_rows", ModelKind::kGat, {5, 4}, 200, 64, 5, f16, kBf16},
          {"gin_few_rows_of_many_columns", ModelKind::kGin, {7}, 16, 2048, 5},
          {"gcn_last_fanout_of_sixteen_lanes", ModelKind::kGcn, {5, 12}, 45, 32, 6},
          {"gcn_many_nodes_before_the_last_hop",
           ModelKind::kGcn,
           {20, 20, 20},
           16,
           32,
           6,
           FeatureType::kF16,
           kF32,
           false,
           0.5,
           0,
           Draw::kWithReplacement}};
}

/// What is between layers, over sizes and types. stack_step_gpu_test.cpp has every combination, small.
std::vector<ModelCase> cases_of_options() {
  constexpr FeatureType f16 = FeatureType::kF16;
  constexpr Draw without = Draw::kUniform;
  constexpr NormKind kNoNorm = NormKind::kNone, kBatch = NormKind::kBatch, kLayer = NormKind::kLayer;
  constexpr JumpingKnowledge kNoJk = JumpingKnowledge::kNone, kCat = JumpingKnowledge::kCat,
                             kMax = JumpingKnowledge::kMax;
  const auto make = [&](const char* name, ModelKind kind, int in_dim, int hidden_dim, ActivationType type,
                        NormKind norm, bool residual, JumpingKnowledge jk) {
    return ModelCase{name, kind, {15, 10, 5}, in_dim, hidden_dim, 17,   f16,      type, false,
                     0.5,  0,    without,     true,   false,      norm, residual, jk};
  };
  return {make("sage_layer_residual", ModelKind::kSage, 100, 256, kF32, kLayer, true, kNoJk),
          make("sage_layer_residual_bf16", ModelKind::kSage, 128, 256, kBf16, kLayer, true, kNoJk),
          make("sage_plain", ModelKind::kSage, 100, 64, kF32, kNoNorm, false, kNoJk),
          make("sage_batch_cat_bf16", ModelKind::kSage, 256, 256, kBf16, kBatch, true, kCat),
          make("sage_layer_wide", ModelKind::kSage, 16, 1032, kF32, kLayer, true, kNoJk),
          make("gcn_layer_max_bf16", ModelKind::kGcn, 100, 512, kBf16, kLayer, true, kMax),
          make("gin_layer_residual_cat", ModelKind::kGin, 100, 64, kF32, kLayer, true, kCat),
          make("gat_batch_residual_bf16", ModelKind::kGat, 100, 256, kBf16, kBatch, true, kNoJk),
          make("gat_layer_max", ModelKind::kGat, 64, 64, kF32, kLayer, true, kMax),
          make("v2_layer_residual_bf16", ModelKind::kGatv2, 100, 256, kBf16, kLayer, true, kNoJk),
          make("v2_residual_cat", ModelKind::kGatv2, 64, 64, kF32, kNoNorm, true, kCat)};
}

/// sage with features of edges: words of 8, 4 and 1, of several chunks, and what is between layers. Fanouts take all
/// ways through the tree's kernels.
std::vector<ModelCase> cases_of_edges() {
  std::vector<ModelCase> all;
  const auto add = [&](const char* name, std::vector<int> fanouts, int edge_dim, FeatureType type,
                       ActivationType activations) -> ModelCase& {
    const bool is_wide = activations == kBf16;
    ModelCase c{name, ModelKind::kSage, std::move(fanouts), is_wide ? 100 : 45, is_wide ? 256 : 24, 17};
    c.activations = activations, c.edge_dim = edge_dim, c.edge_features = type;
    all.push_back(c);
    return all.back();
  };
  constexpr FeatureType f16 = FeatureType::kF16, f32 = FeatureType::kF32;
  add("sage_edges_bf16", {15, 10, 5}, 8, f16, kBf16);
  add("sage_edges_f32", {15, 10, 5}, 8, f16, kF32);
  add("sage_edges_of_four", {10, 8}, 4, f16, kF32).draw = Draw::kWithReplacement;
  add("sage_edges_of_three", {12, 9}, 3, f16, kF32);
  add("sage_edges_of_forty", {4, 3, 2, 2}, 40, f16, kF32);
  add("sage_edges_of_300_bf16", {5, 32}, 300, f32, kBf16);
  add("sage_edges_of_one_float", {3, 20}, 1, f32, kF32).has_size_choice = false;
  add("sage_edges_one_layer", {7}, 8, f32, kF32).dropout = 0;
  add("sage_edges_residual", {5, 4}, 8, f16, kF32).residual = true;
  add("sage_edges_layer_bf16", {15, 10, 5}, 8, f16, kBf16).norm = NormKind::kLayer;
  all.back().residual = true;
  add("sage_edges_batch_cat", {5, 4}, 8, f16, kF32).norm = NormKind::kBatch;
  all.back().jk = JumpingKnowledge::kCat;
  return all;
}

std::vector<ModelCase> cases() {
  std::vector<ModelCase> all = cases_of_sizes();
  for (const std::vector<ModelCase>& more : {cases_of_options(), cases_of_edges()})
    all.insert(all.end(), more.begin(), more.end());
  static const std::pair<ModelKind, std::array<const char*, 10>> kNames[] = {
      {ModelKind::kGcn,
       {"gcn", "gcn_one", "gcn_wide", "gcn_with", "gcn_tf32", "gcn_bf16", "gcn_row", "gcn_fp8", "gcn_fp8_four",
        "gcn_fp8_one"}},
      {ModelKind::kGin,
       {"gin", "gin_one", "gin_wide", "gin_with", "gin_tf32", "gin_bf16", "gin_scaled", "gin_fp8", "gin_fp8_four",
        "gin_fp8_one"}},
      {ModelKind::kSageRi,
       {"ri", "ri_one", "ri_wide", "ri_with", "ri_tf32", "ri_bf16", "ri_again", "ri_fp8", "ri_fp8_four", "ri_fp8_one"}},
      {ModelKind::kGat,
       {"gat", "gat_one", "gat_wide", "gat_with", "gat_tf32", "gat_bf16", "gat_again", "gat_fp8", "gat_fp8_four",
        "gat_fp8_one"}},
      {ModelKind::kGatv2,
       {"v2", "v2_one", "v2_wide", "v2_with", "v2_tf32", "v2_bf16", "v2_again", "v2_fp8", "v2_fp8_four", "v2_fp8_one"}},
      {ModelKind::kTransformer,
       {"transformer", "transformer_one", "transformer_wide", "transformer_with", "transformer_tf32",
        "transformer_bf16", "transformer_again", "transformer_fp8", "transformer_fp8_four", "transformer_fp8_one"}}};
  for (const auto& [kind, name] : kNames) {
    all.push_back({name[0], kind, {15, 10, 5}, 100, 64, 17});
    all.push_back({name[1], kind, {7}, 128, 8, 5});
    all.push_back({name[2], kind, {5, 32}, 300, 264, 9, FeatureType::kF32, kF32, false, 0.3, 0.1});
    all.push_back(
        {name[3], kind, {5, 20}, 45, 32, 6, FeatureType::kF16, kF32, false, 0, 0, Draw::kWithReplacement, false});
    all.push_back({name[4], kind, {15, 10, 5}, 128, 256, 47, FeatureType::kF16, kF32, true});
    all.push_back({name[5], kind, {15, 10, 5}, 100, 256, 47, FeatureType::kF16, kBf16});
    all.push_back({name[6],
                   kind,
                   {4, 3, 2, 2},
                   16,
                   24,
                   3,
                   FeatureType::kF16,
                   kF32,
                   false,
                   0.5,
                   0,
                   Draw::kUniform,
                   false,  // so that compute-sanitizer can follow it, with dropout
                   true});
    for (const auto& [i, width, last_fanout] :
         {std::tuple(7U, 128, 5), std::tuple(8U, 100, 8), std::tuple(9U, 45, 3)})  // words of 8, 4, 1
      all.push_back({name[i],
                     kind,
                     {20, last_fanout},
                     width,
                     32,
                     6,
                     FeatureType::kFp8,
                     kF32,
                     false,
                     0.5,
                     0,
                     Draw::kWithReplacement});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, ResidentModelStep, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<ModelCase>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
