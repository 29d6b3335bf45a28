// tests/apps/infer_command_test.cpp - where the options of salient-infer come from, and what is refused.
#include "apps/infer_command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

InferOptions usable_options() {
  InferOptions options;
  options.run = "runs/x";
  return options;
}

InferOptions read(const std::vector<const char*>& args) {
  return read_infer_command(args, [](const char*) -> const char* { return nullptr; }).options;
}

TEST(InferCommand, TheCommandLineBeatsTheEnvironment) {
  const auto look_up = [](const char* name) -> const char* {
    return std::string(name) == "SALIENT_WORKERS" ? "3" : std::string(name) == "SALIENT_DATA" ? "/data" : nullptr;
  };
  EXPECT_EQ(read_infer_command({}, look_up).options.machine.workers, 3);
  const InferOptions options = read_infer_command(std::vector<const char*>{"--workers=5"}, look_up).options;
  EXPECT_EQ(options.machine.workers, 5);
  EXPECT_EQ(options.data.root, "/data");
  const auto empty = [](const char* name) { return std::string(name) == "SALIENT_DATA" ? "" : nullptr; };
  EXPECT_EQ(read_infer_command({}, empty).options.data.root, read({}).data.root);
}

TEST(InferCommand, VariablesOfTrainingsDoNotChangePredictions) {
  for (const char* name : {"SALIENT_FANOUT", "SALIENT_SEED", "SALIENT_BATCH_SIZE", "SALIENT_PRECISION", "SALIENT_DRAW",
                           "SALIENT_DATASET", "SALIENT_OUT", "SALIENT_STEP", "SALIENT_WITH_REPLACEMENT"})
    EXPECT_NO_THROW((void)read_infer_command({}, [&](const char* asked) {
      return std::string(asked) == name ? "?" : nullptr;
    })) << name;
}

TEST(InferCommand, AFileAndVariablesSayOptionsToo) {
  const test::Scratch scratch;
  test::write_bytes(scratch / "infer.toml", "run = \"r\"\nnodes = \"a,b\"\nfanout = [3, 4]\ntop_k = 2\n");
  const std::string config = "--config=" + (scratch / "infer.toml").string();
  const auto look_up = [](const char* name) -> const char* {
    return std::string(name) == "SALIENT_NODES" ? "c" : std::string(name) == "SALIENT_FORMAT" ? "csv" : nullptr;
  };
  const std::vector<const char*> args = {config.c_str(), "--top-k=3", "--nodes-by=id"};
  const InferOptions options = read_infer_command(args, look_up).options;
  EXPECT_EQ(options.run, "r");
  EXPECT_EQ(options.nodes.what, "c");
  EXPECT_EQ(options.nodes.by, NodesBy::kId);
  EXPECT_EQ(options.sampled.fanout, (std::vector<int>{3, 4}));
  EXPECT_EQ(options.results.format, PredictionFormat::kCsv);
  EXPECT_EQ(options.results.top_k, 3);
  EXPECT_COMPLAINT(read({"--config="}), ErrorKind::kUsage, "--config cannot be ''");
}

TEST(InferCommand, AnIdColumnIsOfATable) {
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--nodes=a,b", "--id-column=c"}))), ErrorKind::kUsage,
                   "--id-column: only of --nodes that are a table");
  for (const char* table : {"--nodes=a.csv", "--nodes=a.tsv.gz", "--nodes=a.txt"})
    EXPECT_TRUE(problems_of(read({"--run=r", table, "--id-column=c"})).empty()) << table;
}

TEST(InferCommand, NamesEveryBrokenRuleAtOnce) {
  EXPECT_TRUE(problems_of(usable_options()).empty());
  InferOptions options;
  options.nodes.what = "";
  options.sampled.fanout = {0};
  options.checkpoint = "epoch-";
  options.results.top_k = 0;
  EXPECT_EQ(problems_of(options).size(), 5U);  // and --run
  for (const char* checkpoint : {"best", "latest", "epoch-0012"}) {
    options = usable_options();
    options.checkpoint = checkpoint;
    EXPECT_TRUE(problems_of(options).empty()) << checkpoint;
  }
}

TEST(InferCommand, ExactAndSampledOptionsExcludeEachOther) {
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--exact", "--with-replacement"}))), ErrorKind::kUsage,
                   "--draw: not with --exact");
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--exact", "--draw=labor"}))), ErrorKind::kUsage,
                   "--draw: not with --exact");
  EXPECT_COMPLAINT(read({"--run=r", "--with-replacement", "--draw=labor"}), ErrorKind::kUsage,
                   "--with-replacement stands for draw with-replacement, and --draw says labor");
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--scratch=/tmp"}))), ErrorKind::kUsage,
                   "--scratch: only with --exact");
}

TEST(InferCommand, MemoryIsAtLeastAByte) {
  for (const char* amount : {"--memory-gb=-1", "--memory-gb=9.9e-10", "--memory-gb=1e300"})
    EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--exact", amount}))), ErrorKind::kUsage,
                     "--memory-gb: 0, or 1e-9 (a byte) to 1000000");
  EXPECT_TRUE(problems_of(read({"--run=r", "--exact", "--memory-gb=1e-9"})).empty());
}

