// tests/engine/infer/metrics_golden_test.cpp - figures equal scikit-learn's: scripts/make_metrics_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/infer/average_precision.h"
#include "engine/infer/class_tally.h"
#include "engine/infer/roc_auc.h"
#include "engine/infer/value_sums.h"

namespace salient {
namespace {

using nlohmann::json;

json golden() {
  std::ifstream file(SALIENT_GOLDEN_FOLDER "/metrics.json");
  return json::parse(file);
}

void expect_figures(const json& expected, const Figures& found) {
  for (const auto& [name, value] : expected["figures"].items()) {
    const std::optional<double>& figure = found[value_named<Metric>(name).value()];
    ASSERT_TRUE(figure.has_value()) << expected["name"] << " " << name;
    EXPECT_NEAR(*figure, value.get<double>(), 1e-9 * std::max(1.0, std::fabs(value.get<double>())))
        << expected["name"] << " " << name;
  }
}

TEST(MetricsGolden, ClassesHaveTheFiguresOfScikitLearn) {
  for (const json& of : golden()["classes"]) {
    ClassTally tally(of["num_classes"].get<std::size_t>());
    for (std::size_t i = 0; i < of["labels"].size(); ++i) tally.add(of["labels"][i], of["predictions"][i]);
    Figures found;
    add_class_figures(tally, found);
    expect_figures(of, found);
  }
}

TEST(MetricsGolden, ScoresHaveTheFiguresOfScikitLearn) {
  for (const json& of : golden()["ranked"]) {
    const auto scores = of["scores"].get<std::vector<float>>();
    const auto labels = of["labels"].get<std::vector<std::int8_t>>();
    Figures found;
    found[Metric::kAveragePrecision] = average_precision(scores, labels);
    found[Metric::kRocAuc] = roc_auc(scores, labels);
    expect_figures(of, found);
  }
}

TEST(MetricsGolden, ValuesHaveTheFiguresOfScikitLearn) {
  for (const json& of : golden()["values"]) {
    const std::size_t width = of["known"][0].size();
    std::vector<ValueSums> sums(width);
    for (std::size_t i = 0; i < of["known"].size(); ++i)
      for (std::size_t t = 0; t < width; ++t)
        if (!of["known"][i][t].is_null())
          sums[t].add(of["known"][i][t], of["predicted"][i][t], t == 0 ? 0.0 : 100'000.0);
    Figures found;
    add_value_figures(sums, found);
    expect_figures(of, found);
  }
}

TEST(ClassTally, FiguresByHand) {
  // true 0 0 0 1 1 2, predicted 0 0 1 1 3 0: F1 of 0: 4/6, of 1: 2/4, of 2: 0, of 3: 0
  const std::vector<std::int64_t> matrix{2, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  Figures found;
  add_class_figures(ClassTally::of_matrix(matrix, 4), found);
  EXPECT_DOUBLE_EQ(*found[Metric::kMacroF1], (4.0 / 6 + 2.0 / 4) / 4);
  EXPECT_DOUBLE_EQ(*found[Metric::kBalancedAccuracy], (2.0 / 3 + 1.0 / 2 + 0) / 3);
  // (3 * 6 - (3 * 3 + 2 * 2 + 1 * 0 + 0 * 1)) / sqrt((36 - (9 + 4 + 0 + 1)) (36 - (9 + 4 + 1 + 0)))
  EXPECT_DOUBLE_EQ(*found[Metric::kMcc], 5.0 / 22);
  Figures none;
  add_class_figures(ClassTally(3), none);
  EXPECT_EQ(none, Figures());
}

TEST(AveragePrecision, NeedsANodeOfTheClassAndNumbers) {
  const std::vector<float> scores{3, 2, 1};
  EXPECT_EQ(average_precision(scores, std::vector<std::int8_t>{0, -1, 0}), std::nullopt);
  EXPECT_EQ(average_precision(scores, std::vector<std::int8_t>{0, -1, 1}), 0.5);
  EXPECT_EQ(average_precision(scores, std::vector<std::int8_t>{1, 1, 1}), 1.0);
  EXPECT_EQ(average_precision(std::vector<float>{NAN, 1}, std::vector<std::int8_t>{1, 0}), std::nullopt);
  // of two labels that of the second alone counts: the first has no node
  EXPECT_EQ(mean_average_precision(std::vector<float>{1, 2, 2, 1}, std::vector<std::int8_t>{0, 0, 0, 1}, 2), 0.5);
}

TEST(Metric, ErrorsAreBetterWhereTheyAreLower) {
  EXPECT_TRUE(is_better(Metric::kAccuracy, 0.9, 0.8));
  EXPECT_TRUE(is_better(Metric::kR2, 0.1, -3));
  EXPECT_TRUE(is_better(Metric::kRmse, 0.8, 0.9));
  EXPECT_TRUE(is_better(Metric::kMae, 0.8, 0.9));
  EXPECT_FALSE(is_better(Metric::kMae, 0.8, 0.8));
}

}  // namespace
}  // namespace salient
