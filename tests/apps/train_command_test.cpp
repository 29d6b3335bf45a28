// tests/apps/train_command_test.cpp - where a run's options come from, and which combinations are refused.
#include "apps/train_command.h"

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

TEST(TrainCommand, DepthFollowsWhicheverOfFanoutAndLayersIsSaid) {
  EXPECT_EQ(read({"--layers=2"}).batches.fanout, (std::vector<int>{15, 10}));
  EXPECT_EQ(read({"--layers=5"}).batches.fanout, (std::vector<int>{15, 10, 5, 5, 5}));
  const TrainOptions by_fanout = read({"--fanout=7,7"});
  EXPECT_EQ(by_fanout.model.num_layers, 2);
  EXPECT_EQ(by_fanout.evaluation.fanout, (std::vector<int>{20, 20}));
  EXPECT_FALSE(problems_of(read({"--dataset=x", "--layers=3", "--fanout=7,7"})).empty());
}

TEST(TrainCommand, RecipesYieldToEverySource) {
  EXPECT_EQ(read({"--dataset=wordnet"}).optimisation.epochs, 5);
  EXPECT_EQ(read({"--dataset=some/where/wordnet/"}).optimisation.epochs, 5);
  EXPECT_EQ(read({"--dataset=wordnet"}, {{"SALIENT_EPOCHS", "7"}}).optimisation.epochs, 7);
  EXPECT_EQ(read({"--dataset=wordnet", "--epochs=9"}, {{"SALIENT_EPOCHS", "7"}}).optimisation.epochs, 9);
  EXPECT_EQ(read({"--dataset=other"}).optimisation.epochs, OptimisationOptions{}.epochs);
}

TEST(TrainCommand, RecipesGoByTheDataSetsOwnName) {
  StoreManifest manifest;
  manifest.facts() = {.name = "wordnet", .source_kind = "wordnet"};
  manifest.num_nodes = 1;
  for (const char* file : {"indptr.npy", "indices.npy", "labels.npy", "train.npy", "valid.npy", "test.npy"})
    manifest.files[file] = {};
  const test::Scratch root;
  test::write_bytes(root / "renamed" / kManifestName, manifest_text(manifest));
  EXPECT_EQ(read({"--dataset=renamed", "--data-root", root.path().c_str()}).optimisation.epochs, 5);
  EXPECT_EQ(read({("--dataset=" + (root / "renamed").string()).c_str()}).optimisation.epochs, 5);
  test::write_bytes(root / "wordnet" / kManifestName, "not JSON");  // opening it will say so
  EXPECT_EQ(read({"--dataset=wordnet", "--data-root", root.path().c_str()}).optimisation.epochs, 5);
}

TEST(TrainCommand, ModelsHaveThePapersRecipes) {
  const TrainOptions gin = read({"--dataset=d", "--model=gin"});
  EXPECT_EQ(gin.batches.fanout, (std::vector<int>{20, 20, 20}));
  EXPECT_EQ(gin.batches.size, 512);
  const TrainOptions sage_ri = read({"--dataset=d", "--model=sage-ri", "--layers=2"});
  EXPECT_EQ(sage_ri.model.hidden_dim, 1024);
  EXPECT_EQ(sage_ri.batches.fanout, (std::vector<int>{12, 12}));
  EXPECT_EQ(sage_ri.evaluation.fanout, (std::vector<int>{100, 100}));
  EXPECT_TRUE(problems_of(sage_ri).empty());
  EXPECT_EQ(read({"--dataset=d", "--model=gin", "--fanout=3,3"}).evaluation.fanout, (std::vector<int>{20, 20}));
}

