// tests/core/options/options_test.cpp - what is printed can be read back, and what is wrong is said. TrainOptions stands for
// the real one: plain data, one list of fields, and one function that knows the rules.
#include "core/options/options.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

namespace salient {
namespace {

struct TrainOptions {
  std::string dataset{};
  std::vector<int> fanout = {15, 10, 5};
  int batch_size = 1024;
  double lr = 0.003;
  std::uint32_t seed = 1;
  bool dry_run = false;
  bool operator==(const TrainOptions&) const = default;

  /// Every broken rule at once, as "--option: rule"; empty means usable. Never touches disk, GPU or network.
  std::vector<std::string> problems() const {
    std::vector<std::string> found;
    const auto rule = [&](bool holds, const char* text) {
      if (!holds) found.emplace_back(text);
    };
    rule(!dataset.empty(), "--dataset: is required");
    rule(std::ranges::all_of(fanout, [](int f) { return f == -1 || f >= 1; }), "--fanout: each at least 1, or -1");
    rule(batch_size >= 1, "--batch-size: at least 1");
    rule(lr > 0, "--lr: above 0");
    return found;
  }
};

/// `self` is TrainOptions& when a value is set and const TrainOptions& when it is printed.
template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("dataset", self.dataset, "name, directory, or synthetic:NAME[:scale]");
  field("fanout", self.fanout, "neighbours kept per node and hop, the seeds' own hop first; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per rank and step");
  field("lr", self.lr, "Adam step size");
  field("seed", self.seed, "all randomness of the run derives from it");
  field("dry-run", self.dry_run, "check everything, print the plan, stop");
}

TrainOptions parsed(std::vector<const char*> args) {
  TrainOptions options;
  options::parse(args, options);
  return options;
}

std::string complaint_about(std::vector<const char*> args) {
  try {
    parsed(std::move(args));
    return "none";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

TEST(Options, PrintedConfigReadsBackToTheSameRun) {
  const TrainOptions written{.dataset = "data/my \"odd\" \\ 'name' #1\tof = 2",
                             .fanout = {-1, 7},
                             .lr = 1.0 / 3.0,
                             .seed = 4'000'000'000,
                             .dry_run = true};
  const std::string path = ::testing::TempDir() + "options_test.toml";
  {
    std::ofstream file(path);
    options::print_toml(file, written);
  }
  TrainOptions read;
  options::apply(read, std::span<const options::Assignment>(options::from_toml_file(path)));
  EXPECT_EQ(read, written);
}

TEST(Options, EnvironmentVariablesAreNamedAfterTheField) {
  const auto look_up = [](const char* name) { return std::string_view(name) == "SALIENT_BATCH_SIZE" ? "7" : nullptr; };
  const auto found = options::from_environment<TrainOptions>(look_up);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "batch-size");
  EXPECT_EQ(found[0].text, "7");
}

TEST(Options, ConfigFileErrorsNameFileAndKey) {
  const auto complaint = [](const std::string& text) {
    const std::string path = ::testing::TempDir() + "bad.toml";
    std::ofstream(path) << text;
    try {
      TrainOptions options;
      options::apply(options, std::span<const options::Assignment>(options::from_toml_file(path)));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what()).substr(::testing::TempDir().size());
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint("# one\nbatch_size = 'x'"), "bad.toml: line 2: batch_size cannot be 'x'");
  EXPECT_EQ(complaint("bach-size = 3"), "bad.toml: line 1: bach-size is not an option; did you mean --batch-size?");
  EXPECT_EQ(complaint("[train]\nlr = 1.0"), "bad.toml: line 1: sections are not used");
  EXPECT_EQ(complaint("lr = nan"), "bad.toml: line 1: lr cannot be 'nan'");
  EXPECT_EQ(complaint("lr = 1\nfanout = [3, 4] # two hops\n"), "none");
}

TEST(Options, AcceptsTheUsualSpellings) {
  const TrainOptions expected{.fanout = {20, 20}, .batch_size = 8, .dry_run = true};
  EXPECT_EQ(parsed({"--batch_size", "8", "--dry-run", "--fanout=20,20"}), expected);
}

TEST(Options, RefusalsSayWhatToDo) {
  EXPECT_EQ(complaint_about({"--fanouts=3"}), "unknown option --fanouts; did you mean --fanout?");
  EXPECT_EQ(complaint_about({"--batch-size", "3x"}), "--batch-size cannot be '3x'");
  EXPECT_EQ(complaint_about({"--seed"}), "--seed needs a value");
  EXPECT_EQ(complaint_about({"arxiv"}), "expected --option, found 'arxiv'");
  for (const char* bad : {"--fanout=5,,5", "--seed=-1", "--dry-run=maybe", "--batch-size=", "--", "--=1"})
    EXPECT_NE(complaint_about({bad}), "none") << bad;
}

TEST(Options, EveryProblemIsReportedAtOnce) {
  const TrainOptions options{.fanout = {0}, .lr = -1};
  EXPECT_EQ(options.problems().size(), 3u);  // and --dataset
}

}  // namespace
}  // namespace salient
