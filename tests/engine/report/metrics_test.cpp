// tests/engine/report/metrics_test.cpp - what is unknown stays empty, and a resumed run's rows replace the old ones.
#include "engine/report/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(Metrics, UnknownIsNullOrEmptyNeverZero) {
  const test::Scratch scratch;
  MetricsFiles(scratch.path(), 1).append({.epoch = 1, .step = 7, .loss = 0.5, .train_accuracy = NAN});
  const std::string json = test::read_bytes(scratch / "metrics.jsonl");
  EXPECT_TRUE(json.starts_with(R"({"epoch":1,"step":7,"loss":0.5,"train_accuracy":null,)")) << json;
  const std::string csv = test::read_bytes(scratch / "metrics.csv");
  EXPECT_NE(csv.find("\n1,7,0.5,,,"), std::string::npos) << csv;
}

TEST(Metrics, FiguresPerHopAreAListInJsonAndOneColumnInCsv) {
  const test::Scratch scratch;
  MetricsFiles(scratch.path(), 1).append({.epoch = 1, .hop_nodes = {{10, 90}}, .hop_edges = {{20, 200}}});
  EXPECT_NE(test::read_bytes(scratch / "metrics.jsonl").find(R"("hop_nodes":[10,90],"hop_edges":[20,200]})"),
            std::string::npos);
  EXPECT_TRUE(test::read_bytes(scratch / "metrics.csv").ends_with(",10 90,20 200\n"));
}

TEST(Metrics, ResumeCutsRowsFromItsFirstEpochOn) {
  const test::Scratch scratch;
  {
    MetricsFiles files(scratch.path(), 1);
    for (int epoch = 1; epoch <= 4; ++epoch) files.append({.epoch = epoch, .loss = 1.0});
  }
  std::ofstream(scratch / "metrics.jsonl", std::ios::app) << "{\"epoch\": 5, \"lo";  // a torn last line
  MetricsFiles(scratch.path(), 3).append({.epoch = 3, .loss = 2.0});
  const std::string json = test::read_bytes(scratch / "metrics.jsonl"), csv = test::read_bytes(scratch / "metrics.csv");
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 3);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_NE(json.find("\"epoch\":3,\"step\":0,\"loss\":2.0"), std::string::npos);
}

TEST(Metrics, RowsOfAnotherVersionKeepTheirColumns) {
  const test::Scratch scratch;
  test::write_bytes(scratch / "metrics.jsonl", "{\"epoch\": 1}\n");
  test::write_bytes(scratch / "metrics.csv", "epoch,step,test_accuracy,lr,loss\n1,40,,0.01,0.75\n2,80,,0.01,0.5\n");
  MetricsFiles(scratch.path(), 2).append({.epoch = 2, .step = 80, .loss = 0.25, .lr = 0.02});
  std::istringstream lines(test::read_bytes(scratch / "metrics.csv"));
  std::string header, first, second, rest;
  std::getline(lines, header) && std::getline(lines, first) && std::getline(lines, second);
  EXPECT_TRUE(
      header.starts_with("epoch,step,loss,train_accuracy,valid_accuracy,valid_rocauc,valid_f1,valid_macro_f1,"
                         "valid_balanced_accuracy,valid_mcc,valid_average_precision,valid_rmse,valid_mae,"
                         "valid_r2,valid_mrr,valid_hits_at_1,valid_hits_at_3,valid_hits_at_10,valid_hits_at_20,"
                         "valid_hits_at_50,valid_hits_at_100,lr,"))
      << header;
  EXPECT_TRUE(first.starts_with("1,40,0.75,,,,,,,,,,,,,,,,,,,0.01,")) << first;
  EXPECT_TRUE(second.starts_with("2,80,0.25,,,,,,,,,,,,,,,,,,,0.02,")) << second;
  EXPECT_EQ(std::count(first.begin(), first.end(), ','), std::count(header.begin(), header.end(), ','));
  EXPECT_FALSE(std::getline(lines, rest)) << rest;
}