/// As a user sees it.
std::string complaint_about(std::vector<const char*> args) {
  args.push_back("--dataset=d");
  try {
    refuse(problems_of(read(std::move(args))));
    return "none";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

TEST(TrainCommand, WhatAModelHasNotIsRefused) {
  EXPECT_EQ(complaint_about({}), "none");
  EXPECT_EQ(complaint_about({"--heads=4"}),
            "--heads: sage has no attention heads; gat, gatv2, transformer, rgat, hgt have");
  EXPECT_EQ(complaint_about({"--model=gat", "--heads=3"}),
            "--heads: 3 must divide the width of the hidden layers, 256");
  EXPECT_EQ(complaint_about({"--model=sage-ri", "--jk=max"}),
            "--jk: sage-ri has its own norm, residual connections and jumping knowledge");
  EXPECT_EQ(complaint_about({"--gcn-norm=row"}), "--gcn-norm: only gcn has a choice, not sage");
  EXPECT_EQ(complaint_about({"--model=gcn", "--gcn-norm=row"}), "none");
  EXPECT_EQ(complaint_about({"--warmup=30"}), "--warmup: 0 to --epochs");
}

TEST(TrainCommand, ThePlateausOptionsNeedThePlateau) {
  EXPECT_EQ(complaint_about({"--plateau-factor=0.1"}), "--plateau-factor: only with --schedule plateau");
  EXPECT_EQ(complaint_about({"--plateau-patience=3", "--schedule=cosine"}),
            "--plateau-patience: only with --schedule plateau");
  EXPECT_EQ(complaint_about({"--plateau-patience=3", "--plateau-factor=0.1", "--schedule=plateau"}), "none");
}

TEST(TrainCommand, MemoryForTheGraphNeedsTheGpuToSample) {
  EXPECT_EQ(complaint_about({"--sampler=device", "--graph-gb=3.5"}), "none");
  EXPECT_EQ(read({"--sampler=device", "--graph-gb=3.5"}).machine.graph_gb, 3.5);
  EXPECT_EQ(read({}).machine.graph_gb, 0);
  for (const char* sampler : {"--sampler=auto", "--sampler=host"})
    EXPECT_EQ(complaint_about({sampler, "--graph-gb=1e-9"}), "--graph-gb: only with --sampler device");
  const auto complaint_about_gb = [](const std::string& amount) {
    return complaint_about({"--sampler=device", ("--graph-gb=" + amount).c_str()});
  };
  for (const char* amount : {"nan", "inf", "-inf", "1e999", "", "3GB", "0x1p3", "1,5", "--", "\t1"})
    EXPECT_TRUE(complaint_about_gb(amount).starts_with("--graph-gb")) << amount << ": " << complaint_about_gb(amount);
}

TEST(TrainCommand, MemoryIsAtLeastAByte) {
  const auto complaint_about_gb = [](const std::string& option, const std::string& amount) {
    return complaint_about({"--sampler=device", "--features=cached", (option + "=" + amount).c_str()});
  };
  for (const std::string option : {"--graph-gb", "--cache-gb"}) {
    for (const char* amount : {"-1", "-1e-300", "1e-300", "9.9e-10", "1000001", "1e300"})
      EXPECT_EQ(complaint_about_gb(option, amount), option + ": 0, or 1e-9 (a byte) to 1000000") << amount;
    for (const char* amount : {"0", "1e-9", "0.5", "1e6"})
      EXPECT_EQ(complaint_about_gb(option, amount), "none") << option << amount;
  }
}

TEST(TrainCommand, WordsAreKnownOrRefusedWithTheList) {
  EXPECT_EQ(complaint_about({"--norm=group"}), "--norm: none, batch or layer, not 'group'");
  EXPECT_EQ(complaint_about({"--schedule=step"}), "--schedule: constant, cosine or plateau, not 'step'");
  EXPECT_EQ(complaint_about({"--features=gpu"}),
            "--features: auto, host, cached, device, sharded or partitioned, not 'gpu'");
  EXPECT_EQ(complaint_about({"--model=sag"}),
            "--model: sage, gat, gin, sage-ri, gcn, gatv2, transformer, gine, rgcn, rsage, rgat or hgt, not 'sag'");
  EXPECT_EQ(complaint_about({"--cache-policy=best"}), "--cache-policy: vip, degree or counted, not 'best'");
  EXPECT_EQ(complaint_about({"--features=device", "--cache-policy=degree"}), "none") << "a saved one, on resume";
  EXPECT_EQ(complaint_about({"--features=sharded", "--cache-gb=2", "--cache-policy=degree"}), "none");
  EXPECT_EQ(complaint_about({"--features=device", "--cache-gb=2"}),
            "--cache-gb: only with --features cached, sharded or partitioned");
  EXPECT_EQ(read({"--cache-policy=counted"}).machine.cache_policy, CachePolicy::kCounted);
  EXPECT_EQ(read({"--model=gatv2", "--features=cached"}).machine.features, Residency::kCached);
  EXPECT_EQ(read({"--features=auto"}).machine.features, std::nullopt);
}

TEST(TrainCommand, RowsMoveBetweenRanksWhereFeaturesArePartitioned) {
  EXPECT_EQ(read({}).comm.rows, std::nullopt);
  EXPECT_EQ(read({"--comm-rows=mpi"}).comm.rows, RowBackend::kMpi);
  EXPECT_EQ(complaint_about({"--features=partitioned", "--comm-rows=nccl"}), "none");
  EXPECT_EQ(complaint_about({"--features=partitioned", "--comm-rows=mpi", "--device=cpu"}), "none");
  EXPECT_EQ(complaint_about({"--features=partitioned", "--comm-rows=mpi", "--comm=nccl"}), "none");
  EXPECT_EQ(complaint_about({"--comm-rows=mpi"}), "--comm-rows: only with --features partitioned");
  EXPECT_EQ(complaint_about({"--features=partitioned", "--comm-rows=nccl", "--comm=mpi"}),
            "--comm-rows: nccl needs --comm nccl");
  EXPECT_EQ(complaint_about({"--features=partitioned", "--comm-rows=nccl", "--device=cpu"}),
            "--comm-rows: nccl needs a GPU");
  EXPECT_EQ(complaint_about({"--features=partitioned", "--comm-rows=self"}),
            "--comm-rows: auto, nccl or mpi, not 'self'");
}

TEST(TrainCommand, WithReplacementNeedsNeighboursThatAreDrawn) {
  EXPECT_EQ(read({}).batches.draw, Draw::kUniform);
  EXPECT_EQ(read({"--with-replacement"}).batches.draw, Draw::kWithReplacement);
  EXPECT_EQ(read({"--draw=with-replacement"}).batches.draw, Draw::kWithReplacement);
  EXPECT_EQ(read({"--with-replacement", "--draw=uniform"}).batches.draw, Draw::kWithReplacement)
      << "as before --draw had it";
  EXPECT_EQ(complaint_about({"--with-replacement", "--fanout=-1,5"}), "none");
  EXPECT_EQ(complaint_about({"--with-replacement", "--fanout=-1,-1"}),
            "--draw: with-replacement needs a --fanout that draws; -1 keeps all neighbours");
}

TEST(TrainCommand, LaborIsADrawWithoutReplacement) {
  EXPECT_EQ(read({}).batches.draw, Draw::kUniform);
  EXPECT_EQ(read({"--draw=labor"}).batches.draw, Draw::kLabor);
  EXPECT_EQ(complaint_about({"--draw=labor", "--fanout=-1,5"}), "none");
  EXPECT_EQ(complaint_about({"--draw=labor", "--fanout=-1,-1"}),
            "--draw: labor needs a --fanout that draws; -1 keeps all neighbours");
  EXPECT_EQ(complaint_about({"--draw=labor", "--with-replacement"}),
            "--with-replacement stands for draw with-replacement, and --draw says labor");
}

TEST(TrainCommand, ATimeRuleIsOneOfSeedsPasts) {
  EXPECT_EQ(read({}).batches.time.rule(), std::nullopt);
  EXPECT_EQ(read({"--time-rule=lt"}).batches.time.rule(), TimeRule{});
  EXPECT_EQ(read({"--time-rule=le", "--time-window=7", "--time-strategy=last"}).batches.time.rule(),
            (TimeRule{.order = TimeOrder::kUpTo, .window = 7, .strategy = TimeStrategy::kLast}));
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--time-window=all"}), "none");
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--time-window=0"}), "--time-window: at least 1, or all");
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--time-window=-4"}), "--time-window: at least 1, or all");
  EXPECT_EQ(complaint_about({"--time-window=4"}), "none");  // links with times have a rule without being asked
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--time-strategy=last", "--draw=labor"}),
            "--time-strategy: last draws nothing, and so not by labor");
  EXPECT_EQ(complaint_about({"--time-rule=gt"}), "--time-rule: none, lt or le, not 'gt'");
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--model=gcn"}),
            "--time-rule: not with this gcn, which reads the degrees of the whole graph, and so edges later than a "
            "seed; --gcn-norm row does not");
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--model=gcn", "--gcn-norm=row"}), "none");
  EXPECT_EQ(complaint_about({"--time-rule=lt", "--sampler=device"}), "--sampler: the host draws by --time-rule");
}

