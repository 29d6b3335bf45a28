// tests/apps/resumed_options_test.cpp - what a resumed run says of options that are not as they were.
#include "apps/resumed_options.h"

#include <gtest/gtest.h>

namespace salient {
namespace {

using Lines = std::vector<std::string>;

TEST(ResumedOptions, EachThatDiffersHasALine) {
  const TrainOptions before;
  EXPECT_EQ(option_changes(before, before), Lines{});
  TrainOptions now = before;
  now.optimisation.epochs = 40;
  now.optimisation.lr = 0.001;
  now.optimisation.schedule = ScheduleKind::kCosine;
  now.batches.fanout = {5, 5, 5};
  now.evaluation.metric = Metric::kF1;
  now.deterministic = true;
  EXPECT_EQ(option_changes(before, now),
            (Lines{"deterministic false -> true", "epochs 20 -> 40", "fanout 15,10,5 -> 5,5,5", "lr 0.003 -> 0.001",
                   "metric auto -> f1", "schedule constant -> cosine"}));
}

TEST(ResumedOptions, ThoseNotAtTheirDefaultsInTheOrderOfTheirList) {
  TrainOptions said;
  EXPECT_EQ(changed_options(said), Lines{});
  said.seed = 7;
  said.optimisation.epochs = 40;
  said.data.dataset = "wordnet";
  said.output.directory = "run";
  EXPECT_EQ(changed_options(said).size(), 3U);
  EXPECT_EQ(changed_options(said).front(), "dataset");
}

TEST(ResumedOptions, WhatSuitsAHostHasNone) {
  const TrainOptions before;
  TrainOptions now = before;
  now.machine.workers = 7;
  now.machine.threads = 3;
  now.output.directory = now.output.resume = "run";
  now.console.progress = ProgressMode::kNone;
  EXPECT_EQ(option_changes(before, now), Lines{});
}

TEST(ResumedOptions, AJumpOfTheStepSizeIsSaid) {
  const OptimisationOptions cosine{.epochs = 4, .lr = 0.003, .schedule = ScheduleKind::kCosine};
  OptimisationOptions longer = cosine;
  longer.epochs = 8;
  EXPECT_EQ(step_size_change(cosine, longer, 4),
            "the step size goes on at 0.0015 in epoch 5; epoch 4 ended at 0: the cosine goes down over all 8 epochs, "
            "the finished ones included");
  EXPECT_EQ(step_size_change(cosine, cosine, 2), "");
  EXPECT_EQ(step_size_change(cosine, longer, 0), "") << "nothing was trained";
  EXPECT_EQ(step_size_change(cosine, longer, 8), "") << "nothing is left to train";
  const OptimisationOptions constant{.epochs = 4, .lr = 0.003};
  OptimisationOptions other = constant;
  other.epochs = 8;
  EXPECT_EQ(step_size_change(constant, other, 4), "");
  other.lr = 0.001;
  EXPECT_EQ(step_size_change(constant, other, 4), "the step size goes on at 0.001 in epoch 5; epoch 4 ended at 0.003");
  other.schedule = ScheduleKind::kPlateau;
  EXPECT_NE(step_size_change(constant, other, 4), "");
  OptimisationOptions warm = constant;
  warm.warmup = 8;
  warm.epochs = 8;
  EXPECT_NE(step_size_change(constant, warm, 4), "");
}

}  // namespace
}  // namespace salient
