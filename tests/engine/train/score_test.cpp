// tests/engine/train/score_test.cpp - which metric a data set gets, and that a score is that of the model's own logits.
#include "engine/train/score.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "engine/infer/class_tally.h"
#include "engine/infer/roc_auc.h"
#include "engine/infer/value_sums.h"
#include "tests/support/inference.h"
#include "tests/support/scored_dataset.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::scored_dataset;

TEST(MetricFor, AutoIsRocAucWhereItIsDefined) {
  EXPECT_EQ(metric_for(std::nullopt, scored_dataset(Task::kMultiClass, 5)), Metric::kAccuracy);
  EXPECT_EQ(metric_for(std::nullopt, scored_dataset(Task::kMultiClass, 2)), Metric::kRocAuc);
  EXPECT_EQ(metric_for(std::nullopt, scored_dataset(Task::kMultiLabel, 3)), Metric::kRocAuc);
}

TEST(MetricFor, KeepsToWhatIsAskedFor) {
  for (const int num_classes : {2, 5})
    EXPECT_EQ(metric_for(Metric::kAccuracy, scored_dataset(Task::kMultiClass, num_classes)), Metric::kAccuracy);
  EXPECT_EQ(metric_for(Metric::kRocAuc, scored_dataset(Task::kMultiClass, 2)), Metric::kRocAuc);
  EXPECT_EQ(metric_for(Metric::kAccuracy, scored_dataset(Task::kMultiLabel, 3)), Metric::kAccuracy);
  EXPECT_EQ(metric_for(Metric::kF1, scored_dataset(Task::kMultiLabel, 3)), Metric::kF1);
}

TEST(MetricFor, RefusesWhatADataSetHasNot) {
  EXPECT_COMPLAINT(metric_for(Metric::kRocAuc, scored_dataset(Task::kMultiClass, 5)), ErrorKind::kUsage, "5 classes");
  for (const int num_classes : {2, 5})
    EXPECT_COMPLAINT(metric_for(Metric::kF1, scored_dataset(Task::kMultiClass, num_classes)), ErrorKind::kUsage,
                     "one class");
}

TEST(MetricFor, RocAucWantsBothClassesInEachSplit) {
  std::vector<NodeId> ones, zeros, unlabelled;
  const Dataset whole = scored_dataset(Task::kMultiClass, 2);
  for (NodeId v = 0; v < whole.num_nodes(); ++v)
    (whole.labels[v] < 0 ? unlabelled : whole.labels[v] == 0 ? zeros : ones).push_back(v);
  Dataset dataset = whole;
  dataset.valid = ones;
  EXPECT_COMPLAINT(metric_for(std::nullopt, dataset), ErrorKind::kBadData, "validation nodes are all of one class");
  dataset = whole;
  dataset.test = zeros;
  EXPECT_COMPLAINT(metric_for(Metric::kRocAuc, dataset), ErrorKind::kBadData, "test nodes are all of one class");
  EXPECT_EQ(metric_for(Metric::kAccuracy, dataset), Metric::kAccuracy);
  dataset.test = unlabelled;
  EXPECT_EQ(metric_for(std::nullopt, dataset), Metric::kRocAuc) << "a split without labels is not scored";

  const std::vector<std::int8_t> no_label(3 * whole.num_nodes(), 0);
  dataset = scored_dataset(Task::kMultiLabel, 3);
  dataset.multi_labels = no_label;
  EXPECT_COMPLAINT(metric_for(std::nullopt, dataset), ErrorKind::kBadData, "one class in every label");
}

/// The same nodes scored, and predicted with everything handed out.
struct Scored {
  Scored(Task task, int num_classes, Metric metric)
      : dataset(scored_dataset(task, num_classes)),
        model(test::model_with_history("sage", dataset)),
        found(test::sampled(*model, dataset, dataset.test, test::kScoreFanout)),
        score(test::score_test_nodes(metric, dataset, *model, *make_self_communicator())) {}

  Dataset dataset;
  std::shared_ptr<Model> model;
  test::Found found;
  Score score;
};

