// tests/engine/train/checkpoint_test.cpp - which checkpoint is the newest, and what a crash may leave beside it.
#include "engine/train/checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "engine/train/checkpoint_state.h"
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
  TrainProgress read() { return read_latest_checkpoint(root_, *model_, optimizer_, identity_, /*keep=*/1); }
  CheckpointOrigin load() { return load_weights(root_ / "epoch-0001", *model_, identity_.model_config); }

  /// Rewrites state.json of epoch 1 as a version without checksums would have, with `to` in the place of `from`.
  void edit_old_state(const std::string& from, const std::string& to) {
    write(1);
    const fs::path file = root_ / "epoch-0001" / "state.json";
    std::string text = test::read_bytes(file);
    text.replace(text.rfind(",\n  \"checksum\""), std::string::npos, "\n}\n");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    test::write_bytes(file, text.replace(at, from.size(), to));
  }

  const ModelOptions options_{
      .kind = ModelKind::kSage, .in_dim = 4, .hidden_dim = 4, .num_classes = 2, .num_layers = 1};
  const Scratch scratch_;
  const fs::path root_ = scratch_ / "checkpoints";
  std::shared_ptr<Model> model_ = make_model(options_);
  FlatAdam optimizer_{*model_, {}};
  const CheckpointIdentity identity_{.model_config = model_config_json(options_, Task::kMultiClass),
                                     .metric = "accuracy",
                                     .schema = {.num_classes = 2,
                                                .feature_dim = 4,
                                                .class_names = {"no", "yes"},
                                                .column_names = {"a", "b", "c", "d"},
                                                .feature_origin = {{"kind", "random"}}}};
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

TEST_F(Checkpoints, WhatAKillInterruptedIsDoneOnResume) {
  for (const int epoch : {1, 2, 3}) write(epoch, 0, epoch == 1 ? 1 : 2);
  fs::rename(root_ / "epoch-0003", root_ / "spare");
  write(4, 0, 2);
  fs::rename(root_ / "epoch-0004",
             root_ / "epoch-0005");  // as if the kill came before the link, and before the removal
  fs::rename(root_ / "spare", root_ / "epoch-0003");
  std::string state = test::read_bytes(root_ / "epoch-0005/state.json");
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(state);
  json.erase(kChecksum);
  json["epoch"] = 5;
  test::write_bytes(root_ / "epoch-0005/state.json", sealed_text(json));
  fs::create_directory_symlink("epoch-0005", root_ / "latest.tmp");
  fs::create_directory(root_ / "epoch-0006.tmp");
  fs::create_directory(root_ / "epoch-0003.old-17");
  test::write_bytes(root_ / "notes.tmp", "the user's");
  EXPECT_EQ(read().epoch, 5);
  EXPECT_EQ(fs::read_symlink(root_ / "latest"), "epoch-0005");
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(root_)) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"best", "latest", "epoch-0002", "epoch-0005", "notes.tmp"}));
}

TEST_F(Checkpoints, WhatCouldNotBeRemovedGoesWithTheNextOne) {
  write(1);
  test::write_bytes(root_ / "epoch-0001.tmp/model.safetensors", "an earlier one, of which a part could not be removed");
  write(2);
  EXPECT_FALSE(fs::exists(root_ / "epoch-0001.tmp"));
}

TEST_F(Checkpoints, ReadersFindTheNewestWhileARunReplacesIt) {
  write(1, 0, /*best_epoch=*/1);
  std::atomic<bool> is_over{false};
  std::jthread reader([&] {
    const auto model = make_model(options_);
    while (!is_over)
      for (const char* name : {"latest", "best"}) {
        try {
          (void)load_named_weights(root_, name, *model, identity_.model_config);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
  });
  for (int epoch = 2; epoch < 150; ++epoch) write(epoch, 0, /*best_epoch=*/epoch);
  is_over = true;
}

TEST_F(Checkpoints, AChangedByteOfAnyPartIsRefused) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    write(1);
    const fs::path file = root_ / "epoch-0001" / name;
    const std::string whole = test::read_bytes(file);
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 50) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 4);
      test::write_bytes(file, changed);
      EXPECT_COMPLAINT((void)read(), 65, file.string());
      EXPECT_COMPLAINT((void)load(), 65, file.string());
    }
    test::write_bytes(file, whole.substr(0, whole.size() / 2));
    EXPECT_COMPLAINT((void)read(), 65, file.string());
    fs::remove_all(root_);
  }
}

TEST_F(Checkpoints, WithoutAChecksumTheyAreReadWithAWarning) {
  edit_old_state("\"epoch\": 1", "\"epoch\": 1");
  for (const bool is_resume : {false, true}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(is_resume ? read().epoch : load().epoch, 1);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("state.json has no checksum"), std::string::npos);
  }
}

