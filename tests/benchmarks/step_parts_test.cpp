// tests/benchmarks/step_parts_test.cpp - a step's parts have all its kernels once, and the bytes and operations of its
// batches.
#include "benchmarks/step_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace salient {
namespace {

constexpr int kIn = 100, kHidden = 256, kClasses = 47;
constexpr double kSeeds = 10, kFirstHop = 30, kSecondHop = 100;  // of a batch

Dataset dataset_of_f16() {
  Dataset dataset;
  dataset.feature_dim = kIn;
  dataset.num_classes = kClasses;
  dataset.features.row_bytes = 2 * kIn;
  return dataset;
}

/// Of four batches.
EpochMetrics epoch() {
  EpochMetrics metrics;
  metrics.batches = 4;
  metrics.seeds = 40;
  metrics.hop_edges = {120, 400};
  return metrics;
}

std::vector<StepPart> parts_of(const ModelOptions& model, const std::vector<StepKernel>& kernels) {
  TrainOptions options;
  options.model = model;
  options.model.hidden_dim = kHidden;
  options.precision = Precision::kBf16;
  options.step = StepKind::kResident;
  return step_parts(options, dataset_of_f16(), epoch(), kernels);
}

std::vector<StepPart> parts_of(ModelKind model, const std::vector<StepKernel>& kernels) {
  return parts_of(ModelOptions{.kind = model}, kernels);
}

const StepPart& part(const std::vector<StepPart>& parts, const std::string& name) {
  const auto found = std::ranges::find(parts, name, &StepPart::name);
  if (found == parts.end()) throw std::runtime_error("no part " + name);
  return *found;
}

TEST(StepParts, OfFusedLayersHaveTheirOperationsAndProductsTheRest) {
  const auto parts = parts_of(ModelKind::kSage, {{"aggregate_features_apart_kernel<Half>", 1, 4e-6},
                                                 {"fused_forward_kernel", 1, 2e-6},
                                                 {"fused_backward_kernel", 1, 3e-6},
                                                 {"nvjet_sm90_a", 2, 1e-6},
                                                 {"void salient::hidden_product_kernel<1>", 1, 1e-6},
                                                 {"copy", 0.5, 9e-6}});
  const double operand = 2 * 104, first = 2 * (kSeeds + kFirstHop) * operand * kHidden;
  EXPECT_EQ(part(parts, "first layer").operations, first);
  EXPECT_EQ(part(parts, "gradient of the first layer").operations, first);
  const StepPart& products = part(parts, "products");
  EXPECT_EQ(products.operations, 3 * 2 * kSeeds * 2 * kHidden * 48);
  EXPECT_EQ(products.bytes, 3 * kSeeds * (2 * kHidden + 48) * 2);
  EXPECT_EQ(part(parts, "first layer").bytes,
            (kSeeds + kFirstHop) * (operand * 2 + kHidden / 8) + kSeeds * 2 * kHidden * 2);
  EXPECT_EQ(products.launches, 3);
  EXPECT_DOUBLE_EQ(products.seconds, 2e-6);
  EXPECT_EQ(part(parts, "rows of the table, their means").bytes,
            (kSeeds + kFirstHop + kSecondHop) * 2 * kIn + (kSeeds + kFirstHop) * operand * 2);
  EXPECT_EQ(parts.front().name, "copy") << "a part of its own, and the longest";
  EXPECT_EQ(parts.front().bytes + parts.front().operations, 0);
}

/// Two trainings of different length may have taken different algorithms for the same product.
TEST(StepParts, CountAProductOnceThatHadTwoAlgorithms) {
  const auto parts = parts_of(ModelKind::kGcn, {{"nvjet_b", 2, 6e-6}, {"nvjet_a", -1, -2e-6}, {"copy", 0, -1e-7}});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].launches, 1);
  EXPECT_DOUBLE_EQ(parts[0].seconds, 4e-6);
}

TEST(StepParts, SamplingReadsPlacesAndEntries) {
  const auto parts = parts_of(ModelKind::kGcn, {{"salient::last_hop_kernel", 1, 1}, {"salient::grow_kernel", 1, 1}});
  EXPECT_EQ(part(parts, "sampling").bytes, 32 * (kFirstHop + kSecondHop + (kSeeds + kFirstHop) + 2 * kSeeds));
}

