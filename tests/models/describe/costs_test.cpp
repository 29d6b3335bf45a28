// tests/models/describe/costs_test.cpp - what follows from lists; describe_test.cpp compares lists with the models.
#include "models/describe/costs.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/describe/resident_limits.h"
#include "tests/support/every_model.h"

namespace salient {
namespace {

TEST(Costs, ReadFeaturesThroughWhatHasNoParameters) {
  const auto products = products_of(
      describe({.kind = ModelKind::kSageRi, .in_dim = 7, .hidden_dim = 12, .num_classes = 5, .num_layers = 2}),
      ProductOrder::kAsListed);
  std::vector<std::int64_t> of_features;
  for (const RowProduct& product : products)
    if (product.reads_features) of_features.push_back(product.in);
  EXPECT_EQ(of_features, (std::vector<std::int64_t>{7, 7, 7})) << "lin_l, lin_r, res_linears.0";
  EXPECT_EQ(products.size(), 2u * 2 + 1 + 2);
}

TEST(Costs, AttentionOfGatMaySumFirst) {
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (is_typed(kind)) continue;
    const LayerList list = describe({.kind = kind, .in_dim = 7, .hidden_dim = 12, .num_classes = 5, .num_layers = 2});
    int num_of_sources = 0, num_moved = 0;
    const auto listed = products_of(list, ProductOrder::kAsListed), first = products_of(list, ProductOrder::kSumsFirst);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      num_of_sources += listed[i].rows == RowSet::kSources;
      num_moved += listed[i].rows != first[i].rows;
    }
    const int of_a_layer = kind == ModelKind::kTransformer ? 2 : has_attention(kind) ? 1 : 0;  // keys and values
    EXPECT_EQ(num_of_sources, 2 * of_a_layer) << name;
    EXPECT_EQ(num_moved, kind == ModelKind::kGat ? 2 : 0) << name;
  }
  const LayerList heads =
      describe({.kind = ModelKind::kGat, .in_dim = 7, .hidden_dim = 12, .num_layers = 2, .heads = 3});
  EXPECT_EQ(products_of(heads, ProductOrder::kSumsFirst)[0].rows, RowSet::kSources) << "a sum for each head";
  EXPECT_EQ(products_of(heads, ProductOrder::kSumsFirst)[1].rows, RowSet::kDestinations) << "the logits have one head";
}

TEST(Costs, OneProductOfJoinedInputsIsThatOfAConvolution) {
  test::for_each_model([](const ModelOptions& options, const std::string& name) {
    int num_joined = 0;
    const LayerList list = describe(options);
    for (const Op& op : list.ops) num_joined += is_joined_product(list, op);
    const bool is_sage = options.kind == ModelKind::kSage || options.kind == ModelKind::kSageRi;
    EXPECT_EQ(num_joined, is_sage ? options.num_layers : 0) << name << ": residual connections are sums, too";
  });
}

TEST(Costs, OfFeaturesOfEdgesAreAProductOfTheirMeans) {
  ModelOptions options{.kind = ModelKind::kSage, .in_dim = 7, .hidden_dim = 12, .num_classes = 5, .num_layers = 2};
  EXPECT_FALSE(reads_edge_features(options));
  options.edge_dim = 3;
  EXPECT_TRUE(reads_edge_features(options));
  const auto products = products_of(describe(options), ProductOrder::kAsListed);
  ASSERT_EQ(products.size(), 6U) << "lin_l, lin_r, lin_edge of each layer";
  for (const std::size_t i : {2U, 5U}) {
    EXPECT_EQ(products[i].in, 3);
    EXPECT_TRUE(products[i].reads_features) << "no gradient is wanted";
  }
  for (std::size_t i = 0; i < products.size(); ++i) EXPECT_EQ(products[i].is_added, i % 3 != 0) << i;
  options.time_encoding = 2;  // of the three: learned
  EXPECT_FALSE(products_of(describe(options), ProductOrder::kAsListed)[2].reads_features);
  EXPECT_TRUE(products_of(describe(options), ProductOrder::kAsListed)[0].reads_features);
}

TEST(Costs, OfRelationsAreShares) {
  const auto work_of = [](ModelKind kind, int heads) {
    double products = 0, sums = 0;
    const LayerList list = describe({.kind = kind,
                                     .hidden_dim = 12,
                                     .num_classes = 12,
                                     .num_layers = 1,
                                     .heads = heads,
                                     .types = test::small_types()});
    for (const RowProduct& product : products_of(list, ProductOrder::kAsListed))
      if (product.layer == 0) products += product.share * static_cast<double>(product.in * product.out);
    for (const RowSum& sum : sums_of(list)) sums += sum.share * static_cast<double>(sum.width);
    return std::pair{products, sums};
  };
  const double input = (7 + 3 + 2) * 12 / 4.0, of_relations = 144 * 6 / 4.0;  // 4 types, 6 relations
  EXPECT_EQ(work_of(ModelKind::kRgcn, 1), std::pair(input + of_relations + 144, 12.0));
  EXPECT_EQ(work_of(ModelKind::kRsage, 1), std::pair(input + 2 * of_relations, 12.0));
  EXPECT_EQ(work_of(ModelKind::kRgat, 3), std::pair(input + 2 * of_relations, 12.0));
  EXPECT_EQ(work_of(ModelKind::kHgt, 3), std::pair(input + 144 * (3 + 1) + 2 * of_relations / 3, 12.0));
}

TEST(Costs, WhatReadsDegreesFollowsFromTheSums) {
  test::for_each_model([](const ModelOptions& options, const std::string& name) {
    const bool symmetric = options.kind == ModelKind::kGcn && options.gcn_norm == GcnNorm::kSymmetric;
    const bool scaled = options.kind == ModelKind::kGin && options.gin_sum == GinSum::kScaled;
    EXPECT_EQ(reads_degrees(options), symmetric || scaled) << name;
  });
}

TEST(Costs, WeightsOfEdgesAreReadWhereTheyCount) {
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    ModelOptions options{.kind = kind, .in_dim = 7, .num_classes = 5};
    EXPECT_FALSE(reads_edge_weights(options)) << name;
    options.aggregate = AggregateBy::kWeight;
    EXPECT_EQ(problems_of(options).empty(), can_aggregate_by_weight(kind)) << name;
    if (!can_aggregate_by_weight(kind)) continue;
    EXPECT_TRUE(reads_edge_weights(options)) << name;
    EXPECT_EQ(reads_row_weights(options), kind == ModelKind::kGcn) << name;
    EXPECT_NE(resident_obstacle(options), "") << name;
  }
}

}  // namespace
}  // namespace salient
