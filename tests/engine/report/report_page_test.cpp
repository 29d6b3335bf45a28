// tests/engine/report/report_page_test.cpp - a page can be made of any state of a run, and no text of a run becomes
// markup.
#include "engine/report/report_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/report/confusion.h"
#include "engine/report/html_page.h"
#include "engine/report/metrics.h"
#include "engine/report/run_directory.h"
#include "engine/report/schema_report.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch;

void write_run(const std::filesystem::path& directory, const std::string& status, const std::string& name = "cora",
               const Facts& result = {}) {
  write_run_json(directory,
                 {.program = "salient-train 0.1.0",
                  .placement = {{{"rank", "0"}, {"host", "here"}}},
                  .dataset = {{"name", name}, {"source", "synthetic"}},
                  .changed = {"epochs"},
                  .result = result},
                 status);
  test::write_bytes(directory / "config.toml", "model = \"sage\"  # help\nepochs = 3\n");
}

/// The JSON in the page's script element, as a browser finds it: up to the first "</".
nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</", begin) - begin));
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ReportPage, HasTheSchemaOfATypedGraph) {
  const Scratch scratch;
  write_run(scratch.path(), "running");
  EXPECT_TRUE(data_of(report_page(scratch.path()))["schema"].is_null());
  const SchemaReport report{.types = {{"paper", 4019, 1902}, {"caf\xE9", 60, 0}},
                            .relations = {{"caf\xE9", "has", "paper", 13407, {32, 410.5}}},
                            .target = "paper",
                            .batches = 3};
  write_schema(scratch.path(), report);
  const nlohmann::json schema = data_of(report_page(scratch.path()))["schema"];
  EXPECT_EQ(schema["target"], "paper");
  EXPECT_EQ(schema["types"][1], nlohmann::json::parse(R"({"name": "caf\ufffd", "nodes": 60, "features": 0})"));
  EXPECT_EQ(schema["relations"][0]["edges"], nlohmann::json::parse("[32, 410.5]"));
  EXPECT_EQ(to_text(report),
            "node types\n  paper: 4019 nodes, 1902 features; target\n  caf\\xe9: 60 nodes, learned rows\n"
            "relations: entries, and edges of a batch at each hop, mean of 3\n  caf\\xe9:has:paper: 13407; 32, 410\n");
}

TEST(ReportPage, HasTheRanksOfRelations) {
  const Scratch scratch;
  write_run(scratch.path(), "finished");
  const auto ranks = [&] { return data_of(report_page(scratch.path()))["ranks"]; };
  EXPECT_EQ(ranks(), nlohmann::json::array());
  const std::string head = "relation,side,links,mrr,hits_at_1,hits_at_3,hits_at_10\n";
  test::write_bytes(scratch / "test_relations.csv",
                    head + "causes,tail,12,0.5000,0.2500,0.7500,1.0000\n\"is, \"\"so\"\"\",head,3,0.1,0,0,0.5\n");
  EXPECT_EQ(ranks(), nlohmann::json::parse(R"([
    {"relation": "causes", "side": "tail", "links": 12, "mrr": 0.5, "hits_at_1": 0.25, "hits_at_3": 0.75,
     "hits_at_10": 1},
    {"relation": "is, \"so\"", "side": "head", "links": 3, "mrr": 0.1, "hits_at_1": 0, "hits_at_3": 0,
     "hits_at_10": 0.5}])"));
  for (const std::string& bad : {head + "causes,tail,12\n", head + "causes,tail,x,0,0,0,0\n", std::string("a,b\n")}) {
    test::write_bytes(scratch / "test_relations.csv", bad);
    EXPECT_EQ(ranks(), nlohmann::json::array()) << bad;
  }
}

TEST(ReportPage, OfAFinishedRunHoldsEverything) {
  const Scratch scratch;
  write_run(scratch.path(), "finished", "cora", {{"test_accuracy", 0.812345}, {"best_epoch", 2}});
  {
    MetricsFiles files(scratch.path(), 1);
    for (int epoch = 1; epoch <= 3; ++epoch)
      files.append({.epoch = epoch, .loss = 1.0 / epoch, .batches = 4, .hop_nodes = {{8, 20}}});
  }
  write_confusion(scratch.path(), {.set = "test", .epoch = 2, .num_classes = 2, .counts = {5, 1, 0, 7}});
  write_report(scratch.path());
  const std::string page = test::read_bytes(scratch / "report.html");
  EXPECT_NE(page.find("<b>0.8123</b><span>test accuracy</span>"), std::string::npos);
  EXPECT_NE(page.find("synthetic data"), std::string::npos);
  EXPECT_EQ(page.find("http-equiv=\"refresh\""), std::string::npos);
  const nlohmann::json data = data_of(page);
  EXPECT_EQ(data["run"]["placement"][0]["host"], "here");
  EXPECT_EQ(data["run"]["result"], nlohmann::json::parse(R"({"test_accuracy": 0.812345, "best_epoch": 2})"));
  EXPECT_EQ(data["config"], nlohmann::json::parse(R"([["model", "sage"], ["epochs", "3"]])"));
  EXPECT_EQ(data["run"]["changed"], nlohmann::json::parse(R"(["epochs"])"));
  EXPECT_EQ(data["fanouts"], nlohmann::json::array());
  EXPECT_EQ(data["metrics"].size(), 3U);
  EXPECT_EQ(data["metrics"][2]["hop_nodes"], (std::vector<int>{8, 20}));
  EXPECT_EQ(data["confusion"]["cells"], nlohmann::json::parse("[[0, 0, 5], [0, 1, 1], [1, 1, 7]]"));
  EXPECT_EQ(data["files"].size(), 6U) << data["files"];  // config, confusion, events, metrics twice, run
}

