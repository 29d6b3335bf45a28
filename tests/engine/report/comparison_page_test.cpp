// tests/engine/report/comparison_page_test.cpp - which runs are compared with which, and in what they differ.
#include "engine/report/comparison_page.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/report/metrics.h"
#include "engine/report/run_directory.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch;
using Paths = std::vector<std::filesystem::path>;

struct MadeUpRun {
  std::string name{}, config{};
  std::string dataset = "cora", fingerprint = "1", metric = "accuracy", status = "finished", host = "here";
};

std::filesystem::path write_run(const Scratch& scratch, const MadeUpRun& run) {
  const std::filesystem::path directory = scratch / run.name;
  std::filesystem::create_directories(directory);
  write_run_json(directory,
                 {.program = "salient-train 0.1.0",
                  .machine = {{"host", run.host}},
                  .resolved = {{"metric", run.metric}},
                  .dataset = {{"name", run.dataset}, {"fingerprint", run.fingerprint}},
                  .result = {{"test_accuracy", 0.5}}},
                 run.status);
  test::write_bytes(directory / "config.toml", run.config);
  return directory;
}

nlohmann::json data_of(const Paths& runs, const std::filesystem::path& folder) {
  const std::string page = comparison_page(runs, folder);
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</", begin) - begin));
}

nlohmann::json json(const char* text) { return nlohmann::json::parse(text); }

TEST(ComparisonPage, GroupsRunsThatDifferBySeedAlone) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "a", .config = "hidden = 8\nseed = 1\nout = \"a\"\n"}),
                   write_run(scratch, {.name = "b", .config = "hidden = 64\nseed = 1\nout = \"b\"\n"}),
                   write_run(scratch, {.name = "c", .config = "hidden = 8\nseed = 2\nkeep = 5\n", .host = "there"})};
  const nlohmann::json data = data_of(runs, scratch.path());
  ASSERT_EQ(data["sets"].size(), 1U);
  const nlohmann::json& set = data["sets"][0];
  EXPECT_EQ(set["options"], json(R"(["hidden"])"));
  EXPECT_EQ(set["facts"], json(R"(["host"])"));
  ASSERT_EQ(set["groups"].size(), 2U);
  EXPECT_EQ(set["groups"][0],
            json(R"({"label": "hidden 8", "runs": [0, 2], "options": ["8"], "facts": ["here / there"]})"));
  EXPECT_EQ(set["groups"][1], json(R"({"label": "hidden 64", "runs": [1], "options": ["64"], "facts": ["here"]})"));
  EXPECT_EQ(data["runs"][2]["seed"], "2");
}

TEST(ComparisonPage, ComparesOnlyTheSameDataByTheSameMetric) {
  const Scratch scratch;
  const std::string config = "lr = 0.1\n";
  const Paths runs{
      write_run(scratch, {.name = "a", .config = config}), write_run(scratch, {.name = "b", .dataset = "wordnet"}),
      write_run(scratch, {.name = "c", .metric = "rocauc"}), write_run(scratch, {.name = "d", .config = config}),
      write_run(scratch, {.name = "e", .dataset = "wordnet", .fingerprint = "2"})};
  const nlohmann::json sets = data_of(runs, scratch.path())["sets"];
  std::vector<std::string> titles;
  for (const auto& set : sets) titles.push_back(set["title"]);
  EXPECT_EQ(titles, (std::vector<std::string>{"cora, by accuracy", "wordnet, by accuracy, fingerprint 1",
                                              "cora, by rocauc", "wordnet, by accuracy, fingerprint 2"}));
  EXPECT_EQ(sets[0]["groups"][0]["runs"], json("[0, 3]"));
  EXPECT_EQ(sets[0]["groups"][0]["label"], "a and 1 more");
}

TEST(ComparisonPage, AnOptionThatOneRunLacksDiffers) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "old", .config = "lr = 0.1\n"}),
                   write_run(scratch, {.name = "new", .config = "lr = 0.1\njk = \"max\"\n"})};
  const nlohmann::json set = data_of(runs, scratch.path())["sets"][0];
  EXPECT_EQ(set["options"], json(R"(["jk"])"));
  EXPECT_EQ(set["groups"][0]["options"], json(R"(["not set"])"));
}

TEST(ComparisonPage, AGroupIsNamedByWhatIsNotCommonWhereAllWouldBeTooLong) {
  const Scratch scratch;
  const auto config = [](const std::string& batch, const std::string& norm, const std::string& hidden) {
    return "batch-size = " + batch + "\nnorm = \"" + norm + "\"\nlabel-smoothing = 0.1\nhidden = " + hidden + "\n";
  };
  const Paths runs{write_run(scratch, {.name = "a", .config = config("128", "none", "256")}),
                   write_run(scratch, {.name = "b", .config = config("1024", "none", "256")}),
                   write_run(scratch, {.name = "c", .config = config("1024", "layer", "256")}),
                   write_run(scratch, {.name = "d", .config = config("1024", "layer", "64")}),
                   write_run(scratch, {.name = "e", .config = config("1024", "none", "12345678")})};
  const nlohmann::json groups = data_of(runs, scratch.path())["sets"][0]["groups"];
  std::vector<std::string> labels;
  for (const auto& group : groups) labels.push_back(group["label"]);
  EXPECT_EQ(labels, (std::vector<std::string>{"batch-size 128", "the common options", "norm layer",
                                              "norm layer, hidden 64", "hidden 12345678"}));
}

