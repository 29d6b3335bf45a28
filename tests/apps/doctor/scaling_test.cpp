// tests/apps/doctor/scaling_test.cpp - the formula of scaling.h, against recorded runs on several GPUs.
#include "apps/doctor/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "tests/support/scratch.h"

namespace salient::doctor {
namespace {

using nlohmann::json;

TEST(Scaling, TheSlowestOfNormalValuesTakesAsMuchLongerAsTablesSay) {
  EXPECT_EQ(expected_maximum(1), 0);
  EXPECT_NEAR(expected_maximum(2), 1 / std::sqrt(std::numbers::pi), 1e-6);
  EXPECT_NEAR(expected_maximum(3), 1.5 / std::sqrt(std::numbers::pi), 1e-6);
  EXPECT_NEAR(expected_maximum(8), 1.42360, 1e-5);
  EXPECT_NEAR(expected_maximum(64), 2.34373, 1e-4);
}

TEST(Scaling, AnEpochFollowsByHand) {
  const MeasuredEpoch epoch{.num_seeds = 1000,
                            .batch_size = 10,
                            .num_steps = 100,
                            .num_parameters = 1'000'000,
                            .seconds = 0.1,
                            .spread_seconds = 1e-4,
                            .is_on_gpu = true,
                            .is_resident = true};
  const Interconnect links{
      .peer_bytes = 1e11, .ring_seconds = 1e-5, .hop_seconds = 1e-6, .network_bytes = 1e10, .network_seconds = 1e-4};
  const ScaledEpoch four = scale_epoch(epoch, links, 4, 1);
  EXPECT_EQ(four.num_steps, 25);
  EXPECT_DOUBLE_EQ(four.exchange_seconds, 3 * 8e6 / 1e11);
  EXPECT_DOUBLE_EQ(four.waiting_seconds, 1e-4 * expected_maximum(4));
  EXPECT_DOUBLE_EQ(four.seconds, 25 * (1e-3 + four.waiting_seconds + four.exchange_seconds));
  EXPECT_DOUBLE_EQ(four.efficiency, 0.1 / (4 * four.seconds));

  MeasuredEpoch eager = epoch;
  eager.is_resident = false;
  EXPECT_DOUBLE_EQ(exchange_seconds(eager, links, 4, 1), 1e-5 + 2e-6 + 1.5 * 4e6 / 1e11);
  const double between = 2 * 1e-4 + 4e6 / 1e10;  // of two hosts
  EXPECT_DOUBLE_EQ(exchange_seconds(epoch, links, 4, 2), 3.2e-5 + 1e-5 + 1e-6 + 4e6 / 1e11 + between);
  EXPECT_DOUBLE_EQ(exchange_seconds(eager, links, 2, 2), between);
  EXPECT_GT(exchange_seconds(epoch, links, 16, 1), exchange_seconds(eager, links, 16, 1))
      << "more than 8 ranks sum between steps";
}

TEST(Scaling, RowsDoubleTheRanksOfAHostAndThenTheHosts) {
  const MeasuredEpoch epoch{.num_seeds = 1000, .batch_size = 10, .num_steps = 100, .seconds = 0.1};
  std::vector<std::pair<int, int>> found;
  for (const ScaledEpoch& row : scale_epochs(epoch, {}, 24, 3)) found.emplace_back(row.num_ranks, row.num_hosts);
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 2}, {24, 3}}));
  EXPECT_EQ(scale_epochs(epoch, {}, 1, 1).size(), 1);
  EXPECT_DOUBLE_EQ(scale_epochs(epoch, {}, 1, 1)[0].seconds, 0.1);
}

