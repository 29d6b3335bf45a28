// tests/engine/train/checkpoint_test.cpp - which checkpoint is the newest, and what a crash may leave beside it.
#include "engine/train/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/files/file_io.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

class Checkpoints : public testing::Test {
 protected:
  void write(int epoch, std::int64_t step_in_epoch = 0, int best_epoch = 0) {
    write_checkpoint(root_, *model_, optimizer_,
                     {.epoch = epoch, .step_in_epoch = step_in_epoch, .global_step = epoch, .best_epoch = best_epoch},
                     identity_, /*keep=*/1);
  }
  TrainProgress read() { return read_latest_checkpoint(root_, *model_, optimizer_, identity_); }

  const ModelOptions options_{
      .kind = ModelKind::kSage, .in_dim = 4, .hidden_dim = 4, .num_classes = 2, .num_layers = 1};
  const Scratch scratch_;
  const fs::path root_ = scratch_ / "checkpoints";
  std::shared_ptr<Model> model_ = make_model(options_);
  FlatAdam optimizer_{*model_, {}};
  const CheckpointIdentity identity_{.model_config = model_config_json(options_, Task::kMultiClass),
                                     .metric = "accuracy"};
};

TEST_F(Checkpoints, TheNewestIsTheOneOfTheHighestEpoch) {
  for (const int epoch : {9998, 9999, 10000}) write(epoch);
  EXPECT_EQ(read().epoch, 10000);
  EXPECT_EQ(find_checkpoint(root_, "latest").filename(), "epoch-10000");
  EXPECT_FALSE(fs::exists(root_ / "epoch-9999")) << "one is kept";
}

TEST_F(Checkpoints, OneInsideAnEpochIsReplacedByTheOneAtItsEnd) {
  write(3, /*step_in_epoch=*/5);
  EXPECT_EQ(read().step_in_epoch, 5);
  write(4);
  const TrainProgress progress = read();
  EXPECT_EQ(progress.epoch, 4);
  EXPECT_EQ(progress.step_in_epoch, 0);
  EXPECT_EQ(find_checkpoint(root_, "epoch-0004"), fs::canonical(root_ / "epoch-0004"));
}

TEST_F(Checkpoints, WhatACrashLeftIsNoneAndIsNotInTheWay) {
  write(1);
  for (const char* leftover : {"epoch-0001.tmp", "epoch-0002.tmp", "epoch-0002.old-17", "epoch-0003.old.tmp"}) {
    fs::create_directories(root_ / leftover);
    write_text_file(root_ / leftover / "model.safetensors", "half");
  }
  EXPECT_EQ(read().epoch, 1);
  write(1);
  write(2);
  EXPECT_EQ(read().epoch, 2);
}

TEST_F(Checkpoints, TheBestIsTheOneThatTheNewestTellsOfWhateverTheLinkSays) {
  write(1, 0, /*best_epoch=*/1);
  write(2, 0, /*best_epoch=*/2);
  EXPECT_EQ(fs::read_symlink(root_ / "best"), "epoch-0002");
  fs::remove(root_ / "best");
  fs::create_directory_symlink("epoch-0001", root_ / "best");  // as a crash before the last link leaves it
  EXPECT_EQ(find_checkpoint(root_, "best").filename(), "epoch-0002");
  EXPECT_EQ(read().best_epoch, 2);
  EXPECT_EQ(fs::read_symlink(root_ / "best"), "epoch-0002");
}

TEST_F(Checkpoints, TheBestIsKeptWhileOlderOnesGo) {
  for (const int epoch : {1, 2, 3, 4}) write(epoch, 0, /*best_epoch=*/epoch == 1 ? 1 : 2);
  EXPECT_EQ(find_checkpoint(root_, "best").filename(), "epoch-0002");
  EXPECT_FALSE(fs::exists(root_ / "epoch-0001"));
  EXPECT_FALSE(fs::exists(root_ / "epoch-0003"));
}

TEST_F(Checkpoints, ABestOneThatIsGoneIsForgotten) {
  write(3, 0, /*best_epoch=*/3);
  write(4, 0, /*best_epoch=*/3);
  fs::remove_all(root_ / "epoch-0003");
  EXPECT_EQ(find_checkpoint(root_, "best").filename(), "epoch-0004");
  const TrainProgress progress = read();
  EXPECT_EQ(progress.epoch, 4);
  EXPECT_EQ(progress.best_epoch, 0);
}

TEST_F(Checkpoints, AVersionThatIsNoNumberIsRefused) {
  write(1);
  std::string state = read_text_file(root_ / "epoch-0001" / "state.json");
  state.replace(state.find("\"format_version\": 1"), 19, "\"format_version\": []");
  fs::remove(root_ / "epoch-0001" / "state.json");
  (void)write_text_file(root_ / "epoch-0001" / "state.json", state);
  try {
    (void)read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
  }
}

TEST_F(Checkpoints, WithoutOneThereIsNothingToResume) {
  try {
    (void)read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoInput);
  }
}

}  // namespace
}  // namespace salient