TEST(StepParts, WithoutFusedKernelsAllLayersAreProducts) {
  const auto parts =
      parts_of(ModelKind::kSage, {{"aggregate_features_kernel<Half>", 1, 4e-6}, {"nvjet_sm90_a", 5, 1e-6}});
  EXPECT_EQ(part(parts, "products").operations,
            2 * 2 * (kSeeds + kFirstHop) * 2 * 104 * kHidden + 3 * 2 * kSeeds * 2 * kHidden * 48);
}

TEST(StepParts, OfEveryModelHaveEachKernelOnce) {
  const std::vector<StepKernel> kernels{
      {"void salient::sum_kernel<salient::TableSource<salient::Half, 4>, float>", 1, 1},
      {"void salient::sum_kernel<salient::LevelSource<float, true>, float>", 1, 2},
      {"void salient::spread_kernel<float, true>", 1, 4},
      {"salient::parameter_gradients_kernel(salient::NormLayer)", 1, 8},
      {"void salient::forward_kernel<salient::TableSource<salient::Half, 4>>", 1, 16},
      {"void salient::forward_kernel<salient::LevelSource<float, true>>", 1, 32},
      {"salient::backward_kernel", 1, 64},
      {"salient::gather_kernel<salient::Half, 4, float>", 1, 128},
      {"salient::last_hop_kernel", 1, 256},
      {"salient::unpack_kernel(salient::WeightBlock const*)", 1, 512}};
  for (const ModelKind model : {ModelKind::kSage, ModelKind::kGcn, ModelKind::kGin, ModelKind::kSageRi, ModelKind::kGat,
                                ModelKind::kGatv2, ModelKind::kTransformer}) {
    double launches = 0, seconds = 0;
    for (const StepPart& each : parts_of(model, kernels)) {
      launches += each.launches, seconds += each.seconds;
      EXPECT_GT(each.launches, 0) << each.name;
      EXPECT_GE(each.bytes, 0) << each.name;
    }
    EXPECT_EQ(launches, 10) << name_of(model);
    EXPECT_EQ(seconds, 1023) << name_of(model);
  }
}

/// The logits' gradients read the sums' once, those of the vectors only the table again.
TEST(StepParts, OfAttentionReadTheTableOnceForwardAndTwiceBack) {
  const auto parts =
      parts_of(ModelKind::kGat, {{"forward_kernel<salient::TableSource<salient::Half, 4>", 1, 1},
                                 {"logit_gradients_kernel<salient::TableSource<salient::Half, 4>", 1, 1},
                                 {"row_gradients_kernel<false, salient::TableSource", 1, 1},
                                 {"held_forward_kernel<salient::TableSource<salient::Half, 4>, 16>", 1, 1},
                                 {"held_logit_gradients_kernel<salient::TableSource", 1, 1}});
  EXPECT_EQ(parts.size(), 2U);
  EXPECT_EQ(part(parts, "attention over rows of the table").launches, 2);
  EXPECT_EQ(part(parts, "its gradients over rows of the table").launches, 3);
  const double table = (kSeeds + kFirstHop + kSecondHop) * 2 * kIn, sums = (kSeeds + kFirstHop) * 104 * 2;
  EXPECT_EQ(part(parts, "attention over rows of the table").bytes, table + sums);
  EXPECT_EQ(part(parts, "its gradients over rows of the table").bytes, 2 * table + sums);
}

/// z is read once, and backward its gradient: masked by a kernel of gin's, by that of the next layer's sum of sage-ri.
TEST(StepParts, OfANormFromMomentsReadRowsOnce) {
  const std::vector<StepKernel> kernels{{"salient::row_moments_kernel(salient::RowMoments, int)", 1, 1},
                                        {"salient::moment_totals_kernel(salient::RowMoments, int, int)", 1, 2},
                                        {"salient::mapped_statistics_kernel(salient::MappedNorm)", 1, 4},
                                        {"salient::masked_gradient_kernel(salient::NormLayer)", 1, 8},
                                        {"salient::mapped_gradient_kernel(salient::MappedNorm)", 1, 16},
                                        {"void salient::spread_kernel<__nv_bfloat16, false, true, true>", 1, 32}};
  const double first = (kSeeds + kFirstHop) * kHidden * 2, last = kSeeds * kHidden * 2;
  const auto gin = parts_of(ModelKind::kGin, kernels), ri = parts_of(ModelKind::kSageRi, kernels);
  EXPECT_EQ(part(gin, "norms").launches, 5);
  EXPECT_EQ(part(gin, "norms").bytes, 4 * first + 8 * last);
  EXPECT_EQ(part(ri, "norms").bytes, 3 * first + 9 * last);
}

