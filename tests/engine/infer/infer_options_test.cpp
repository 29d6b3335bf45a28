// tests/engine/infer/infer_options_test.cpp - where options of salient-infer come from, and their rules.
#include "engine/infer/infer_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace salient {
namespace {

InferOptions usable_options() {
  InferOptions options;
  options.run = "runs/x";
  return options;
}

TEST(InferOptions, TheCommandLineBeatsTheEnvironment) {
  const auto look_up = [](const char* name) -> const char* {
    return std::string(name) == "SALIENT_NODES" ? "all" : std::string(name) == "SALIENT_DATA" ? "/data" : nullptr;
  };
  const InferOptions options = read_infer_command(std::vector<const char*>{"--nodes=valid"}, look_up).options;
  EXPECT_EQ(options.nodes, "valid");
  EXPECT_EQ(options.data_root, "/data");
}

TEST(InferOptions, NameEveryBrokenRuleAtOnce) {
  EXPECT_TRUE(usable_options().problems().empty());
  InferOptions options;
  options.nodes = "some";
  options.fanout = {0};
  options.checkpoint = "epoch-";
  options.top_k = 0;
  EXPECT_EQ(options.problems().size(), 5U);  // and --run
  for (const char* checkpoint : {"best", "latest", "epoch-0012"}) {
    options = usable_options();
    options.checkpoint = checkpoint;
    EXPECT_TRUE(options.problems().empty()) << checkpoint;
  }
}

}  // namespace
}  // namespace salient