TEST(ScoreNodes, AccuracyIsOverTheLabelledNodes) {
  const Scored it(Task::kMultiClass, 5, Metric::kAccuracy);
  const at::Tensor predicted = it.found.logits.argmax(1);
  double correct = 0, labelled = 0;
  for (std::size_t i = 0; i < it.dataset.test.size(); ++i) {
    const std::int32_t label = it.dataset.labels[it.dataset.test[i]];
    labelled += label >= 0;
    correct += label >= 0 && predicted[static_cast<std::int64_t>(i)].item<std::int64_t>() == label;
  }
  ASSERT_LT(labelled, it.dataset.test.size());
  EXPECT_DOUBLE_EQ(*it.score.figures[Metric::kAccuracy], correct / labelled);
  EXPECT_EQ(it.score.value, it.score.figures[Metric::kAccuracy]);
  EXPECT_FALSE(it.score.figures[Metric::kRocAuc] || it.score.figures[Metric::kF1]);
  EXPECT_GT(it.score.seconds, 0);
}

TEST(ScoreNodes, RocAucOfTwoClassesRanksTheirDifference) {
  const Scored it(Task::kMultiClass, 2, Metric::kRocAuc);
  std::vector<float> ahead;
  std::vector<std::int8_t> labels;
  for (std::size_t i = 0; i < it.dataset.test.size(); ++i) {
    const at::Tensor row = it.found.logits[static_cast<std::int64_t>(i)];
    ahead.push_back(row[1].item<float>() - row[0].item<float>());
    labels.push_back(static_cast<std::int8_t>(it.dataset.labels[it.dataset.test[i]]));
  }
  ASSERT_TRUE(it.score.figures[Metric::kRocAuc].has_value());
  EXPECT_NEAR(*it.score.figures[Metric::kRocAuc], *roc_auc_reference(ahead, labels), 1e-12);
  EXPECT_EQ(it.score.value, *it.score.figures[Metric::kRocAuc]);
  EXPECT_NE(it.score.value, it.score.figures[Metric::kAccuracy]);
}

TEST(ScoreNodes, RocAucOfSeveralLabelsIsTheirMean) {
  const Scored it(Task::kMultiLabel, 3, Metric::kRocAuc);
  double sum = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    std::vector<float> logits;
    std::vector<std::int8_t> labels;
    for (std::size_t i = 0; i < it.dataset.test.size(); ++i) {
      logits.push_back(it.found.logits[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(t)].item<float>());
      labels.push_back(it.dataset.multi_labels[it.dataset.test[i] * 3 + t]);
    }
    sum += roc_auc_reference(logits, labels).value();
  }
  EXPECT_NEAR(it.score.value, sum / 3, 1e-12);
  EXPECT_EQ(it.score.value, it.score.figures[Metric::kRocAuc]);
  EXPECT_TRUE(it.score.figures[Metric::kF1].has_value());
}

TEST(ScoreNodes, F1IsOverAllKnownLabels) {
  const Scored it(Task::kMultiLabel, 3, Metric::kF1);
  double true_positives = 0, mistakes = 0, known = 0;
  for (std::size_t i = 0; i < it.dataset.test.size(); ++i)
    for (std::size_t t = 0; t < 3; ++t) {
      const std::int8_t label = it.dataset.multi_labels[it.dataset.test[i] * 3 + t];
      const bool is_predicted =
          it.found.logits[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(t)].item<float>() > 0;
      known += label >= 0;
      true_positives += label == 1 && is_predicted;
      mistakes += label >= 0 && is_predicted != (label == 1);
    }
  ASSERT_GT(true_positives, 0);
  EXPECT_DOUBLE_EQ(it.score.value, 2 * true_positives / (2 * true_positives + mistakes));
  EXPECT_EQ(it.score.value, it.score.figures[Metric::kF1]);
  EXPECT_DOUBLE_EQ(*it.score.figures[Metric::kAccuracy], (known - mistakes) / known);
  EXPECT_NE(it.score.value, it.score.figures[Metric::kAccuracy]);
  EXPECT_FALSE(it.score.figures[Metric::kRocAuc].has_value());
}

