// tests/engine/train/train_options_test.cpp - where a run's options come from, and which combinations are refused.
#include "engine/train/train_options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "store/store_manifest.h"
#include "tests/support/scratch.h"

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

TEST(TrainOptions, RecipesGoByTheDataSetsOwnName) {
  StoreManifest manifest{.name = "wordnet", .num_nodes = 1, .source_kind = "wordnet"};
  for (const char* file : {"indptr.npy", "indices.npy", "labels.npy", "train.npy", "valid.npy", "test.npy"})
    manifest.files[file] = {};
  const test::Scratch root;
  test::write_bytes(root / "renamed" / kManifestName, manifest_text(manifest));
  EXPECT_EQ(read({"--dataset=renamed", "--data-root", root.path().c_str()}).epochs, 5);
  EXPECT_EQ(read({("--dataset=" + (root / "renamed").string()).c_str()}).epochs, 5);
  test::write_bytes(root / "wordnet" / kManifestName, "not JSON");  // opening it will say so
  EXPECT_EQ(read({"--dataset=wordnet", "--data-root", root.path().c_str()}).epochs, 5);
}

TEST(TrainOptions, ModelsHaveThePapersRecipes) {
  const TrainOptions gin = read({"--dataset=d", "--model=gin"});
  EXPECT_EQ(gin.fanout, (std::vector<int>{20, 20, 20}));
  EXPECT_EQ(gin.batch_size, 512);
  const TrainOptions sage_ri = read({"--dataset=d", "--model=sage-ri", "--layers=2"});
  EXPECT_EQ(sage_ri.hidden, 1024);
  EXPECT_EQ(sage_ri.fanout, (std::vector<int>{12, 12}));
  EXPECT_EQ(sage_ri.eval_fanout, (std::vector<int>{100, 100}));
  EXPECT_TRUE(sage_ri.problems().empty());
  EXPECT_EQ(read({"--dataset=d", "--model=gin", "--fanout=3,3"}).eval_fanout, (std::vector<int>{20, 20}));
}

TEST(TrainOptions, WhatAModelHasNotIsRefused) {
  const auto problem = [](std::vector<const char*> args) {
    args.push_back("--dataset=d");
    const std::vector<std::string> problems = read(std::move(args)).problems();
    return problems.size() == 1 ? problems[0] : std::to_string(problems.size()) + " problems";
  };
  EXPECT_EQ(problem({"--heads=4"}), "--heads: sage has no attention heads; gat and gatv2 have");
  EXPECT_EQ(problem({"--model=gat", "--heads=3"}), "--heads 3: must divide --hidden 256");
  EXPECT_EQ(problem({"--norm=group"}), "--norm: none, batch or layer");
  EXPECT_TRUE(problem({"--model=sage-ri", "--jk=max"}).starts_with("--model sage-ri: has a norm")) << problem({});
  EXPECT_EQ(problem({"--warmup=30"}), "--warmup: 0 to --epochs");
  EXPECT_EQ(problem({"--schedule=step"}), "--schedule: constant, cosine or plateau");
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
