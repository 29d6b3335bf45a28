// tests/apps/serve/prediction_json_test.cpp - answers hold what was predicted, and nothing where that is no number.
#include "apps/serve/prediction_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/scratch.h"

namespace salient::serve {
namespace {

TEST(PredictionJson, NamesNodesClassesAndProbabilities) {
  PredictRequest request{.nodes = {7, 4}};
  const std::vector<float> logits{0, 3, 1, 2, -1, 0};
  EXPECT_EQ(predictions_json(request, logits, {.classes = {"a", "b"}}),
            "{\"predictions\":[{\"node\":7,\"class\":1,\"name\":\"b\"},{\"node\":4,\"class\":0,\"name\":\"a\"}]}\n");
  request.probabilities = ProbabilityForm::kList;
  EXPECT_EQ(predictions_json(request, std::vector<float>{0, 0, 0, 800}, {}),
            "{\"predictions\":[{\"node\":7,\"class\":0,\"probabilities\":[0.5,0.5]},"
            "{\"node\":4,\"class\":1,\"probabilities\":[0.0,1.0]}]}\n");
  EXPECT_EQ(predictions_json({.nodes = {2}}, std::vector<float>{1, -1, 2}, {.task = Task::kMultiLabel}),
            "{\"predictions\":[{\"node\":2,\"labels\":[0,2]}]}\n");
}

TEST(PredictionJson, ProbabilitiesByNameAndTheMostProbable) {
  PredictRequest request{.nodes = {7}, .probabilities = ProbabilityForm::kByName, .top_k = 2};
  const std::vector<float> logits{0, 0, -1000};
  EXPECT_EQ(predictions_json(request, logits, {.classes = {"oak \"red\"", "elm", "ash"}}),
            "{\"predictions\":[{\"node\":7,\"class\":0,\"name\":\"oak \\\"red\\\"\",\"probabilities\":{\"oak "
            "\\\"red\\\"\":0.5,"
            "\"elm\":0.5,\"ash\":0.0},\"top\":[{\"class\":0,\"name\":\"oak \\\"red\\\"\",\"probability\":0.5},"
            "{\"class\":1,\"name\":\"elm\",\"probability\":0.5}]}]}\n");
  request.probabilities = ProbabilityForm::kNone;
  EXPECT_EQ(predictions_json(request, std::vector<float>{-1000, 0, 1000}, {.task = Task::kMultiLabel}),
            "{\"predictions\":[{\"node\":7,\"labels\":[2],\"top\":[{\"label\":2,\"probability\":1.0},"
            "{\"label\":1,\"probability\":0.5}]}]}\n");
}

TEST(PredictionJson, ValuesHaveTheNamesOfTheirTargets) {
  const std::vector<float> values{0.1F, -12.5F};
  EXPECT_EQ(predictions_json({.nodes = {7}}, values, {.task = Task::kRegression, .classes = {"price", "weight"}}),
            "{\"predictions\":[{\"node\":7,\"values\":{\"price\":0.1,\"weight\":-12.5}}]}\n");
  EXPECT_EQ(predictions_json({.nodes = {7, 8}}, values, {.task = Task::kRegression}),
            "{\"predictions\":[{\"node\":7,\"values\":[0.1]},{\"node\":8,\"values\":[-12.5]}]}\n");
}

TEST(PredictionJson, AnEmbeddingFollowsTheLogits) {
  const std::vector<float> rows{0, 1, 0.1F, -2.5F, 0, 2, 0, 1};
  EXPECT_EQ(predictions_json({.nodes = {7, 8}, .layer = 2}, rows, {.num_outputs = 3}),
            "{\"predictions\":[{\"node\":7,\"class\":1,\"embedding\":[-2.5]},"
            "{\"node\":8,\"class\":1,\"embedding\":[1.0]}]}\n");
  EXPECT_COMPLAINT(predictions_json({.nodes = {7}, .layer = 1},
                                    std::vector<float>{0, std::numeric_limits<float>::infinity()}, {.num_outputs = 1}),
                   ErrorKind::kBadData, "node 7: the model's output");
}

TEST(PredictionJson, RefusesWhatIsNoNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
    const std::vector<float> logits{1, 2, bad, 2};
    EXPECT_COMPLAINT(predictions_json({.nodes = {7, 4}}, logits, {}), ErrorKind::kBadData,
                     "node 4: the model's output");
    EXPECT_COMPLAINT(predictions_json({.nodes = {7, 4}}, logits, {.task = Task::kMultiLabel}), ErrorKind::kBadData,
                     "node 4: the model's output");
    PredictRequest added;
    added.new_nodes = {.features = {1, 2}, .indptr = {0, 0, 0}, .indices = {}};
    EXPECT_COMPLAINT(predictions_json(added, logits, {}), ErrorKind::kBadData, "new node 1: the model's output");
  }
}

}  // namespace
}  // namespace salient::serve
