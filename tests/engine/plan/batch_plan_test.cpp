// tests/engine/plan/batch_plan_test.cpp - each rule has a case that it alone refuses, and says so.
#include "engine/plan/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/datasets.h"

namespace salient {
namespace {

constexpr Purpose kPurposes[] = {Purpose::kTraining, Purpose::kEvaluation, Purpose::kInference, Purpose::kServing,
                                 Purpose::kExactInference};

/// That no rule of any purpose refuses, in a build with or without CUDA.
StepQuestion good(Purpose purpose, const Dataset& dataset) {
  return {.purpose = purpose,
          .spec = {.rule = {{20, 20, 20}}, .max_seeds = 1024},
          .dataset = dataset,
          .data = kAllOnDevice,
          .exact = {.free_bytes = 0},
          .has_kernels = true};
}

StepQuestion good_of(Purpose purpose, const Dataset& dataset, ModelOptions model) {
  StepQuestion question = good(purpose, dataset);
  question.spec.model = model;
  return question;
}

const Dataset& small() {
  static const Dataset dataset = test::generated_dataset(100, 5, 7);
  return dataset;
}

const Dataset& with_edges() {
  static const Dataset dataset = [] {
    Dataset made = small();
    made.edge_feature_dim = 3;
    return made;
  }();
  return dataset;
}

const Dataset& sparse() {
  static const Dataset dataset = [] {
    Dataset made = small();
    made.feature_layout = FeatureLayout::kCsr;
    return made;
  }();
  return dataset;
}

const Dataset& typed() {
  static const Dataset dataset = [] {
    Dataset made = small();
    made.types.node_types = {{.name = "paper", .count = 100}};
    return made;
  }();
  return dataset;
}

struct Case {
  std::string rule;
  Purpose purpose;
  std::function<void(StepQuestion&)> change;
  std::string why = rule;
  const Dataset& dataset = small();
};

std::vector<Case> cases() {
  using Q = StepQuestion&;
  static const Dataset labels = test::generated_dataset(100, 5, 7, FeatureType::kF16, /*num_labels=*/4);
  static const Dataset wide = test::generated_dataset(100, 5, 6800);
  const auto none = [](Q) {};
  constexpr Purpose kTraining = Purpose::kTraining, kOnce = Purpose::kInference, kExact = Purpose::kExactInference;
  const std::string is_narrow = "the width of the hidden layers is not a multiple of 8";
  const std::string is_slow = "to set up a graph of gcn once takes as long as it saves";
  const std::string is_large = "a resident batch would compute ";
  return {
      {"asked for", kTraining, [](Q q) { q.asked = StepKind::kEager; }},
      {"the graph has node types", kTraining, none, "the graph has node types", typed()},
      {"the graph has node types", kExact, none, "the graph has node types", typed()},
      {"neighbours are drawn by time", kTraining, [](Q q) { q.spec.time.emplace(); }},
      {"links are predicted", kOnce, [](Q q) { q.spec.links.emplace(); }},
      {"links are predicted", kExact, [](Q q) { q.spec.links.emplace(); }},
      {"links", kTraining, [](Q q) { q.spec.links = LinkSpec{.decoder = DecoderKind::kMlp}; },
       "links are scored by mlp, and not by dot"},
      {"links", kTraining, [](Q q) { q.spec.links = LinkSpec{.rule = {.sampler = NegativeSampler::kJoint}}; },
       "negatives are those of the sampler 'joint', and not of 'uniform'"},
      {"the model reads features of edges", kTraining, [](Q q) { q.spec.links.emplace(); },
       "the model reads features of edges", with_edges()},
      {"the model reads features of edges", kExact, none, "the model reads features of edges", with_edges()},
      {"features of edges are not in GPU memory", kTraining, [](Q q) { q.data.edge_features = false; },
       "features of edges are not in GPU memory", with_edges()},
      {"model", kTraining, [](Q q) { q.spec.model.kind = ModelKind::kGat; }, "attention reads the features of edges",
       with_edges()},
      {"model", kTraining, [](Q q) { q.spec.model.aggregate = AggregateBy::kWeight; },
       "neighbours count by the weights of edges"},
      {"model", kExact, [](Q q) { q.spec.model.aggregate = AggregateBy::kWeight; },
       "neighbours count by the weights of edges"},
      {"features are partitioned", kExact, [](Q q) { q.exact.is_partitioned = true; }},
      {"a place for layers' results is asked for", kExact, [](Q q) { q.exact.has_place = true; }},
      {"layers' results in f32 are asked for", kExact, [](Q q) { q.exact.is_f32 = true; }},
      {"the result of a layer is asked for", kOnce, [](Q q) { q.keeps_layer = true; }},
      {"the result of a layer is asked for", kExact, [](Q q) { q.keeps_layer = true; }},
      {"there are several ranks", kExact, [](Q q) { q.exact.num_ranks = 2; }},
      {"the model is not GraphSAGE", kExact, [](Q q) { q.spec.model.kind = ModelKind::kGcn; }},
      {"the model has norms, residual connections or jumping knowledge", kExact,
       [](Q q) { q.spec.model.norm = NormKind::kLayer; }},
      {"the model has one layer", kExact,
       [](Q q) { q.spec.model.num_layers = 1, q.spec.numerics.precision = Precision::kBf16; }},
      {"this build has no CUDA", kTraining, [](Q q) { q.has_kernels = false; }},
      {"the features are sparse", kTraining, none, "the features are sparse", sparse()},
      {"features and graph are not both in GPU memory", kTraining, [](Q q) { q.data = {}; }},
      {"features and graph are not both in GPU memory", kExact, [](Q q) { q.data.graph = GraphResidency::kHost; }},
      {"draw", kTraining, [](Q q) { q.spec.rule.draw = Draw::kLabor; }, "neighbours are drawn by labor"},
      {"a node has several labels", kTraining, none, "a node has several labels", labels},
      {"a fanout is not in 1 to 32", kTraining, [](Q q) { q.spec.rule.fanouts[1] = -1; }},
      {"a fanout is not in 1 to 32", kTraining, [](Q q) { q.spec.rule.fanouts[0] = 33; }},
      {"model", kExact, [](Q q) { q.spec.model.hidden_dim = 100; }, is_narrow},
      {"a batch may have more than 2^23 rows", Purpose::kServing, [](Q q) { q.spec.max_seeds = 1 << 15; }},
      {"there is no GPU", kExact, [](Q q) { q.exact.free_bytes.reset(); }},
      {"layers' results fit on the GPU in f32", kExact, [](Q q) { q.exact.free_bytes = std::int64_t{1} << 40; }},
      {"set-up", kOnce, [](Q q) { q.spec.model.kind = ModelKind::kGcn; }, is_slow},
      {"repeats", kTraining, none, is_large, wide},
      {"repeats", kOnce, none, is_large, wide},
  };
}

TEST(StepRules, HaveNoReasonWhereNothingIsWrong) {
  for (const Purpose purpose : kPurposes) {
    const BatchPlan plan = plan_batches(good(purpose, small()));
    EXPECT_TRUE(plan.is_resident()) << plan.why;
    EXPECT_EQ(plan.why, "");
  }
}

TEST(StepRules, EachRefusesWhatNoOtherRefuses) {
  std::set<std::string_view> seen;
  for (const Case& c : cases()) {
    StepQuestion question = good(c.purpose, c.dataset);
    c.change(question);
    for (const StepRule& rule : step_rules()) {
      if (!rule.is_for(c.purpose)) continue;
      EXPECT_EQ(rule.refuses(question), rule.name == c.rule) << rule.name << " of a case of " << c.rule;
      if (rule.name == c.rule) seen.insert(rule.name);
    }
    const BatchPlan plan = plan_batches(question);
    EXPECT_EQ(plan.kind, StepKind::kEager) << c.rule;
    EXPECT_TRUE(plan.why.starts_with(c.why)) << c.rule << ": " << plan.why;
  }
  EXPECT_EQ(seen.size(), step_rules().size()) << "a rule has no case";
}

TEST(StepRules, ThatOnlySayWhatIsSlowerDoNotStopWhoAsks) {
  const std::set<std::string> slower{"there is no GPU", "layers' results fit on the GPU in f32", "set-up", "repeats"};
  for (const Case& c : cases()) {
    StepQuestion question = good(c.purpose, c.dataset);
    c.change(question);
    if (question.asked) continue;
    question.asked = StepKind::kResident;
    EXPECT_EQ(plan_batches(question).is_resident(), slower.contains(c.rule)) << c.rule;
  }
}

TEST(StepRules, DifferByPurpose) {
  const auto has = [](Purpose purpose, std::string_view name) {
    return std::ranges::any_of(step_rules(), [&](const StepRule& r) { return r.name == name && r.is_for(purpose); });
  };
  for (const Purpose purpose : kPurposes) {
    const bool is_exact = purpose == Purpose::kExactInference, is_once = purpose == Purpose::kInference;
    EXPECT_TRUE(has(purpose, "asked for") && has(purpose, "model"));
    EXPECT_EQ(has(purpose, "draw"), !is_exact) << "which draws nothing";
    EXPECT_EQ(has(purpose, "there are several ranks"), is_exact);
    EXPECT_EQ(has(purpose, "the result of a layer is asked for"), is_exact || is_once);
    EXPECT_EQ(has(purpose, "set-up"), is_once) << "of training it is small, and a server pays it once";
    EXPECT_EQ(has(purpose, "repeats"), !is_exact && purpose != Purpose::kServing);
  }
}

TEST(StepRules, TakeTheFirstReason) {
  StepQuestion question = good(Purpose::kTraining, small());
  question.spec.rule.fanouts[0] = -1;
  question.data = {};
  EXPECT_EQ(plan_batches(question).why, "features and graph are not both in GPU memory");
  question.data = {.features = Residency::kSharded, .graph = GraphResidency::kDevice};
  EXPECT_EQ(plan_batches(question).why, "a fanout is not in 1 to 32") << "shards are in GPU memory";
}

TEST(StepRules, KnowWhichModelsHaveResidentBatches) {
  const auto why = [](ModelKind kind, std::size_t max_seeds) {
    StepQuestion question = good_of(Purpose::kServing, small(), {.kind = kind});
    question.spec.max_seeds = max_seeds;
    return plan_batches(question).why;
  };
  for (const auto& [kind, name] : names_of(ModelKind{}))
    EXPECT_EQ(why(kind, 512), is_typed(kind)             ? "the graph has several relations"
                              : kind == ModelKind::kGine ? "the model has no resident step"
                                                         : "")
        << name;
  EXPECT_EQ(why(ModelKind{names_of(ModelKind{}).size()}, 512), "the model has no resident step")
      << "of a kind that is added without one";
  for (const ModelKind kind : {ModelKind::kGatv2, ModelKind::kTransformer})
    EXPECT_EQ(why(kind, 1024), "a batch may have more than 2^23 rows") << "of entries";
}

TEST(StepRules, OfSageWithFeaturesOfEdgesAreThoseOfItsProgram) {
  const StepQuestion question = good(Purpose::kTraining, with_edges());
  EXPECT_TRUE(plan_batches(question).is_resident()) << plan_batches(question).why;
  EXPECT_FALSE(is_plain_sage(question.spec, with_edges()));
  EXPECT_TRUE(is_plain_sage(question.spec, small()));
  EXPECT_TRUE(plan_batches(good(Purpose::kServing, with_edges())).is_resident());
  EXPECT_EQ(plan_batches(good(Purpose::kInference, with_edges())).why,
            "to set up a graph of sage once takes as long as it saves");
}

TEST(StepRules, KnowWhatOfAModelNoStepComputes) {
  const auto why = [](const ModelOptions& model) {
    StepQuestion question = good_of(Purpose::kTraining, small(), model);
    question.spec.rule.fanouts = {15, 10, 5};
    question.asked = StepKind::kResident;
    return plan_batches(question).why;
  };
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (kind == ModelKind::kGine || is_typed(kind)) continue;
    EXPECT_EQ(why({.kind = kind, .hidden_dim = 100}), "the width of the hidden layers is not a multiple of 8") << name;
    if (kind == ModelKind::kSageRi) continue;
    EXPECT_EQ(why({.kind = kind, .residual = true}), "") << name;
    EXPECT_EQ(why({.kind = kind, .norm = NormKind::kBatch}), "") << name;
    EXPECT_EQ(why({.kind = kind, .jk = JumpingKnowledge::kMax}), "") << name;
    EXPECT_EQ(why({.kind = kind, .hidden_dim = 2048, .norm = NormKind::kLayer}), "") << name;
    EXPECT_EQ(why({.kind = kind, .hidden_dim = 2056, .norm = NormKind::kLayer}),
              kind == ModelKind::kGatv2 ? "a layer of gatv2 has more than 2048 columns"
                                        : "a layer norm has more than 2048 columns")
        << name;
  }
  EXPECT_EQ(why({.kind = ModelKind::kSage, .aggr = Aggregation::kMax}), "the model takes the maximum over neighbours");
  for (const ModelKind kind : {ModelKind::kGat, ModelKind::kGatv2, ModelKind::kTransformer}) {
    EXPECT_EQ(why({.kind = kind, .hidden_dim = 256, .heads = 4}), "");
    EXPECT_EQ(why({.kind = kind, .hidden_dim = 48, .heads = 4}),
              "the width of an attention head is not a multiple of 8");
  }
  EXPECT_EQ(why({.kind = ModelKind::kGatv2, .hidden_dim = 2048}), "");
  EXPECT_EQ(why({.kind = ModelKind::kGatv2, .hidden_dim = 2056}), "a layer of gatv2 has more than 2048 columns");
}

TEST(RequireAsked, FailsWhereResidentBatchesWereAskedForAndCannotBe) {
  BatchPlan eager, resident;
  eager.why = "the features are sparse";
  resident.kind = StepKind::kResident;
  EXPECT_NO_THROW(require_asked("resident steps", std::nullopt, eager));
  EXPECT_NO_THROW(require_asked("resident steps", StepKind::kEager, eager));
  EXPECT_NO_THROW(require_asked("resident steps", StepKind::kResident, resident));
  try {
    require_asked("resident steps", StepKind::kResident, eager, ErrorKind::kDeviceMemory);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "resident steps: the features are sparse");
    EXPECT_EQ(error.kind(), ErrorKind::kDeviceMemory);
  }
}

TEST(BatchPlan, SaysWhatItIs) {
  BatchPlan plan;
  plan.spec.numerics.precision = Precision::kBf16;
  plan.why = "asked for";
  EXPECT_EQ(to_text("predictions", plan), "predictions are eager: asked for");
  plan.kind = StepKind::kResident;
  EXPECT_EQ(to_text("training steps", plan),
            "training steps are resident: sampling, gathering and arithmetic (bf16) in one graph on the GPU");
}

}  // namespace
}  // namespace salient
