// workbench/backend/ncu_profile.cpp - see ncu_profile.h.
#include "workbench/backend/ncu_profile.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "core/error.h"
#include "core/number_text.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

constexpr double kSeconds = 120;

struct Metric {
  const char* name;
  const char* text;  ///< behind the number
  double factor;
  int digits;
};
constexpr Metric kMetrics[] = {
    {"gpu__time_duration.sum", " us", 1e-3, 2},
    {"dram__bytes.sum", " MB of memory traffic", 1e-6, 1},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", " % of the tensor pipe", 1, 1},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", " % of the warps that fit", 1, 1},
    {"launch__registers_per_thread", " registers a thread", 1, 0},
    {"launch__shared_mem_per_block", " bytes of shared memory a block", 1, 0},
    {"launch__waves_per_multiprocessor", " waves of blocks", 1, 2},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", " % of the bytes of loaded sectors used", 1, 1},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", " % of the bytes of shared wavefronts used", 1, 1}};

/// The fields of a line in which every one stands between quotes.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t open = line.find('"'); open != std::string::npos;) {
    const std::size_t close = line.find('"', open + 1);
    if (close == std::string::npos) break;
    fields.push_back(line.substr(open + 1, close - open - 1));
    open = line.find('"', close + 1);
  }
  return fields;
}

/// "1,234.5" as a number.
double number_of(std::string text) {
  std::erase(text, ',');
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace

std::string text_of_ncu(const std::string& csv, const std::vector<std::string>& launches) {
  std::map<std::string, std::size_t> column;
  std::map<long, std::map<std::string, double>> values;  // by launch
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('"')) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (column.empty()) {
      for (std::size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
      if (!column.contains("ID") || !column.contains("Metric Name") || !column.contains("Metric Value")) return {};
      continue;
    }
    if (fields.size() != column.size()) continue;
    const std::string& value = fields[column["Metric Value"]];
    if (value.empty() || value.find_first_not_of("0123456789.,") != std::string::npos) continue;  // not on this chip
    values[std::atol(fields[column["ID"]].c_str())][fields[column["Metric Name"]]] = number_of(value);
  }
  std::string text;
  std::size_t number = 0;
  for (const auto& [id, of_launch] : values) {
    std::string line;
    for (const Metric& metric : kMetrics)
      if (const auto found = of_launch.find(metric.name); found != of_launch.end())
        line += (line.empty() ? "" : ", ") + fixed(found->second * metric.factor, metric.digits) + metric.text;
    const bool is_named = values.size() == launches.size();
    text += "ncu: " + (is_named ? launches[number] : "launch " + std::to_string(number + 1)) + ": " + line + "\n";
    ++number;
  }
  return text;
}

std::string ncu_profile(const std::vector<std::string>& command, const std::vector<std::string>& launches) {
  std::string metrics;
  for (const Metric& metric : kMetrics) metrics.append(metrics.empty() ? "" : ",").append(metric.name);
  std::vector<std::string> words = {"ncu",  "--csv",     "--print-units", "base", "--clock-control",
                                    "none", "--metrics", metrics};
  words.insert(words.end(), command.begin(), command.end());
  try {
    const ProcessResult run = run_process(words, "", {.seconds = kSeconds});
    if (run.timed_out) return "ncu took more than two minutes\n";
    if (std::string text = text_of_ncu(run.output, launches); !text.empty()) return text;
    const std::string all = run.output + run.errors;
    const std::size_t at = all.find("==ERROR==");
    return at == std::string::npos ? "ncu gave no figures\n" : "ncu: " + all.substr(at, all.find('\n', at) - at) + "\n";
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoInput) throw;
    return {};  // there is no ncu
  }
}

}  // namespace salient::workbench