TEST(Metrics, ATornRowOfALaterEpochIsNotReadAsAnEarlierOne) {
  const test::Scratch scratch;
  { MetricsFiles(scratch.path(), 1).append({.epoch = 1, .loss = 1.0}); }
  std::ofstream(scratch / "metrics.csv", std::ios::app) << "1";  // of 12
  MetricsFiles(scratch.path(), 2).append({.epoch = 2, .loss = 2.0});
  const std::string csv = test::read_bytes(scratch / "metrics.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3) << csv;
}

TEST(Metrics, EarlierRowsAreThereWhileAResumedRunBegins) {
  const test::Scratch scratch;
  { MetricsFiles(scratch.path(), 1).append({.epoch = 1, .loss = 1.0}); }
  const std::string before = test::read_bytes(scratch / "metrics.jsonl");
  std::filesystem::create_hard_link(scratch / "metrics.jsonl", scratch / "as-a-reader-has-it-open");
  const MetricsFiles files(scratch.path(), 2);
  EXPECT_EQ(test::read_bytes(scratch / "metrics.jsonl"), before);
  EXPECT_EQ(test::read_bytes(scratch / "as-a-reader-has-it-open"), before) << "the file was replaced, not emptied";
}

TEST(Metrics, RowsThatCannotBeReadAreNotReplaced) {
  for (const char* unreadable : {"metrics.jsonl", "metrics.csv"}) {
    const test::Scratch scratch;
    { MetricsFiles(scratch.path(), 1).append({.epoch = 1, .loss = 1.0}); }
    std::filesystem::remove(scratch / unreadable);
    std::filesystem::create_directory(scratch / unreadable);  // root may read every file, but no folder as one
    EXPECT_COMPLAINT(MetricsFiles(scratch.path(), 2), 65, "is a folder, not a file");
    EXPECT_TRUE(std::filesystem::is_directory(scratch / unreadable));
    const char* other = unreadable == std::string("metrics.csv") ? "metrics.jsonl" : "metrics.csv";
    EXPECT_FALSE(test::read_bytes(scratch / other).empty());
  }
}

TEST(Metrics, RowsOfAnotherShapeAreLeftOut) {
  const test::Scratch scratch;
  std::ofstream(scratch / "metrics.jsonl") << "{\"epoch\": null}\n[1]\n{\"epoch\": \"1\", \"step\": {}}\nnone\n";
  { const MetricsFiles files(scratch.path(), 2); }
  EXPECT_EQ(test::read_bytes(scratch / "metrics.jsonl"), "");
}

TEST(Metrics, ALineOfAnEpochFits80ColumnsAndHasTheChosenFigureFirst) {
  EpochMetrics metrics{.epoch = 17, .loss = 0.5, .train_accuracy = 0.25, .epoch_seconds = 12.345};
  EXPECT_EQ(summary_line(metrics), "epoch 17: loss 0.5000, train accuracy 0.2500, 12.35 s");
  for (const auto& [metric, name] : names_of(Metric{})) metrics.valid[metric] = 0.75;
  EXPECT_EQ(summary_line(metrics), "epoch 17: loss 0.5000, train accuracy 0.2500, valid accuracy 0.7500, 12.35 s");
  EXPECT_EQ(summary_line(metrics, Metric::kHitsAt20),
            "epoch 17: loss 0.5000, train accuracy 0.2500, valid hits_at_20 0.7500, 12.35 s");
  metrics.train_accuracy.reset();
  EXPECT_EQ(summary_line(metrics, Metric::kMrr),
            "epoch 17: loss 0.5000, valid mrr 0.7500, accuracy 0.7500, f1 0.7500, 12.35 s");
  EXPECT_EQ(rows_line(metrics), "");
  metrics.own_rows = 900, metrics.copied_rows = 60, metrics.remote_rows = 40;
  metrics.remote_bytes = 4'500'000, metrics.batches = 10, metrics.exchange_seconds = 1.25;
  EXPECT_EQ(rows_line(metrics), "epoch 17: 90.0 % own rows, 6.0 % copies, 4.0 % remote, 0.45 MB/batch, wait 1.2 s");
  for (const Metric metric : {Metric::kAccuracy, Metric::kMrr, Metric::kRmse})
    EXPECT_LT(summary_line(metrics, metric).size(), 80u);
}

TEST(Metrics, TheTimingLineIsStable) {
  EXPECT_EQ(timing_line({}), "epoch seconds none: the run had ended, and no epoch was trained");
  EpochMetrics metrics{.epoch = 1,
                       .epoch_seconds = 1.93,
                       .train_seconds = 1.71,
                       .blocked_seconds = 0.18,
                       .transfer_seconds = 0.04,
                       .edges = 23'932'000};
  EXPECT_EQ(timing_line(metrics),
            "epoch seconds 1.93 (train 1.71, blocked 0.18, transfer 0.04), 12.4 M edges/s sampled");
  metrics.steps_before = 7;
  EXPECT_EQ(timing_line(metrics),
            "epoch seconds 1.93 (train 1.71, blocked 0.18, transfer 0.04), 12.4 M edges/s sampled, "
            "after a resume at step 7");
}

}  // namespace
}  // namespace salient
