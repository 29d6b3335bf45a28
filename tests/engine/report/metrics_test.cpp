// tests/engine/report/metrics_test.cpp - what is unknown stays empty, and a resumed run's rows replace the old ones.
#include "engine/report/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::read_bytes;

TEST(Metrics, UnknownIsNullOrEmptyNeverZero) {
  const test::Scratch scratch;
  const std::filesystem::path& directory = scratch.path();
  MetricsFiles(directory, 1).append({.epoch = 1, .step = 7, .loss = 0.5, .train_accuracy = NAN});
  const std::string json = read_bytes(directory / "metrics.jsonl");
  EXPECT_TRUE(json.starts_with(R"({"epoch":1,"step":7,"loss":0.5,"train_accuracy":null,)")) << json;
  const std::string csv = read_bytes(directory / "metrics.csv");
  EXPECT_NE(csv.find("\n1,7,0.5,,,"), std::string::npos) << csv;
}

TEST(Metrics, FiguresPerHopAreAListInJsonAndOneColumnInCsv) {
  const test::Scratch scratch;
  const std::filesystem::path& directory = scratch.path();
  MetricsFiles(directory, 1).append({.epoch = 1, .hop_nodes = {{10, 90}}, .hop_edges = {{20, 200}}});
  EXPECT_NE(read_bytes(directory / "metrics.jsonl").find(R"("hop_nodes":[10,90],"hop_edges":[20,200]})"),
            std::string::npos);
  EXPECT_TRUE(read_bytes(directory / "metrics.csv").ends_with(",10 90,20 200\n"));
}

TEST(Metrics, ResumeCutsRowsFromItsFirstEpochOn) {
  const test::Scratch scratch;
  const std::filesystem::path& directory = scratch.path();
  {
    MetricsFiles files(directory, 1);
    for (int epoch = 1; epoch <= 4; ++epoch) files.append({.epoch = epoch, .loss = 1.0});
  }
  std::ofstream(directory / "metrics.jsonl", std::ios::app) << "{\"epoch\": 5, \"lo";  // a torn last line
  MetricsFiles(directory, 3).append({.epoch = 3, .loss = 2.0});
  const std::string json = read_bytes(directory / "metrics.jsonl"), csv = read_bytes(directory / "metrics.csv");
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 3);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_NE(json.find("\"epoch\":3,\"step\":0,\"loss\":2.0"), std::string::npos);
}

TEST(Metrics, TheTimingLineIsStable) {
  const EpochMetrics metrics{.epoch_seconds = 1.93,
                             .train_seconds = 1.71,
                             .blocked_seconds = 0.18,
                             .transfer_seconds = 0.04,
                             .edges = 23'932'000};
  EXPECT_EQ(timing_line(metrics),
            "epoch seconds 1.93 (train 1.71, blocked 0.18, transfer 0.04), 12.4 M edges/s sampled");
}

}  // namespace
}  // namespace salient
