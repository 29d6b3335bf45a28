// tests/apps/options/help_test.cpp - help fits its width, has groups, and answers for a group or a word.
#include "apps/options/help.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace salient::options {
namespace {

const std::vector<HelpLine> kLines = {
    {"dataset", "...", "name below --data-root, a directory, or synthetic:NAME[:SCALE]; several are not taken"},
    {"model", "sage", "sage | gat"},
    {"per-epoch-learning-rate", "0.0031", "how much it is; a number"},
    {"quiet", "", ""}};
const std::vector<OptionGroup> kGroups = {{"data", "dataset"}, {"model", "model"}};

std::string help(const std::string& topic, std::size_t columns = 60, const std::vector<OptionGroup>& groups = kGroups) {
  std::ostringstream out;
  print_help(out, "program - does it\n\n  program --dataset one --model two --and-so-on --until-it-is-long\n", kLines,
             groups, HelpTopic(topic), columns);
  return out.str();
}

TEST(Help, ASummaryHasGroupsAndFirstClauses) {
  EXPECT_EQ(help("true"),
            "program - does it\n"
            "\n"
            "  program --dataset one --model two --and-so-on\n"
            "  --until-it-is-long\n"
            "\n"
            "data:\n"
            "  --dataset ...             name below --data-root, a\n"
            "                            directory, or\n"
            "                            synthetic:NAME[:SCALE]\n"
            "\n"
            "model:\n"
            "  --model sage              sage | gat\n"
            "  --per-epoch-learning-rate 0.0031  how much it is\n"
            "  --quiet\n"
            "\n"
            "--help=all has the options in full, --help=GROUP those of\n"
            "data, model, --help=WORD those with a word.\n");
}

TEST(Help, InFullEveryOptionIsWhole) {
  const std::string wide = help("all", 1000);
  EXPECT_NE(wide.find("SCALE]; several are not taken\n"), std::string::npos) << wide;
  EXPECT_NE(wide.find("  --per-epoch-learning-rate 0.0031  how much it is; a number\n"), std::string::npos) << wide;
  EXPECT_EQ(wide.find("--help="), std::string::npos);
  EXPECT_NE(help("true", 1000, {}).find("several are not taken"), std::string::npos) << "without groups nothing is cut";
}

TEST(Help, AWordIsAGroupOrInAnOption) {
  EXPECT_EQ(help("model", 1000),
            "model:\n"
            "  --model sage              sage | gat\n"
            "  --per-epoch-learning-rate 0.0031  how much it is; a number\n"
            "  --quiet\n");
  EXPECT_EQ(help("QUIET"), "model:\n  --quiet\n");
  EXPECT_EQ(help("directory,", 1000).substr(0, 22), "data:\n  --dataset ... ");
  try {
    (void)help("nothing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(), "--help=nothing: no option has this word; groups are data, model");
  }
}

TEST(Help, NoLineIsTooWideWhereWordsAreNot) {
  for (const std::size_t columns : {40u, 60u, 80u, 100u}) {
    std::istringstream lines(help("all", columns));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), std::max<std::size_t>(columns, 58)) << line;
  }
}

}  // namespace
}  // namespace salient::options
