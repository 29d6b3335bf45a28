// tests/engine/train/trials_test.cpp - the summary of several seeds, and the options of each.
#include "engine/train/trials.h"

#include <gtest/gtest.h>

#include <vector>

namespace salient {
namespace {

TEST(Trials, MeanAndDeviationOfASample) {
  const TrialSpread spread = spread_of_trials(std::vector<double>{1, 2, 4});
  EXPECT_DOUBLE_EQ(spread.mean, 7.0 / 3);
  EXPECT_NEAR(spread.deviation, 1.5275252, 1e-7);  // torch.tensor([1., 2., 4.]).std()
  EXPECT_EQ(spread_of_trials(std::vector<double>{0.5}).deviation, 0);
  EXPECT_EQ(to_text({0.92434, 0.00241}, 3), "0.9243 +- 0.0024 (3 trials)");
}

TEST(Trials, EachHasASeedAndADirectoryOfItsOwn) {
  TrainOptions options;
  options.seed = 5, options.trials = 3, options.output.resume = "runs/x";
  const TrainOptions second = trial_options(options, "runs/x", 1, false);
  EXPECT_EQ(second.seed, 6u);
  EXPECT_EQ(second.trials, 1);
  EXPECT_EQ(second.output.directory, "runs/x/trial-2");
  EXPECT_EQ(second.output.resume, "");
  EXPECT_EQ(trial_options(options, "runs/x", 0, true).output.resume, "runs/x/trial-1");
}

}  // namespace
}  // namespace salient
