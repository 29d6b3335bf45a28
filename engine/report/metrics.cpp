// engine/report/metrics.cpp - see metrics.h.
#include "engine/report/metrics.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/is_there.h"
#include "core/files/json_text.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "core/value_text.h"
#include "engine/report/run_files.h"

namespace salient {
namespace {

template <class T>
std::string as_text(const std::optional<T>& value) {
  if (!value.has_value()) return {};
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(*value)) return {};
  return to_text(*value);
}

std::string as_text(const std::optional<std::vector<std::int64_t>>& values) {  // "1 2 3": no quotes needed in CSV
  std::string text = values ? to_text(*values) : std::string();
  std::ranges::replace(text, ',', ' ');
  return text;
}

std::string csv_header() {
  std::string line;
  visit_columns(EpochMetrics{},
                [&](const char* name, const auto&) { line.append(line.empty() ? "" : ",").append(name); });
  return line;
}

std::string csv_row(const EpochMetrics& metrics) {
  std::string line;
  bool first = true;
  visit_columns(metrics, [&](const char*, const auto& value) {
    line.append(std::exchange(first, false) ? "" : ",").append(as_text(value));
  });
  return line;
}

std::string json_row(const EpochMetrics& metrics) {
  nlohmann::ordered_json row;
  visit_columns(metrics, [&](const char* name, const auto& value) {
    if (as_text(value).empty())
      row[name] = nullptr;
    else
      row[name] = *value;
  });
  return row.dump();
}

/// The lines of `path` whose epoch, as epoch_of() reads it, comes before `first_epoch`; a torn last one never does.
template <class EpochOf>
std::string lines_before(const std::filesystem::path& path, int first_epoch, EpochOf epoch_of) {
  std::istringstream file(text_if_there(path));  // unreadable is not missing: the rows would be lost
  std::string kept;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const int epoch = epoch_of(line);
    if (epoch > 0 && epoch < first_epoch) kept += line + '\n';
  }
  return kept;
}

/// No cell of ours needs quotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells{""};
  for (const char c : line) c == ',' ? cells.emplace_back() : cells.back() += c;
  return cells;
}

/// Rows of a metrics.csv with the columns of `header`, which another version may have written, in today's columns.
std::string in_todays_columns(const std::string& header, const std::string& rows) {
  if (header == csv_header() || rows.empty()) return rows;
  const std::vector<std::string> names = cells_of(header);
  std::string text;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cells_of(line);
    std::string row;
    for (const std::string& name : cells_of(csv_header())) {
      const auto column = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
      row.append(row.empty() ? "" : ",").append(column < cells.size() ? cells[column] : "");
    }
    text += row + '\n';
  }
  return text;
}

std::string first_line(const std::filesystem::path& path) {
  const std::string text = text_if_there(path);
  return text.substr(0, text.find('\n'));
}

int csv_epoch(const std::string& line) {
  int epoch = 0;
  return from_text(std::string_view(line).substr(0, line.find(',')), epoch) ? epoch : 0;
}

/// A field of a line of metrics.jsonl; 0 when there is none.
std::int64_t number_in(const std::string& line, const char* field) {
  const auto row = parse_json(line);
  if (!row.is_object() || !row.contains(field) || !row[field].is_number_integer()) return 0;
  return row[field].get<std::int64_t>();
}

int json_epoch(const std::string& line) { return static_cast<int>(number_in(line, "epoch")); }

/// The step after the last of these lines of metrics.jsonl; 0 when there are none.
std::int64_t step_after(const std::string& lines) {
  const std::size_t last = lines.size() < 2 ? std::string::npos : lines.rfind('\n', lines.size() - 2);
  return lines.empty() ? 0 : number_in(lines.substr(last == std::string::npos ? 0 : last + 1), "step") + 1;
}

/// "valid_accuracy" becomes "accuracy/valid", so that TensorBoard shows what belongs together in one group.
std::string tag_of(const std::string& column) {
  for (const std::string group : {"accuracy", "seconds", "bytes"})
    if (column.ends_with("_" + group)) return group + "/" + column.substr(0, column.size() - group.size() - 1);
  return column;
}

std::vector<Scalar> scalars_of(const EpochMetrics& metrics) {
  std::vector<Scalar> scalars;
  visit_columns(metrics, [&](const std::string& name, const auto& value) {
    if constexpr (std::is_arithmetic_v<typename std::decay_t<decltype(value)>::value_type>)
      if (name != "step" && !as_text(value).empty()) scalars.push_back({tag_of(name), static_cast<float>(*value)});
  });
  return scalars;
}

/// Figures that lines of the log have no room for.
bool is_left_to_files(Metric metric) {
  switch (metric) {
    case Metric::kMacroF1:
    case Metric::kBalancedAccuracy:
    case Metric::kMcc:
    case Metric::kAveragePrecision:
    case Metric::kHitsAt1:
    case Metric::kHitsAt3:
    case Metric::kHitsAt20:
    case Metric::kHitsAt100: return true;
    case Metric::kAccuracy:
    case Metric::kRocAuc:
    case Metric::kF1:
    case Metric::kRmse:
    case Metric::kMae:
    case Metric::kR2:
    case Metric::kMrr:
    case Metric::kHitsAt10:
    case Metric::kHitsAt50: return false;
  }
  return false;
}