TEST(ScoreNodes, OfClassesHaveTheFiguresOfTheirCounts) {
  const Scored it(Task::kMultiClass, 5, Metric::kMacroF1);
  ClassTally tally(5);
  const at::Tensor predicted = it.found.logits.argmax(1);
  for (std::size_t i = 0; i < it.dataset.test.size(); ++i)
    if (const std::int32_t label = it.dataset.labels[it.dataset.test[i]]; label >= 0)
      tally.add(label, static_cast<std::int32_t>(predicted[static_cast<std::int64_t>(i)].item<std::int64_t>()));
  Figures expected;
  add_class_figures(tally, expected);
  for (const Metric metric : {Metric::kMacroF1, Metric::kBalancedAccuracy, Metric::kMcc})
    EXPECT_EQ(it.score.figures[metric], expected[metric]) << name_of(metric);
  EXPECT_EQ(it.score.value, expected[Metric::kMacroF1]);
  EXPECT_EQ(it.score.confusion.size(), 25u);
}

TEST(ScoreNodes, OfValuesAreInTheTargetsUnit) {
  const Scored it(Task::kRegression, 2, Metric::kR2);
  std::vector<ValueSums> sums(2);
  for (std::size_t i = 0; i < it.dataset.test.size(); ++i)
    for (std::size_t t = 0; t < 2; ++t) {
      const float output = it.found.logits[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(t)].item<float>();
      const double mean = it.dataset.target_scales[t], deviation = it.dataset.target_scales[2 + t];
      if (const float known = it.dataset.targets[it.dataset.test[i] * 2 + t]; !std::isnan(known))
        sums[t].add(known, output * static_cast<float>(deviation) + static_cast<float>(mean), mean);
    }
  Figures expected;
  add_value_figures(sums, expected);
  for (const Metric metric : {Metric::kR2, Metric::kRmse, Metric::kMae})
    EXPECT_NEAR(*it.score.figures[metric], *expected[metric], 1e-5 * std::fabs(*expected[metric])) << name_of(metric);
  EXPECT_EQ(it.score.value, it.score.figures[Metric::kR2]);
  EXPECT_FALSE(it.score.figures[Metric::kAccuracy].has_value());
}

TEST(ScoreNodes, LogitsThatAreNotNumbersAreNoScore) {
  const Dataset dataset = scored_dataset(Task::kMultiClass, 5);
  const auto model = test::model_with_history("sage", dataset);
  {
    const at::NoGradGuard no_gradients;
    model->parameters().back().fill_(NAN);
  }
  for (const Metric metric : {Metric::kAccuracy, Metric::kRocAuc})
    EXPECT_COMPLAINT((void)test::score_test_nodes(metric, dataset, *model, *make_self_communicator()),
                     ErrorKind::kDiverged, "are not numbers");
}

TEST(Metric, IsOneOfTheTask) {
  EXPECT_EQ(metric_for(std::nullopt, scored_dataset(Task::kRegression, 2)), Metric::kR2);
  EXPECT_EQ(metric_for(Metric::kMae, scored_dataset(Task::kRegression, 1)), Metric::kMae);
  EXPECT_EQ(metric_for(Metric::kMcc, scored_dataset(Task::kMultiClass, 2)), Metric::kMcc);
  const auto refuse = [](Metric metric, Task task, int width, const std::string& why) {
    EXPECT_COMPLAINT(metric_for(metric, scored_dataset(task, width)), ErrorKind::kUsage, why);
  };
  refuse(Metric::kAccuracy, Task::kRegression, 1, "accuracy is no metric of");
  refuse(Metric::kR2, Task::kMultiClass, 3, "r2 is no metric of");
  refuse(Metric::kMacroF1, Task::kMultiLabel, 3, "macro_f1 is no metric of");
  refuse(Metric::kAveragePrecision, Task::kMultiClass, 3, "average precision is a metric for two classes");
}

TEST(Metric, HasTheNameOfItsOption) {
  EXPECT_EQ(name_of(Metric::kAccuracy), "accuracy");
  EXPECT_EQ(name_of(Metric::kRocAuc), "rocauc");
  EXPECT_EQ(name_of(Metric::kF1), "f1");
}

}  // namespace
}  // namespace salient