TEST(ComparisonPage, RunsWhoseOptionsAreNotKnownAreNotAlike) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "a"}), write_run(scratch, {.name = "b", .config = "lr = 0.1\n"}),
                   write_run(scratch, {.name = "c"})};
  const nlohmann::json groups = data_of(runs, scratch.path())["sets"][0]["groups"];
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0]["label"], "a");
  EXPECT_EQ(groups[1]["label"], "lr 0.1");
  EXPECT_EQ(groups[2]["label"], "c");
}

TEST(ComparisonPage, ARunOfTrialsStandsForThemAndARunNamedTwiceIsThereOnce) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "t", .config = "trials = 2\n"})};
  for (const char* seed : {"1", "2"})
    write_run(scratch, {.name = std::string("t/trial-") + seed, .config = std::string("seed = ") + seed + "\n"});
  test::write_bytes(scratch / "t" / "trial-1" / "report.html", "");
  const nlohmann::json data = data_of({runs[0], scratch / "t" / "trial-2", runs[0] / "."}, scratch.path());
  ASSERT_EQ(data["runs"].size(), 2U);
  EXPECT_EQ(data["runs"][0]["name"], "t/trial-1");
  EXPECT_EQ(data["runs"][0]["link"], "t/trial-1/report.html");
  EXPECT_EQ(data["runs"][1]["link"], "");
  EXPECT_EQ(data["sets"][0]["groups"].size(), 1U);
}

TEST(ComparisonPage, SaysWhatARunDidNotFinish) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "killed", .status = "running"}),
                   write_run(scratch, {.name = "stopped", .status = "interrupted"})};
  MetricsFiles(runs[0], 1).append({.epoch = 1, .loss = 0.5});
  const nlohmann::json data = data_of(runs, scratch.path());
  EXPECT_EQ(data["runs"][0]["state"], "failed");
  EXPECT_EQ(data["runs"][0]["detail"].get<std::string>().substr(0, 8), ": killed");
  EXPECT_EQ(data["runs"][0]["rows"][0]["loss"], 0.5);
  EXPECT_FALSE(data["runs"][0]["rows"][0].contains("hop_nodes"));
  EXPECT_EQ(data["runs"][1]["state"], "interrupted");
}

TEST(ComparisonPage, RefusesWhatIsNoRunAndAPageThatIsAFolder) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "a"}), scratch / "absent"};
  EXPECT_COMPLAINT(write_comparison(runs, scratch / "page.html"), ErrorKind::kNoInput, "absent");
  EXPECT_FALSE(std::filesystem::exists(scratch / "page.html"));
  EXPECT_COMPLAINT(write_comparison(runs, scratch.path()), ErrorKind::kUsage, "folder");
  EXPECT_COMPLAINT(write_comparison(runs, scratch / "no" / "page.html"), ErrorKind::kIo, "no");
  EXPECT_COMPLAINT(write_comparison(runs, ""), ErrorKind::kUsage, "''");
}

TEST(ComparisonPage, APageIsWrittenThroughALinkAndNeverInPlaceOfADevice) {
  const Scratch scratch;
  const Paths runs{write_run(scratch, {.name = "a"})};
  const std::filesystem::path fifo = scratch / "fifo", link = scratch / "link", page = scratch / "page.html";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_COMPLAINT(write_comparison(runs, fifo), ErrorKind::kUsage, "no regular file");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  test::write_bytes(page, "old");
  std::filesystem::create_symlink(page, link);
  write_comparison(runs, link);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_GT(std::filesystem::file_size(page), 3U);
  std::filesystem::remove(page);
  EXPECT_COMPLAINT(write_comparison(runs, link), ErrorKind::kUsage, "no regular file");
  EXPECT_TRUE(std::filesystem::is_symlink(link)) << "and names nothing";
}

TEST(ComparisonPage, TextOfARunNeverBecomesMarkup) {
  const Scratch scratch;
  const std::string evil = "</script><script>alert(1)</script>";
  const Paths runs{write_run(scratch, {.name = "a", .dataset = evil, .status = "failed: " + evil}),
                   write_run(scratch, {.name = "b <b>", .config = "lr = '<b>'\n", .dataset = evil})};
  const std::string page = comparison_page(runs, scratch.path());
  EXPECT_EQ(page.find(evil), std::string::npos);
  EXPECT_EQ(page.find("<b>\""), std::string::npos);
}

}  // namespace
}  // namespace salient