TEST(TrainCommand, DataRootHasTwoNames) {
  EXPECT_EQ(read({}, {{"SALIENT_DATA", "/a"}}).data.root, "/a");
  EXPECT_EQ(read({}, {{"SALIENT_DATA", "/a"}, {"SALIENT_DATA_ROOT", "/b"}}).data.root, "/b");
  EXPECT_EQ(read({}, {{"SALIENT_DATA", ""}}).data.root, "data");
}

TEST(TrainCommand, PathsOnTheCommandLineAreNotEmpty) {
  EXPECT_THROW(read({"--dataset=d", "--resume", ""}), Error);  // or a new run would begin
  EXPECT_THROW(read({"--dataset=d", "--config="}), Error);
  EXPECT_EQ(problems_of(read({"--dataset=d", "--data-root="})).size(), 1U);
}

TEST(TrainCommand, ResumeTakesTheRunsOwnConfiguration) {
  const std::string directory = ::testing::TempDir();
  std::ofstream(directory + "/config.toml") << "dataset = \"d\"\nepochs = 3\nlr = 0.5\nout = \"elsewhere\"\n";
  const TrainOptions options = read({"--resume", directory.c_str(), "--epochs=8"});
  EXPECT_EQ(options.data.dataset, "d");
  EXPECT_EQ(options.optimisation.lr, 0.5);
  EXPECT_EQ(options.optimisation.epochs, 8);
  EXPECT_EQ(options.output.directory, directory);
}