TEST_F(Checkpoints, SayWhatTheRunWasTrainedOn) {
  EXPECT_COMPLAINT((void)read_origin(root_, "best"), 66, "holds no checkpoint");
  write(1);
  for (const char* name : {"best", "latest", "epoch-0001"})
    EXPECT_EQ(read_origin(root_, name).schema, identity_.schema) << name;
  EXPECT_EQ(load().schema, identity_.schema);
  EXPECT_COMPLAINT((void)read_origin(root_, "epoch-0009"), 66, "epoch-0009");
  write_checkpoint(root_, *model_, optimizer_, {.epoch = 2, .global_step = 2}, identity_, /*keep=*/2);
  test::write_bytes(root_ / "epoch-0002" / "state.json", "{}");
  EXPECT_EQ(read_origin(root_, "best").schema, identity_.schema) << "that of another checkpoint";
  fs::remove_all(root_ / "epoch-0001");
  EXPECT_COMPLAINT((void)read_origin(root_, "best"), 65, "state.json");
}

TEST_F(Checkpoints, OfOlderVersionsSayTheNumbersOfColumnsAndClassesAlone) {
  edit_old_state("\"schema\"", "\"unknown\"");
  DataSchema numbers{.num_classes = 2, .feature_dim = 4};
  numbers.is_complete = false;
  EXPECT_EQ(read_origin(root_, "best").schema, numbers);
}

TEST_F(Checkpoints, OfAnotherWidthAreRefusedInWords) {
  write(1);
  ModelOptions other = options_;
  other.in_dim = 6805;
  const std::string wider = model_config_json(other, Task::kMultiClass);
  const std::string folder = (root_ / "epoch-0001").string();
  EXPECT_COMPLAINT((void)load_weights(folder, *model_, wider), 65,
                   folder + ": does not fit the data set: 6805 features, trained on 4");
  CheckpointIdentity identity = identity_;
  identity.model_config = wider;
  EXPECT_COMPLAINT((void)read_latest_checkpoint(root_, *model_, optimizer_, identity, /*keep=*/1), 65,
                   folder + ": belongs to another run: 6805 features, trained on 4");
}

TEST(ModelDifference, NamesEveryFieldThatDiffers) {
  ModelOptions run{.kind = ModelKind::kGcn, .in_dim = 3170, .hidden_dim = 256, .num_classes = 47, .num_layers = 2};
  run.gcn_norm = GcnNorm::kRow;
  const auto config = [](const ModelOptions& options) { return model_config_json(options, Task::kMultiClass); };
  const std::string trained = config(run);
  EXPECT_EQ(model_difference(trained, trained), "");
  EXPECT_EQ(model_difference("[1", trained), "its model is [1");
  ModelOptions now = run;
  now.in_dim = 6805;
  EXPECT_EQ(model_difference(trained, config(now)), "6805 features, trained on 3170");
  now.num_classes = 40;
  now.kind = ModelKind::kSage;
  EXPECT_EQ(model_difference(trained, config(now)),
            "model sage, trained with gcn; 6805 features, trained on 3170; 40 classes, trained on 47");
  run.gcn_norm = GcnNorm::kSymmetric;  // a field that a checkpoint has or has not
  EXPECT_EQ(model_difference(config(run), trained), "gcn_norm unset, trained with symmetric");
  EXPECT_EQ(model_difference(trained, config(run)), "gcn_norm symmetric, trained with unset");
}

TEST_F(Checkpoints, FiguresThatNoRunWritesAreRefused) {
  const std::pair<const char*, const char*> edits[] = {{"\"epoch\": 1", "\"epoch\": -5"},
                                                       {"\"epoch\": 1", "\"epoch\": null"},
                                                       {"\"epoch\": 1", "\"epoch\": 7"},
                                                       {"\"epoch\": 1", "\"epoch\": 1e300"},
                                                       {"\"epoch\": 1", "\"epoch\": \"1\""},
                                                       {"\"step_in_epoch\": 0", "\"step_in_epoch\": 3"},
                                                       {"\"global_step\": 1", "\"global_step\": -1"},
                                                       {"\"correct\": 0", "\"correct\": 9"},
                                                       {"\"model\": \"", "\"model\": 5, \"was\": \""},
                                                       {"\"bad_epochs\": 0", "\"bad_epochs\": 99999999999"},
                                                       {"\"has_best\": false", "\"has_best\": 0.5"},
                                                       {"\"format_version\": 1", "\"format_version\": []"},
                                                       {"\"partial\"", "\"part\""}};
  for (const auto& [from, to] : edits) {
    edit_old_state(from, to);
    EXPECT_COMPLAINT((void)read(), 65, "state.json");
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