TEST(ReportPage, ShowsTheFanoutsThatSalientBenchMeasured) {
  const Scratch scratch;
  write_run(scratch.path(), "finished");
  for (const auto& [text, size] : {std::pair(R"({"rows": [{"name": "fanout 5", "accuracy": 0.5}]})", 1U),
                                   std::pair(R"({"rows": 3})", 0U), std::pair("[1", 0U)}) {
    test::write_bytes(scratch / "inference.json", text);
    EXPECT_EQ(data_of(report_page(scratch.path()))["fanouts"].size(), size) << text;
  }
}

TEST(ReportPage, AsksNoNetworkForAnything) {
  const Scratch scratch;
  write_run(scratch.path(), "finished");
  const std::string page = report_page(scratch.path());
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(count_of(page, "://"), count_of(page, "http://www.w3.org/"));  // names of namespaces, never fetched
  EXPECT_EQ(count_of(page, " src="), 0U);
}

TEST(ReportPage, TextOfARunNeverBecomesMarkup) {
  const Scratch scratch;
  const std::string evil = "</script><script>alert('1')</script>&amp;<!--";
  write_run(scratch.path(), "failed: " + evil, evil, {{evil, evil}});
  test::write_bytes(scratch / "config.toml", "model = '<img src=x onerror=\"alert(1)\">'\nepochs = \"<i>\"\n");
  write_confusion(scratch.path(), {.set = evil, .num_classes = 1, .class_names = {evil}, .counts = {1}});
  const std::string page = report_page(scratch.path());
  const std::size_t scripts = count_of(page, "<script"), ends = count_of(page, "</script");
  EXPECT_EQ(scripts, 2U);
  EXPECT_EQ(ends, 2U);
  for (const char* part : {"<img", "<i>", "<!--", "alert('1')</"}) EXPECT_EQ(count_of(page, part), 0U) << part;
  EXPECT_EQ(data_of(page)["run"]["dataset"]["name"], evil);
  EXPECT_EQ(data_of(page)["confusion"]["class_names"][0], evil);
  EXPECT_EQ(escape_html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(ReportPage, NamesInNoEncodingAreShownAsFarAsTheyCan) {
  const Scratch scratch;
  write_run(scratch.path(), "finished");
  write_confusion(scratch.path(), {.num_classes = 1, .class_names = {"caf\xE9"}, .counts = {1}});
  EXPECT_EQ(data_of(report_page(scratch.path()))["confusion"]["class_names"][0], "caf\xEF\xBF\xBD");
}

TEST(ReportPage, OfAResumedRunHasEachEpochOnce) {
  const Scratch scratch;
  write_run(scratch.path(), "running");
  {
    MetricsFiles files(scratch.path(), 1);
    for (int epoch = 1; epoch <= 4; ++epoch) files.append({.epoch = epoch, .loss = 1.0});
  }
  MetricsFiles(scratch.path(), 3).append({.epoch = 3, .loss = 2.0});
  const nlohmann::json rows = data_of(report_page(scratch.path()))["metrics"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1]["loss"], 1.0);
  EXPECT_EQ(rows[2]["loss"], 2.0);
}

TEST(ReportPage, OfARunThatGoesOnOrWasKilledShowsHowFarItCame) {
  const Scratch scratch;
  std::optional<RunLock> program(scratch.path());
  write_run(scratch.path(), "running");
  EpochMetrics first{.epoch = 1, .train_accuracy = 0.5};
  first.valid[Metric::kAccuracy] = 0.25;
  MetricsFiles(scratch.path(), 1).append(first);
  std::ofstream(scratch / "metrics.jsonl", std::ios::app) << "{\"epoch\": 2, \"lo";  // killed in the middle of a line
  const std::string page = report_page(scratch.path());
  EXPECT_NE(page.find("<b>0.2500</b><span>valid accuracy after epoch 1</span>"), std::string::npos);
  EXPECT_NE(page.find("http-equiv=\"refresh\""), std::string::npos);
  EXPECT_EQ(data_of(page)["metrics"].size(), 1U);
  program.reset();
  const std::string of_killed = report_page(scratch.path());
  EXPECT_NE(of_killed.find("<b>failed</b>: killed"), std::string::npos);
  EXPECT_EQ(of_killed.find("http-equiv=\"refresh\""), std::string::npos);
}

TEST(ReportPage, OfAnInterruptedOrFailedRunSaysSo) {
  const Scratch scratch;
  write_run(scratch.path(), "interrupted");
  EXPECT_NE(report_page(scratch.path()).find("<p class=\"status interrupted\"><b>interrupted</b>"), std::string::npos);
  write_run(scratch.path(), "failed: the loss is not a number");
  const std::string page = report_page(scratch.path());
  EXPECT_NE(page.find("<p class=\"status failed\"><b>failed</b>: the loss is not a number"), std::string::npos);
}

TEST(ReportPage, WhatIsNoRunDirectoryIsRefused) {
  const Scratch scratch;
  EXPECT_COMPLAINT(write_report(scratch.path()), ErrorKind::kNoInput, "run.json");
  test::write_bytes(scratch / "run.json", "{\"status\":");
  EXPECT_COMPLAINT(write_report(scratch.path()), ErrorKind::kBadData, "run.json");
}

TEST(ReportPage, ThatCannotBeWrittenIsAWarningOnce) {
  const Scratch scratch;
  testing::internal::CaptureStderr();
  refresh_report(scratch.path());
  refresh_report(scratch.path());
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count_of(warnings, "report"), 1U) << warnings;
}

}  // namespace
}  // namespace salient
