// tests/apps/serve/serve_options_test.cpp - where the options of salient-serve come from.
#include "apps/serve/serve_options.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "apps/applied_variables.h"
#include "tests/support/scratch.h"

namespace salient::serve {
namespace {

using Variables = std::map<std::string, std::string>;

auto looking_in(const Variables& variables) {
  return [&](const char* name) { return variables.contains(name) ? variables.at(name).c_str() : nullptr; };
}

TEST(ServeCommand, TheCommandLineBeatsVariablesAndTheseTheFile) {
  const test::Scratch scratch;
  test::write_bytes(scratch / "serve.toml", "port = 1\nhost = \"h\"\nrun = \"r\"\nfanout = [3, 4]\n");
  const Variables variables = {{"SALIENT_PORT", "2"}, {"SALIENT_HOST", "v"}, {"SALIENT_DATA", "/data"}};
  const std::string config = "--config=" + (scratch / "serve.toml").string();
  const std::vector<const char*> args = {config.c_str(), "--port", "3", "--access-log", "--log-format=json"};
  const ServeOptions options = read_serve_command(args, looking_in(variables)).options;
  EXPECT_EQ(options.port, 3);
  EXPECT_EQ(options.host, "v");
  EXPECT_EQ(options.run, "r");
  EXPECT_EQ(options.fanout, (std::vector<int>{3, 4}));
  EXPECT_EQ(options.data_root, "/data");
  EXPECT_TRUE(options.access_log);
  EXPECT_EQ(options.log_format, LogFormat::kJson);
  EXPECT_EQ(read_serve_command({}, looking_in(variables)).options.port, 2);
}

TEST(ServeCommand, VariablesOfTrainingsAreLeftOutAndSaid) {
  const Variables variables = {{"SALIENT_FANOUT", "3,4"}, {"SALIENT_DATASET", "x"}, {"SALIENT_WORKERS", "2"}};
  const ServeOptions options = read_serve_command({}, looking_in(variables)).options;
  EXPECT_TRUE(options.fanout.empty());
  EXPECT_EQ(options.dataset, "");
  EXPECT_EQ(options.workers, 2);
  const std::vector<std::string> lines = variables_left_out<ServeOptions>(looking_in(variables));
  EXPECT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.back(), "SALIENT_FANOUT is of trainings and not read here; --fanout says it");
}

TEST(ServeCommand, BadSourcesAreNamed) {
  EXPECT_COMPLAINT((void)read_serve_command({}, looking_in({{"SALIENT_PORT", "x"}})), ErrorKind::kUsage,
                   "SALIENT_PORT cannot be 'x'");
  const std::vector<const char*> empty = {"--config", ""}, absent = {"--config", "absent.toml"};
  EXPECT_COMPLAINT((void)read_serve_command(empty, looking_in({})), ErrorKind::kUsage, "--config cannot be ''");
  EXPECT_COMPLAINT((void)read_serve_command(absent, looking_in({})), ErrorKind::kNoInput, "absent.toml");
  const test::Scratch scratch;
  test::write_bytes(scratch / "serve.toml", "prot = 1\n");
  const std::string config = "--config=" + (scratch / "serve.toml").string();
  const std::vector<const char*> args = {config.c_str()};
  EXPECT_COMPLAINT((void)read_serve_command(args, looking_in({})), ErrorKind::kUsage, "line 1: prot is not an option");
}

}  // namespace
}  // namespace salient::serve
