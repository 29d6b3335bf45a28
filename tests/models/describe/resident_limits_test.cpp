// tests/models/describe/resident_limits_test.cpp - the rule over operations decides as one over options.
#include "models/describe/resident_limits.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "models/describe/costs.h"
#include "tests/support/every_model.h"

namespace salient {
namespace {

/// The oracle: by the options alone, in the order in which reasons are named.
std::string obstacle_by_options(const ModelOptions& model) {
  const bool is_attention = has_attention(model.kind);
  const bool has_jk = model.jk != JumpingKnowledge::kNone;
  const bool has_hidden = model.num_layers > 1 || has_jk || model.kind == ModelKind::kGin;
  const bool has_options = has_hidden && (model.norm != NormKind::kNone || model.residual || has_jk);
  if (is_typed(model.kind)) return "the graph has several relations";
  if (model.kind == ModelKind::kGine) return "the model has no resident step";
  if (model.num_layers > 8) return "the model has more than 8 layers";
  if ((has_hidden || model.kind != ModelKind::kSage || model.edge_dim > 0) && model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  EXPECT_EQ(is_plain_sage(model), model.kind == ModelKind::kSage && !has_options && model.edge_dim == 0);
  if (model.aggr != Aggregation::kMean) return "the model takes the maximum over neighbours";
  if (is_attention && model.edge_dim > 0) return "attention reads the features of edges";
  if (is_attention && has_hidden && model.heads != 1 && model.hidden_dim / model.heads % 8 != 0)
    return "the width of an attention head is not a multiple of 8";
  const bool is_v2 = model.kind == ModelKind::kGatv2;
  if (is_v2 && has_hidden && model.heads == 1 && model.hidden_dim > 2048)
    return "a layer of gatv2 has more than 2048 columns";
  if (has_hidden && model.norm == NormKind::kLayer && model.hidden_dim > 2048)
    return "a layer norm has more than 2048 columns";
  if (is_v2 && !has_jk && model.num_classes > 2048) return "a layer of gatv2 has more than 2048 columns";
  return {};
}

TEST(ResidentLimits, AreTheSameForEveryModelAndOption) {
  int num_compared = 0, num_resident = 0;
  test::for_each_model([&](const ModelOptions& options, const std::string& name) {
    for (const int num_layers : {options.num_layers, 8, 9})
      for (const int hidden_dim : {12, 24, 2048, 2064})
        for (const int num_classes : {5, 2049})
          for (const int heads : {options.heads, 1}) {
            ModelOptions changed = options;
            changed.num_layers = num_layers;
            changed.hidden_dim = hidden_dim - hidden_dim % heads;
            changed.num_classes = num_classes;
            changed.heads = heads;
            const std::string found = resident_obstacle(changed);
            EXPECT_EQ(found, obstacle_by_options(changed))
                << name << ", layers " << num_layers << ", hidden " << changed.hidden_dim << ", classes " << num_classes
                << ", heads " << heads;
            ++num_compared;
            num_resident += found.empty();
          }
  });
  EXPECT_GT(num_resident, 1000);
  EXPECT_GT(num_compared - num_resident, 1000);
}

/// GraphSAGE's own steps, which have no place for norms, are those of these models and of no others.
TEST(ResidentLimits, PlainSageHasNothingBetweenItsLayers) {
  int num_plain = 0;
  test::for_each_model([&](const ModelOptions& options, const std::string& name) {
    const bool is_plain = is_plain_sage(options);
    num_plain += is_plain;
    if (is_plain)
      for (const Op& op : describe(options).ops) {
        EXPECT_FALSE(std::holds_alternative<Normalise>(op.what)) << name;
        EXPECT_EQ(std::holds_alternative<Combine>(op.what), is_joined_product(describe(options), op)) << name;
      }
  });
  EXPECT_EQ(num_plain, (6 + 1 + 1) + 6) << "without features of edges; of one layer whatever norm and residual say";
}

TEST(ResidentLimits, KnowWhichModelsReadFeaturesOfEdges) {
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (!can_read_edge_features(kind) || kind == ModelKind::kGine) continue;
    ModelOptions options{.kind = kind, .in_dim = 7, .num_classes = 5, .edge_dim = 8};
    EXPECT_EQ(resident_obstacle(options), has_attention(kind) ? "attention reads the features of edges" : "") << name;
    options.time_encoding = 8;
    EXPECT_EQ(resident_obstacle(options), "the model reads how long ago edges were") << name;
  }
}

TEST(ResidentLimits, OfAKindWithoutStepsAreNamed) {
  EXPECT_EQ(resident_obstacle({.kind = ModelKind{names_of(ModelKind{}).size()}}), "the model has no resident step");
}

}  // namespace
}  // namespace salient
