// tests/engine/plan/run_plan_test.cpp - the precision of a run, and what follows for training and evaluation.
#include "engine/plan/run_plan.h"

#include <gtest/gtest.h>

#include "tests/support/datasets.h"

namespace salient {
namespace {

RunRequest request_of(ModelKind kind = ModelKind::kSage) {
  const ResidentSpec spec{.model = {.kind = kind}, .rule = {{15, 10, 5}}, .max_seeds = 1024};
  return {.training = spec, .evaluation = spec};
}

class Resolve : public testing::Test {
 protected:
  RunPlan resolved(const RunRequest& request, const DataResidency& data = kAllOnDevice) const {
    return resolve(request, dataset, {.residency = data});
  }
  const Dataset dataset = test::generated_dataset(100, 5, 7);
};

TEST_F(Resolve, TakesBf16WhereStepsAreResidentAndNothingElseWasAskedFor) {
  if (!SALIENT_HAS_CUDA) GTEST_SKIP() << "this build has no resident steps";
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (kind == ModelKind::kGine || is_typed(kind)) continue;
    RunRequest request = request_of(kind);
    EXPECT_EQ(resolved(request).precision(), Precision::kBf16) << name;
    EXPECT_TRUE(resolved(request).training.is_resident()) << name;
    EXPECT_EQ(resolved(request, {}).precision(), Precision::kFp32) << name << ": data on the host";
    for (const auto& [precision, chosen] : names_of(Precision{})) {
      request.precision = precision;
      EXPECT_EQ(resolved(request).precision(), precision) << name << " " << chosen;
      EXPECT_EQ(resolved(request).evaluation.spec.numerics.precision, precision) << name << " " << chosen;
      EXPECT_TRUE(resolved(request).training.is_resident()) << name << " " << chosen;
    }
    request = request_of(kind);
    request.step = StepKind::kEager;
    EXPECT_EQ(resolved(request).precision(), Precision::kFp32) << name << ": eager steps";
    request = request_of(kind);
    request.training.rule.fanouts[1] = -1;
    EXPECT_EQ(resolved(request).precision(), Precision::kFp32) << name << ": steps that cannot be resident";
  }
}

TEST_F(Resolve, IsEagerInFp32OfAModelWithoutResidentSteps) {
  RunRequest request = request_of();
  request.training.model.aggr = request.evaluation.model.aggr = Aggregation::kMax;
  const RunPlan plan = resolved(request);
  EXPECT_EQ(plan.precision(), Precision::kFp32);
  EXPECT_FALSE(plan.training.is_resident());
  EXPECT_FALSE(plan.evaluation.is_resident());
}

TEST_F(Resolve, HasResidentEvaluationOnlyBesideResidentSteps) {
  if (!SALIENT_HAS_CUDA) GTEST_SKIP() << "this build has no resident steps";
  RunRequest request = request_of();
  EXPECT_TRUE(resolved(request).evaluation.is_resident());
  request.training.rule.fanouts[1] = -1;
  EXPECT_EQ(resolved(request).evaluation.why, "training steps are eager");
  request = request_of();
  request.evaluation.rule.fanouts[1] = -1;
  EXPECT_TRUE(resolved(request).training.is_resident());
  EXPECT_EQ(resolved(request).evaluation.why, "a fanout is not in 1 to 32");
}

TEST_F(Resolve, KeepsThePlanOfTheData) {
  const DataPlan data{.residency = {.features = Residency::kCached, .cached_rows = 7}, .host_bytes = 5};
  const RunPlan plan = resolve(request_of(), dataset, data);
  EXPECT_EQ(plan.data.residency, data.residency);
  EXPECT_EQ(plan.data.host_bytes, 5);
  EXPECT_EQ(plan.training.why,
            SALIENT_HAS_CUDA ? "features and graph are not both in GPU memory" : "this build has no CUDA");
}

}  // namespace
}  // namespace salient
