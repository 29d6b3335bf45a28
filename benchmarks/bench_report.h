// benchmarks/bench_report.h - what a benchmark found: printed as a table, written as JSON.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/value_text.h"

namespace salient {

struct BenchColumn {
  std::string key{};      ///< in JSON, with its unit: "edges_per_second"
  std::string heading{};  ///< in the table: "M edges/s"
  double scale = 1;       ///< table value = JSON value * scale
  int decimals = 1;
};

// Columns that several benchmarks of trainings have.
inline const BenchColumn kMedianEpoch{"epoch_seconds_median", "epoch s median", 1, 3};
inline const BenchColumn kBestEpoch{"epoch_seconds_best", "best", 1, 3};
inline const BenchColumn kBlockedSeconds{"blocked_seconds", "blocked s", 1, 3};

class BenchReport {
 public:
  /// The value of a column that does not apply to a row: "-" in the table, absent in JSON.
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  /// @param verb   names the benchmark in JSON.
  /// @param title  one line for people.
  BenchReport(std::string verb, std::string title, std::vector<BenchColumn> columns);

  void add_setting(const std::string& key, const nlohmann::json& value) { settings_[key] = value; }

  /// Every field of an options struct, but the name of the file that the report goes to.
  template <class Options>
  void add_settings(const Options& options) {
    visit_fields(options, [&](std::string_view name, const auto& value, std::string_view) {
      if (name != "json") add_setting(std::string(name), as_json(value));
    });
  }

  /// Shown under the table, kept in JSON: what the machine can do at most, what was verified, how to read a column.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

  /// One value per column.
  void add_row(std::string name, std::vector<double> values);

  /// Prints the table to standard output and, unless `json_path` is empty, writes the file.
  /// @throws Error{kIo}.
  void publish(const std::string& json_path) const;

 private:
  /// Words of options as text, everything else as it is.
  template <class T>
  static nlohmann::json as_json(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || requires { value.size(); })
      return value;
    else
      return to_text(value);
  }

  struct Row {
    std::string name;
    std::vector<double> values;
  };
  void print() const;
  nlohmann::ordered_json to_json() const;

  std::string verb_;
  std::string title_;
  std::vector<BenchColumn> columns_;
  nlohmann::ordered_json settings_;
  std::vector<std::string> notes_;
  std::vector<Row> rows_;
};

}  // namespace salient
