// engine/report/report_page.cpp - see report_page.h.
#include "engine/report/report_page.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/files/is_there.h"
#include "core/files/json_text.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "engine/report/embedding_map.h"
#include "engine/report/html_page.h"
#include "engine/report/page/page_assets.h"
#include "engine/report/relation_ranks.h"
#include "engine/report/run_files.h"

namespace salient {
namespace {

Json read_confusion(const std::filesystem::path& directory) {
  Json matrix = parse_json<Json>(text_if_there(directory / "confusion.json"));
  return matrix.is_object() ? matrix : Json();
}

/// Of a typed graph.
Json read_schema(const std::filesystem::path& directory) {
  const Json schema = parse_json<Json>(text_if_there(directory / "schema.json"));
  return schema.is_object() && schema.contains("types") && schema.contains("relations") ? schema : Json();
}

/// The rows that salient-bench inference wrote there, if it did.
Json read_fanouts(const std::filesystem::path& directory) {
  const Json report = parse_json<Json>(text_if_there(directory / "inference.json"));
  return report.is_object() && report.contains("rows") && report["rows"].is_array() ? report["rows"] : Json::array();
}

Json names_of_files(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "report.html" && !name.ends_with(".tmp")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string with_spaces(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string result_card(const std::string& label, const std::string& value) {
  return "<div><b>" + escape_html(value) + "</b><span>" + escape_html(label) + "</span></div>\n";
}

/// The results of a finished run; of another one its latest accuracies.
std::string result_cards(const Json& run, const Json& metrics) {
  std::string cards;
  std::vector<std::pair<std::string, std::string>> results;
  if (run.contains("result") && run["result"].is_object())
    for (const auto& [name, value] : run["result"].items())
      results.emplace_back(name, value.is_string()         ? value.get<std::string>()
                                 : value.is_number_float() ? fixed(value.get<double>(), 4)
                                                           : value.dump());
  std::stable_partition(results.begin(), results.end(),
                        [](const auto& result) { return result.first.starts_with("test"); });
  for (const auto& [name, value] : results) cards += result_card(with_spaces(name), value);
  if (!cards.empty() || metrics.empty()) return cards;
  const auto epoch_of = [](const Json& row) { return " after epoch " + row["epoch"].dump(); };
  for (const char* name : {"train_accuracy", "valid_accuracy", "valid_r2", "valid_mrr"})
    for (auto row = metrics.rbegin(); row != metrics.rend(); ++row) {
      if (!row->contains(name) || !(*row)[name].is_number()) continue;
      cards += result_card(with_spaces(name) + epoch_of(*row), fixed((*row)[name].get<double>(), 4));
      break;
    }
  return cards;
}

std::string header(const RunFiles& files, const std::string& title) {
  const auto& [run, config, metrics] = files;
  const auto [state, detail] = shown_status(run);
  const std::string epochs = option_of(config, "epochs");
  return "<h1>" + escape_html(title) + (is_synthetic(run) ? " <span class=\"badge\">synthetic data</span>" : "") +
         "</h1>\n<p class=\"status " + escape_html(state) + "\"><b>" + escape_html(state) + "</b>" +
         escape_html(detail) + " · " + std::to_string(metrics.size()) +
         (epochs.empty() ? "" : " of " + escape_html(epochs)) + " epochs · " + escape_html(text_of(run, "program")) +
         " · " + escape_html(text_of(run, "written")) + "</p>\n<div class=\"results\">\n" + result_cards(run, metrics) +
         "</div>\n";
}

}  // namespace

std::string report_page(const std::filesystem::path& run_directory) {
  const RunFiles files = read_run_files(run_directory);
  const std::string model = option_of(files.config, "model");
  std::string title = files.run.contains("dataset") ? text_of(files.run["dataset"], "name") : "";
  if (!model.empty()) title += " · " + model;
  return to_html({.title = title,
                  .header = header(files, title),
                  .data = {{"run", files.run},
                           {"config", files.config},
                           {"metrics", files.metrics},
                           {"confusion", read_confusion(run_directory)},
                           {"schema", read_schema(run_directory)},
                           {"ranks", read_relation_ranks(run_directory)},
                           {"fanouts", read_fanouts(run_directory)},
                           {"map", embedding_map(run_directory)},
                           {"files", names_of_files(run_directory)}},
                  .sections = kRunSections,
                  .is_reloaded = text_of(files.run, "status") == "running"});
}

void write_report(const std::filesystem::path& run_directory) {
  replace_text_file(run_directory / "report.html", report_page(run_directory));
}

void refresh_report(const std::filesystem::path& run_directory) noexcept {
  static bool has_warned = false;  // rank 0's main thread alone writes reports
  try {
    write_report(run_directory);
  } catch (const std::exception& error) {
    if (!std::exchange(has_warned, true)) log_warning(std::string("the report is out of date: ") + error.what());
  }
}

void LiveReport::refresh_if_due() noexcept {
  std::error_code error;  // a benchmark's folder has no run.json, and no report
  if (!std::filesystem::exists(run_directory_ / "run.json", error)) return;
  if (since_last_.seconds() < 50 * seconds_of_last_) return;
  const Timer writing;
  refresh_report(run_directory_);
  seconds_of_last_ = writing.seconds();
  since_last_ = Timer();
}

}  // namespace salient
