// tests/unit/train_options_test.cpp - where a run's options come from, and which combinations are refused.
#include "engine/train/train_options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace salient {
namespace {

TrainOptions read(std::vector<const char*> args, const std::map<std::string, std::string>& environment = {}) {
  return read_train_command(args,
                            [&](const char* name) -> const char* {
                              const auto found = environment.find(name);
                              return found == environment.end() ? nullptr : found->second.c_str();
                            })
      .options;
}

TEST(TrainOptions, DepthFollowsWhicheverOfFanoutAndLayersIsSaid) {
  EXPECT_EQ(read({"--layers=2"}).fanout, (std::vector<int>{15, 10}));
  EXPECT_EQ(read({"--layers=5"}).fanout, (std::vector<int>{15, 10, 5, 5, 5}));
  const TrainOptions by_fanout = read({"--fanout=7,7"});
  EXPECT_EQ(by_fanout.layers, 2);
  EXPECT_EQ(by_fanout.eval_fanout, (std::vector<int>{20, 20}));
  EXPECT_FALSE(read({"--dataset=x", "--layers=3", "--fanout=7,7"}).problems().empty());
}

TEST(TrainOptions, RecipesYieldToEverySource) {
  EXPECT_EQ(read({"--dataset=wordnet"}).epochs, 5);
  EXPECT_EQ(read({"--dataset=some/where/wordnet/"}).epochs, 5);
  EXPECT_EQ(read({"--dataset=wordnet"}, {{"SALIENT_EPOCHS", "7"}}).epochs, 7);
  EXPECT_EQ(read({"--dataset=wordnet", "--epochs=9"}, {{"SALIENT_EPOCHS", "7"}}).epochs, 9);
  EXPECT_EQ(read({"--dataset=other"}).epochs, TrainOptions{}.epochs);
}

TEST(TrainOptions, DataRootHasTwoNames) {
  EXPECT_EQ(read({}, {{"SALIENT_DATA", "/a"}}).data_root, "/a");
  EXPECT_EQ(read({}, {{"SALIENT_DATA", "/a"}, {"SALIENT_DATA_ROOT", "/b"}}).data_root, "/b");
}

TEST(TrainOptions, ResumeTakesTheRunsOwnConfiguration) {
  const std::string directory = ::testing::TempDir();
  std::ofstream(directory + "/config.toml") << "dataset = \"d\"\nepochs = 3\nlr = 0.5\nout = \"elsewhere\"\n";
  const TrainOptions options = read({"--resume", directory.c_str(), "--epochs=8"});
  EXPECT_EQ(options.dataset, "d");
  EXPECT_EQ(options.lr, 0.5);
  EXPECT_EQ(options.epochs, 8);
  EXPECT_EQ(options.out, directory);
}

TEST(TrainOptions, BadValuesNameTheirSource) {
  try {
    read({}, {{"SALIENT_LR", "fast"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "SALIENT_LR cannot be 'fast'");
  }
}

TEST(TrainOptions, AllProblemsAreReportedTogether) {
  TrainOptions options;
  options.dataset = "d";
  EXPECT_TRUE(options.problems().empty());
  options.dropout = 1;
  options.slots = 1;
  options.keep = 0;
  EXPECT_EQ(options.problems().size(), 3u);
}

}  // namespace
}  // namespace salient