double per_second(const std::optional<std::int64_t>& count, const std::optional<double>& seconds) {
  return static_cast<double>(count.value_or(0)) / std::max(seconds.value_or(0), 1e-9);
}

}  // namespace

MetricsFiles::MetricsFiles(const std::filesystem::path& directory, int first_epoch) : directory_(directory) {
  const std::string kept_json = lines_before(directory / "metrics.jsonl", first_epoch, json_epoch);
  const std::string kept_csv = in_todays_columns(first_line(directory / "metrics.csv"),
                                                 lines_before(directory / "metrics.csv", first_epoch, csv_epoch));
  replace_text_file(directory / "metrics.jsonl", kept_json);  // a crash leaves the earlier rows in any case
  replace_text_file(directory / "metrics.csv", csv_header() + "\n" + kept_csv);
  jsonl_.open(directory / "metrics.jsonl", std::ios::app);
  csv_.open(directory / "metrics.csv", std::ios::app);
  if (!jsonl_ || !csv_) fail(ErrorKind::kIo, directory.string() + "/metrics.*: cannot be written");
  events_.emplace(directory, step_after(kept_json));
  const Json config = read_config(directory);
  auto options = compared_options(config);
  if (options.empty()) return;
  options.emplace_back("seed", option_of(config, "seed"));
  events_->add_options(options);
}

void MetricsFiles::append(const EpochMetrics& metrics) {
  jsonl_ << json_row(metrics) << '\n' << std::flush;
  csv_ << csv_row(metrics) << '\n' << std::flush;
  if (!jsonl_ || !csv_) fail(ErrorKind::kIo, directory_.string() + "/metrics.*: write failed; is the disk full?");
  events_->add(metrics.step, scalars_of(metrics));
}

std::string summary_line(const EpochMetrics& m, Metric chosen) {
  constexpr std::size_t kMostColumns = 79;
  std::string line = printed("epoch %d: loss %.4f", m.epoch, m.loss.value_or(NAN));
  if (m.train_accuracy.has_value()) line += printed(", train accuracy %.4f", *m.train_accuracy);
  const std::string seconds = printed(", %.2f s", m.epoch_seconds.value_or(0));
  std::string valid;
  const auto add = [&](const char* name, Metric metric, double value) {
    const std::string figure = std::string(valid.empty() ? ", valid " : ", ") + name + " " + figure_text(metric, value);
    if (metric == chosen || line.size() + valid.size() + figure.size() + seconds.size() <= kMostColumns)
      valid += figure;
  };
  m.valid.for_each([&](const char* name, Metric metric, double value) {
    if (metric == chosen) add(name, metric, value);
  });
  m.valid.for_each([&](const char* name, Metric metric, double value) {
    if (metric != chosen && !is_left_to_files(metric)) add(name, metric, value);
  });
  return line + valid + seconds;
}

std::string rows_line(const EpochMetrics& m) {
  if (!m.remote_rows) return {};
  const double per_row = 100.0 / static_cast<double>(*m.own_rows + *m.copied_rows + *m.remote_rows);
  const double batches = static_cast<double>(std::max<std::int64_t>(1, m.batches.value_or(1)));
  return printed("epoch %d: %.1f %% own rows, %.1f %% copies, %.1f %% remote, %.2f MB/batch, wait %.1f s", m.epoch,
                 per_row * static_cast<double>(*m.own_rows), per_row * static_cast<double>(*m.copied_rows),
                 per_row * static_cast<double>(*m.remote_rows), static_cast<double>(*m.remote_bytes) * 1e-6 / batches,
                 m.exchange_seconds.value_or(0));
}

std::string detail_line(const EpochMetrics& m) {
  std::string line =
      printed("epoch %d: train %.2f s, blocked %.2f s, transfer %.2f s", m.epoch, m.train_seconds.value_or(0),
              m.blocked_seconds.value_or(0), m.transfer_seconds.value_or(0));
  if (m.device_bytes.has_value() && m.epoch_seconds.value_or(0) > 0)
    line += printed(", GPU busy %.0f %%", 100 * m.train_seconds.value_or(0) / *m.epoch_seconds);
  if (m.eval_seconds.has_value()) line += printed(", eval %.2f s", *m.eval_seconds);
  return line + printed(", %.1f M edges/s, %.2f GB/s", per_second(m.edges, m.epoch_seconds) / 1e6,
                        per_second(m.bytes_transferred, m.epoch_seconds) / 1e9);
}

std::string timing_line(const EpochMetrics& m) {
  if (m.epoch == 0) return "epoch seconds none: the run had ended, and no epoch was trained";
  const std::string line =
      printed("epoch seconds %.2f (train %.2f, blocked %.2f, transfer %.2f), %.1f M edges/s sampled",
              m.epoch_seconds.value_or(0), m.train_seconds.value_or(0), m.blocked_seconds.value_or(0),
              m.transfer_seconds.value_or(0), per_second(m.edges, m.epoch_seconds) / 1e6);
  return m.steps_before == 0 ? line : line + ", after a resume at step " + std::to_string(m.steps_before);
}

}  // namespace salient