/// Keys and values of all rows, queries and own maps of the nodes, and what they become.
TEST(StepParts, OfMappedRowsHaveAllTheirMaps) {
  const std::vector<StepKernel> kernels{
      {"void salient::entry_forward_kernel<(salient::AttentionKind)2, float>", 2, 1},
      {"void salient::entry_score_gradients_kernel<(salient::AttentionKind)2, float>", 2, 2},
      {"void salient::entry_row_gradients_kernel<(salient::AttentionKind)2, float>", 2, 4},
      {"void salient::forward_kernel<salient::LevelSource<float, false>>", 1, 8},
      {"void salient::row_gradients_kernel<true, false, 32, salient::LevelSource<float, false>>", 1, 16}};
  const double first = (kSeeds + kFirstHop) * kHidden * 2, all_first = first + kSecondHop * kHidden * 2;
  const double last = kSeeds * 48 * 2, all_last = last + kFirstHop * 48 * 2;
  const auto transformer = parts_of(ModelKind::kTransformer, kernels);
  EXPECT_EQ(part(transformer, "attention").bytes, 2 * (all_first + all_last) + 3 * (first + last));
  EXPECT_EQ(part(transformer, "its gradients").bytes, 4 * (all_first + all_last) + 5 * (first + last));
  const auto gat = parts_of({.kind = ModelKind::kGat, .heads = 4}, kernels);
  EXPECT_EQ(part(gat, "attention").bytes, all_first + first) << "the last layer has one head";
  EXPECT_EQ(part(gat, "attention").launches, 2);
  EXPECT_EQ(part(gat, "attention over rows of a layer").bytes, first + kSeeds * kHidden * 2);
  EXPECT_EQ(part(gat, "its gradients over rows of a layer").launches, 1);
}

/// One hidden layer of two: z, result and their gradients, and what is added.
TEST(StepParts, BetweenLayersHaveTheirMatrices) {
  const std::vector<StepKernel> kernels{
      {"void salient::sum_kernel<salient::TableSource<salient::Half, 4>, float>", 1, 1},
      {"void salient::normalise_rows_kernel<float, 32>(salient::RowNorm, long)", 1, 2},
      {"void salient::normalise_rows_backward_kernel<float, 32>(salient::RowNorm)", 1, 4},
      {"salient::row_norm_parameters_kernel(salient::RowNorm, int)", 1, 8},
      {"void salient::add_rows_kernel<float>(salient::Matrix)", 1, 16},
      {"void salient::activate_kernel<float>(salient::ReluLayer, long)", 1, 32},
      {"void salient::concat_rows_kernel<float>(salient::JoinedRows)", 1, 64},
      {"salient::parameter_gradients_kernel(salient::Attention, long)", 1, 128},
      {"salient::parameter_gradients_kernel(salient::NormLayer)", 1, 256}};
  const double values = (kSeeds + kFirstHop) * kHidden * 2;
  const auto of_norm = parts_of({.norm = NormKind::kLayer, .residual = true}, kernels);
  EXPECT_EQ(part(of_norm, "norms").bytes, (2 + 3 + 2) * values);
  EXPECT_EQ(part(of_norm, "norms").launches, 4);
  EXPECT_EQ(part(of_norm, "sums over rows of the table").bytes,
            (kSeeds + kFirstHop + kSecondHop) * 2 * kIn + (kSeeds + kFirstHop) * 2 * 104 * 2)
      << "GraphSAGE with norms has the sums of other models";
  const auto of_batch = parts_of({.kind = ModelKind::kGat, .norm = NormKind::kBatch, .residual = true}, kernels);
  EXPECT_EQ(part(of_batch, "norms").bytes, 8 * values);
  EXPECT_EQ(part(of_batch, "residual connections").bytes, 3 * values);
  EXPECT_EQ(part(of_batch, "its parameters").launches, 1);
  const auto of_relu = parts_of({.kind = ModelKind::kGcn, .residual = true}, kernels);
  EXPECT_EQ(part(of_relu, "activations").bytes, (5 + 1) * values);
  EXPECT_EQ(
      part(parts_of({.kind = ModelKind::kGcn, .jk = JumpingKnowledge::kCat}, kernels), "jumping knowledge").launches,
      1);
}

}  // namespace
}  // namespace salient