TEST(TrainCommand, WhatIsNoRunIsNotResumed) {
  const test::Scratch folder;
  EXPECT_COMPLAINT(read({"--resume", folder.path().c_str()}), ErrorKind::kNoInput, "so no run was made there");
  EXPECT_COMPLAINT(read({"--resume", (folder / "none").c_str()}), ErrorKind::kNoInput, "no such run directory");
}

TEST(TrainCommand, ARunOfAnOlderVersionKeepsItsKindOfSum) {
  const test::Scratch runs;
  const auto resumed = [&](const std::string& config) {
    test::write_bytes(runs / "config.toml", "dataset = \"d\"\n" + config);
    return read({"--resume", runs.path().c_str()}).model;
  };
  EXPECT_EQ(resumed("model = \"gcn\"\n").gcn_norm, GcnNorm::kRow);
  EXPECT_EQ(resumed("model = \"gcn\"\ngcn_norm = \"symmetric\"\n").gcn_norm, GcnNorm::kSymmetric);
  EXPECT_EQ(resumed("model = \"gin\"\n").gin_sum, GinSum::kPlain);
  EXPECT_EQ(resumed("model = \"gin\"\ngin_sum = \"scaled\"\n").gin_sum, GinSum::kScaled);
  EXPECT_EQ(resumed("model = \"gat\"\n"), read({"--model=gat"}).model);
  EXPECT_EQ(read({"--model=gcn"}).model.gcn_norm, GcnNorm::kSymmetric) << "a new run";
}

TEST(TrainCommand, BadValuesNameTheirSource) {
  try {
    read({}, {{"SALIENT_LR", "fast"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "SALIENT_LR cannot be 'fast'");
  }
}

TEST(TrainCommand, AllProblemsAreReportedTogether) {
  TrainOptions options;
  options.data.dataset = "d";
  EXPECT_TRUE(problems_of(options).empty());
  options.model.dropout = 1;
  options.machine.slots = 1;
  options.output.keep = 0;
  EXPECT_EQ(problems_of(options).size(), 3u);
}

}  // namespace
}  // namespace salient
