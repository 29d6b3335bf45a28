// tests/apps/options/options_test.cpp - what is printed can be read back, and what is wrong is said. TrainOptions is a
// small one of its own: plain data and one list of fields.
#include "apps/options/options.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>

namespace salient {
namespace {

enum class Sauce : std::uint8_t { kNone, kRed, kWhite };

constexpr auto names_of(Sauce) {
  return std::to_array<EnumName<Sauce>>({{Sauce::kNone, "none"}, {Sauce::kRed, "red"}, {Sauce::kWhite, "white"}});
}

struct TrainOptions {
  std::string dataset{};
  std::vector<int> fanout = {15, 10, 5};
  int batch_size = 1024;
  double lr = 0.003;
  std::uint32_t seed = 1;
  bool dry_run = false;
  Sauce sauce = Sauce::kNone;
  std::optional<Sauce> second{};
  std::optional<bool> spicy{};
  std::optional<Sauce> third{};
  bool operator==(const TrainOptions&) const = default;
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
  field("sauce", self.sauce, "on top");
  field("second", self.second, "");
  field("spicy", self.spicy, "how it is");
  options::Alias is_red{.field = "sauce", .value = "red", .otherwise = "none", .is = to_text(self.sauce)};
  field("tomato", is_red, "as --sauce red");
  options::Alias is_third_red{.field = "third", .value = "red", .otherwise = "none", .is = to_text(self.third)};
  field("third-tomato", is_third_red, "as --third red");
  field("third", self.third, "");
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
                             .dry_run = true,
                             .sauce = Sauce::kWhite,
                             .second{},
                             .spicy = false};
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

TEST(Options, ABoolMayHaveItsValueAsHelpShowsIt) {
  const TrainOptions expected{.batch_size = 8, .dry_run = true, .spicy = false};
  EXPECT_EQ(parsed({"--spicy", "false", "--dry-run", "true", "--batch-size", "8"}), expected);
  EXPECT_EQ(parsed({"--spicy", "--spicy", "auto", "--dry-run", "false"}), TrainOptions{});
  EXPECT_EQ(complaint_about({"--dry-run", "arxiv"}), "--dry-run cannot be 'arxiv'");
}

TEST(Options, RefusalsSayWhatToDo) {
  EXPECT_EQ(complaint_about({"--fanot=3"}), "unknown option --fanot; did you mean --fanout?");
  EXPECT_EQ(complaint_about({"--batch-size", "3x"}), "--batch-size cannot be '3x'");
  EXPECT_EQ(complaint_about({"--seed"}), "--seed needs a value");
  EXPECT_EQ(complaint_about({"arxiv"}), "expected --option, found 'arxiv'; did you mean --dataset arxiv?");
  for (const char* bad : {"--fanout=5,,5", "--seed=-1", "--dry-run=maybe", "--batch-size=", "--", "--=1"})
    EXPECT_NE(complaint_about({bad}), "none") << bad;
}

TEST(Options, EnumsAreWordsAndAutoIsNone) {
  EXPECT_EQ(parsed({"--sauce=red", "--second=white", "--spicy"}),
            (TrainOptions{.sauce = Sauce::kRed, .second = Sauce::kWhite, .spicy = true}));
  EXPECT_EQ(parsed({"--second=white", "--second=auto", "--spicy=auto"}), TrainOptions{});
  EXPECT_EQ(complaint_about({"--sauce=auto"}), "--sauce: none, red or white, not 'auto'");
  EXPECT_EQ(complaint_about({"--second=blue"}), "--second: auto, none, red or white, not 'blue'");
  EXPECT_EQ(complaint_about({"--spicy=hot"}), "--spicy: auto, true or false, not 'hot'");
}

TEST(Options, AnEmptyNameOfTheDataFolderIsNone) {
  EXPECT_EQ(options::data_folder([](const char*) -> const char* { return "/a"; }), "/a");
  for (const char* none : {static_cast<const char*>(nullptr), ""})
    EXPECT_EQ(options::data_folder([&](const char*) { return none; }), std::nullopt);
}

TEST(Options, NamesOfOthersAreOurs) {
  EXPECT_EQ(parsed({"--num-neighbors", "5,5", "--learning_rate=0.5"}), (TrainOptions{.fanout = {5, 5}, .lr = 0.5}));
  EXPECT_EQ(complaint_about({"--learning-rate", "x"}), "--learning-rate cannot be 'x'") << "as it was said";
  EXPECT_EQ(complaint_about({"--num-neighbor", "5"}), "unknown option --num-neighbor; did you mean --fanout?");
  EXPECT_EQ(complaint_about({"--optimizer", "adam"}),
            "unknown option --optimizer; it is Adam, with --lr and --weight-decay");
  EXPECT_EQ(complaint_about({"--hidden-channels", "5"}), "unknown option --hidden-channels; see --help")
      << "these options have none of that";
  TrainOptions options;
  options::apply(options, options::Assignment{"num-neighbors", "7", "a file"});
  EXPECT_EQ(options.fanout, std::vector<int>{7});
}

TEST(Options, AGuessIsNear) {
  EXPECT_EQ(complaint_about({"--patience", "5"}), "unknown option --patience; see --help");
  EXPECT_EQ(complaint_about({"--sede", "5"}), "unknown option --sede; see --help") << "2 of 4 letters";
  EXPECT_EQ(complaint_about({"--batchsize", "5"}), "unknown option --batchsize; did you mean --batch-size?");
}

TEST(Options, WordsMayHaveOtherLetters) {
  EXPECT_EQ(parsed({"--sauce=RED", "--second=White"}), (TrainOptions{.sauce = Sauce::kRed, .second = Sauce::kWhite}));
  EXPECT_EQ(options::our_value(std::vector<std::string>{"sage", "gcn"}, "GraphSAGE"), "sage");
  EXPECT_EQ(options::our_value(std::vector<std::string>{"gcn"}, "GraphSAGE"), "GraphSAGE");
}

TEST(Options, AliasIsAnotherSpellingOfAFieldsValue) {
  EXPECT_EQ(parsed({"--tomato"}).sauce, Sauce::kRed);
  EXPECT_EQ(parsed({"--tomato", "--sauce=none"}).sauce, Sauce::kRed) << "none is what there is without";
  EXPECT_EQ(parsed({"--tomato=false", "--sauce=white"}).sauce, Sauce::kWhite);
  EXPECT_EQ(complaint_about({"--tomato", "--sauce=white"}), "--tomato stands for sauce red, and --sauce says white");
  EXPECT_EQ(complaint_about({"--tomato=maybe"}), "--tomato cannot be 'maybe'");
  EXPECT_EQ(complaint_about({"--tomato=auto"}), "--tomato cannot be 'auto'") << "sauce cannot be left open";
  EXPECT_EQ(parsed({"--third-tomato=auto"}).third, std::nullopt);
  EXPECT_EQ(parsed({"--third-tomato=false"}).third, Sauce::kNone);
}

TEST(Options, StrongerSourceTakesAnAliasBack) {
  TrainOptions options = parsed({"--tomato"});
  options::parse(std::vector<const char*>{"--tomato=false"}, options);
  EXPECT_EQ(options.sauce, Sauce::kNone);
  options = parsed({"--sauce=white"});
  options::parse(std::vector<const char*>{"--tomato=false"}, options);
  EXPECT_EQ(options.sauce, Sauce::kWhite) << "it was not red";
  options::parse(std::vector<const char*>{"--tomato"}, options);
  EXPECT_EQ(options.sauce, Sauce::kRed);
}

}  // namespace
}  // namespace salient