/// A run of `salient-bench scaling`, of whose first row the others are computed.
/// @param spread_seconds  of a step, where the file is older than its column
void expect_predicted(const std::string& name, double most_error, double spread_seconds = 0) {
  const std::filesystem::path results = std::filesystem::path(SALIENT_SOURCE_DIR) / "benchmarks/results";
  const json file = json::parse(read_text_file(results / name));
  const json& first = file["rows"][0];
  MeasuredEpoch epoch{.num_parameters = file["settings"]["gradients"], .seconds = first["epoch_seconds_median"]};
  epoch.batch_size = file["settings"]["batch-size"];
  epoch.num_steps = static_cast<std::int64_t>(first["steps_per_epoch"].get<double>());
  epoch.num_seeds = epoch.num_steps * epoch.batch_size;
  epoch.spread_seconds = first.value("step_spread_seconds", spread_seconds);
  epoch.is_on_gpu = true;
  epoch.is_resident = !file["rows"][1].contains("allreduce_seconds");
  for (const json& row : file["rows"]) {
    const int num_ranks = std::stoi(row["name"].get<std::string>());
    const double computed = scale_epoch(epoch, {}, num_ranks, 1).seconds, measured = row["epoch_seconds_median"];
    EXPECT_NEAR(computed / measured, 1, most_error) << name << ", " << num_ranks << " ranks";
  }
}

TEST(Scaling, RecordedRunsOnTwoAndFourGpusAreComputedFromOneWithinFivePercent) {
  for (const char* name : {"papers100M-bf16", "products", "products-gcn-bf16"})
    expect_predicted(std::string("h200-x2-32-cores-scaling-") + name + ".json", 0.03);
  expect_predicted("h200-x4-64-cores-scaling-papers100M-bf16.json", 0.03, 7.9e-6);  // as on the two GPUs above
}

json run_json() {
  return {{"status", "finished"},
          {"resolved", {{"batch_size", 100}, {"step", "resident"}, {"features", "device"}, {"sampler", "device"}}},
          {"model", {{"parameters", 5000}}},
          {"placement", {{{"device", "NVIDIA H200 #0"}}}}};
}
json epoch_row(int epoch, double seconds) {
  return {{"epoch", epoch}, {"epoch_seconds", seconds}, {"seeds", 950}, {"step_spread_seconds", 0.25}};
}

void write_run(const std::filesystem::path& folder, const json& run, const std::vector<json>& epochs) {
  test::write_bytes(folder / "run.json", run.dump());
  std::string lines;
  for (const json& row : epochs) lines += row.dump() + "\n";
  test::write_bytes(folder / "metrics.jsonl", lines);
}

TEST(Scaling, ARunOnOneRankIsReadAndOthersAreRefused) {
  const test::Scratch folder;
  EXPECT_THROW((void)read_measured_epoch(folder.path()), Error);
  write_run(folder.path(), run_json(), {epoch_row(1, 9), epoch_row(2, 3), epoch_row(3, 2), epoch_row(4, 4)});
  const MeasuredEpoch epoch = read_measured_epoch(folder.path());
  EXPECT_EQ(epoch.seconds, 3);
  EXPECT_EQ(epoch.num_steps, 10);
  EXPECT_EQ(epoch.num_parameters, 5000);
  EXPECT_EQ(epoch.spread_seconds, 0.25);
  EXPECT_TRUE(epoch.is_on_gpu && epoch.is_resident && !epoch.reads_host_memory);

  const auto refusal_of = [&](const json& run, const std::vector<json>& epochs) -> std::string {
    write_run(folder.path(), run, epochs);
    try {
      (void)read_measured_epoch(folder.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal_of(run_json(), {epoch_row(1, 9)}).find("two"), std::string::npos);
  json two = run_json();
  two["placement"].push_back({{"device", "cpu"}});
  EXPECT_NE(refusal_of(two, {epoch_row(1, 9), epoch_row(2, 3)}).find("2 ranks"), std::string::npos);
  for (const auto& [part, key] : {std::pair{"resolved", "batch_size"}, std::pair{"model", "parameters"}}) {
    json older = run_json();
    older[part].erase(key);
    EXPECT_NE(refusal_of(older, {epoch_row(1, 9), epoch_row(2, 3)}).find(key), std::string::npos);
  }
  json strange = run_json();
  strange["resolved"] = 7;
  EXPECT_NE(refusal_of(strange, {epoch_row(1, 9), epoch_row(2, 3)}), "");
}

}  // namespace
}  // namespace salient::doctor
