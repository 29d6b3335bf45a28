// benchmarks/bench_report.cpp - see bench_report.h.
#include "benchmarks/bench_report.h"

#include <unistd.h>

#include <oneapi/tbb/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "benchmarks/bench_device.h"
#include "benchmarks/verbs.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "core/version.h"

namespace salient {
namespace {

std::string formatted(double value, int decimals) { return std::isnan(value) ? "-" : fixed(value, decimals); }

nlohmann::ordered_json hardware() {
  return {{"host", host_name()}, {"cpu", cpu_model()}, {"cores", num_usable_cores()}, {"gpu", gpu_name()}};
}

nlohmann::ordered_json versions() {
  return {{"salient", kVersion},
          {"commit", SALIENT_COMMIT},
          {"compiler", __VERSION__},
          {"oneTBB", TBB_runtime_version()},
#ifdef NDEBUG
          {"build", "optimised"}
#else
          {"build", "debug"}
#endif
  };
}

}  // namespace

BenchReport::BenchReport(std::string verb, std::string title, std::vector<BenchColumn> columns)
    : verb_(std::move(verb)), title_(std::move(title)), columns_(std::move(columns)) {}

void BenchReport::add_row(std::string name, std::vector<double> values) {
  require(values.size() == columns_.size(), "one value per column");
  rows_.push_back({std::move(name), std::move(values)});
}

void check_json_path(const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const bool is_there = std::filesystem::exists(path), is_file = !std::filesystem::is_directory(path);
  if (!is_file || access(is_there ? path.c_str() : folder.c_str(), W_OK) != 0)
    fail(ErrorKind::kIo, "--json " + path + ": cannot be written");
}

void BenchReport::publish(const std::string& json_path) const {
  print();
  if (json_path.empty()) return;
  std::ofstream file(json_path);
  file << to_json().dump(2) << '\n';
  if (!file.flush()) fail(ErrorKind::kIo, json_path + ": cannot write the result");
}

void BenchReport::print() const {
  const nlohmann::ordered_json machine = hardware();
  const auto gpu = machine["gpu"].get<std::string>();
  std::printf("%s\n%s, %d cores%s%s\n\n", title_.c_str(), machine["cpu"].get<std::string>().c_str(), num_usable_cores(),
              gpu.empty() ? "" : ", ", gpu.c_str());
  std::size_t name_width = 0;
  for (const Row& row : rows_) name_width = std::max(name_width, row.name.size());
  std::printf("%-*s", static_cast<int>(name_width), "");
  for (const BenchColumn& column : columns_) std::printf("  %s", column.heading.c_str());
  std::printf("\n");
  for (const Row& row : rows_) {
    std::printf("%-*s", static_cast<int>(name_width), row.name.c_str());
    for (std::size_t c = 0; c < columns_.size(); ++c)
      std::printf("  %*s", static_cast<int>(columns_[c].heading.size()),
                  formatted(row.values[c] * columns_[c].scale, columns_[c].decimals).c_str());
    std::printf("\n");
  }
  for (const std::string& note : notes_) std::printf("\n%s", note.c_str());
  std::printf("%s", notes_.empty() ? "" : "\n");
  (void)std::fflush(stdout);
}

nlohmann::ordered_json BenchReport::to_json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : rows_) {
    nlohmann::ordered_json object{{"name", row.name}};
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (!std::isnan(row.values[c])) object[columns_[c].key] = row.values[c];
    rows.push_back(std::move(object));
  }
  return {{"benchmark", verb_},    {"title", title_},         {"hardware", hardware()}, {"versions", versions()},
          {"settings", settings_}, {"rows", std::move(rows)}, {"notes", notes_}};
}

}  // namespace salient