TEST(InferCommand, ResidentPredictionsNeedAGpuAndKeepNoLayers) {
  EXPECT_TRUE(problems_of(read({"--run=r", "--step=resident", "--precision=bf16"})).empty());
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--step=resident", "--device=cpu"}))), ErrorKind::kUsage,
                   "--step: resident needs a GPU");
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--precision=tf32", "--device=cpu"}))), ErrorKind::kUsage,
                   "--precision: tf32 needs a GPU");
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--step=resident", "--embeddings=1"}))), ErrorKind::kUsage,
                   "--embeddings: not with --step resident");
  EXPECT_TRUE(problems_of(read({"--run=r", "--exact", "--step=eager"})).empty());
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--exact", "--step=resident", "--activations=file"}))),
                   ErrorKind::kUsage, "--activations: not with --step resident");
  EXPECT_COMPLAINT(refuse(problems_of(read({"--run=r", "--exact", "--step=resident", "--activation-dtype=f32"}))),
                   ErrorKind::kUsage, "--activation-dtype: f32 is not with --step resident");
  EXPECT_TRUE(problems_of(read({"--run=r", "--exact", "--step=resident", "--activation-dtype=f16"})).empty());
}

TEST(InferCommand, WhatIsNotSaidIsTheRuns) {
  TrainOptions run;
  run.data = {"d", "/data"};
  run.batches.draw = Draw::kWithReplacement;
  const InferOptions options = with_defaults_of(usable_options(), run);
  EXPECT_EQ(options.data, run.data);
  EXPECT_EQ(options.sampled, (SampledOptions{.fanout = {20, 20, 20},
                                             .draw = Draw::kWithReplacement,
                                             .seen = SeenEdges::kAll,
                                             .window = TimeWindow{},
                                             .strategy = TimeStrategy::kUniform,
                                             .batch_size = 1024,
                                             .seed = 1}));
  EXPECT_EQ(with_defaults_of(read({"--with-replacement=false"}), run).sampled.draw, Draw::kUniform);
  EXPECT_EQ(with_defaults_of(read({"--with-replacement=auto"}), run).sampled.draw, Draw::kWithReplacement);
  run.batches.draw = Draw::kLabor;
  EXPECT_EQ(with_defaults_of(usable_options(), run).sampled.draw, Draw::kLabor);
  EXPECT_EQ(with_defaults_of(read({"--with-replacement"}), run).sampled.draw, Draw::kWithReplacement);
  EXPECT_EQ(with_defaults_of(read({"--draw=uniform"}), run).sampled.draw, Draw::kUniform);
  InferOptions deeper = usable_options();
  deeper.results.embeddings = 4;
  EXPECT_COMPLAINT((void)with_defaults_of(deeper, run), ErrorKind::kUsage,
                   "--embeddings: the run's model has 3 layers");
}

TEST(InferCommand, TimesAreSeenAsInTheRun) {
  TrainOptions run;
  run.data = {"d", "/data"};
  const auto rule_with = [&](std::vector<const char*> args) {
    return with_defaults_of(read(std::move(args)), run).sampled.time().rule();
  };
  const auto complain = [&](std::vector<const char*> args, const std::string& words) {
    EXPECT_COMPLAINT((void)rule_with(args), ErrorKind::kUsage, words);
  };
  EXPECT_EQ(rule_with({}), std::nullopt);
  complain({"--time-window=4"}, "--time-rule: lt or le is needed for a window or a strategy");
  run.batches.time = {.seen = SeenEdges::kUpTo, .window = {9}, .strategy = TimeStrategy::kLast};
  EXPECT_EQ(rule_with({}), run.batches.time.rule());
  EXPECT_EQ(rule_with({"--time-rule=none"}), std::nullopt);
  EXPECT_EQ(rule_with({"--time-rule=none", "--exact"}), std::nullopt);
  EXPECT_EQ(rule_with({"--time-window=all", "--time-strategy=uniform"}), (TimeRule{.order = TimeOrder::kUpTo}));
  complain({"--exact"}, "--exact: computes a node once for all that read it, and by --time-rule each sees other edges");
  complain({"--new-nodes=a.csv"}, "--new-nodes: have no times to draw by");
  complain({"--sampler=device"}, "--sampler: the host draws by --time-rule");
  complain({"--draw=labor"}, "--time-strategy: last draws nothing, and so not by labor");
  complain({"--time-window=0"}, "--time-window: at least 1, or all");
}

TEST(InferCommand, NewNodesAreOfOneFileOrOfOneForEachType) {
  using Items = std::vector<std::string>;
  EXPECT_EQ(read({"--new-nodes=a,b=1.csv"}).added.nodes.items, (Items{"a,b=1.csv"})) << "one file's name";
  const AddedNodes added = read({"--new-nodes=paper=p.csv", "--new-nodes", "author=a,1.csv", "--new-nodes=paper=q.csv",
                                 "--new-edges=a:w,x:p=1.csv,p:c:p=2.csv"})
                               .added;
  EXPECT_EQ(added.nodes.items, (Items{"author=a,1.csv", "paper=q.csv"})) << "the last of a type";
  EXPECT_EQ(added.edges.items, (Items{"a:w,x:p=1.csv", "p:c:p=2.csv"}));
  NamedFiles again;
  EXPECT_TRUE(from_text(to_text(added.edges), again));
  EXPECT_EQ(again, added.edges);
}

}  // namespace
}  // namespace salient
