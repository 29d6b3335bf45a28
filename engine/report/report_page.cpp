// engine/report/report_page.cpp - see report_page.h. The page shows data through textContent, in report.js; text
// in the HTML itself is escaped here, and "<" in the JSON is \u003c, so that no text of a run can end its script
// element.
#include "engine/report/report_page.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/flat_toml.h"
#include "core/files/is_there.h"
#include "core/files/json_text.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "engine/report/page/page_assets.h"
#include "engine/report/run_directory.h"

namespace salient {
namespace {

using Json = nlohmann::ordered_json;

/// The text of `object[key]`, empty when there is none.
std::string text_of(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

Json read_run(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "run.json";
  if (!is_there(path))
    fail(ErrorKind::kNoInput, directory.string() + ": has no run.json, so it is not the directory of a run");
  Json run = parse_json<Json>(read_text_file(path));
  if (!run.is_object()) fail(ErrorKind::kBadData, path.string() + ": is not a JSON object");
  if (text_of(run, "status") == "running" && !is_being_written(directory))
    run["status"] = "failed: killed, or its machine stopped; it can be resumed from its last checkpoint";
  return run;
}

/// [[name, value], ...] in file order; a configuration that cannot be read leaves the page without it.
Json read_config(const std::filesystem::path& directory) {
  Json config = Json::array();
  try {
    const std::filesystem::path path = directory / "config.toml";
    for (const TomlItem& item : parse_flat_toml(read_text_file(path), path.string()))
      config.push_back({item.key, item.value});
  } catch (const Error& error) {
    log_debug(std::string("report: ") + error.what());
  }
  return config;
}

/// The rows of metrics.jsonl; a torn last line is left out.
Json read_metrics(const std::filesystem::path& directory) {
  std::istringstream file(text_if_there(directory / "metrics.jsonl"));
  Json rows = Json::array();
  for (std::string line; std::getline(file, line);) {
    Json row = parse_json<Json>(line);
    if (row.is_object() && row.contains("epoch")) rows.push_back(std::move(row));
  }
  return rows;
}

Json read_confusion(const std::filesystem::path& directory) {
  Json matrix = parse_json<Json>(text_if_there(directory / "confusion.json"));
  return matrix.is_object() ? matrix : Json();
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

/// Text of a <script> element, whatever strings are in it.
std::string script_safe(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
    c == '<' ? text.append("\\u003c") : text.append(1, c);
  return text;
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
  for (const char* name : {"train_accuracy", "valid_accuracy"})
    for (auto row = metrics.rbegin(); row != metrics.rend(); ++row) {
      if (!row->contains(name) || !(*row)[name].is_number()) continue;
      cards += result_card(with_spaces(name) + epoch_of(*row), fixed((*row)[name].get<double>(), 4));
      break;
    }
  return cards;
}

std::string header(const Json& run, const Json& config, const Json& metrics, const std::string& title) {
  const std::string status = text_of(run, "status");
  const std::string state = status.substr(0, status.find(':'));
  const bool is_synthetic = run.contains("dataset") && text_of(run["dataset"], "source") == "synthetic";
  std::string epochs;
  for (const auto& option : config)
    if (option[0] == "epochs") epochs = " of " + option[1].get<std::string>();
  const std::string detail = status.size() > state.size() ? status.substr(state.size()) : "";
  return "<header>\n<h1>" + escape_html(title) + (is_synthetic ? " <span class=\"badge\">synthetic data</span>" : "") +
         "</h1>\n<p class=\"status " + escape_html(state) + "\"><b>" + escape_html(state) + "</b>" +
         escape_html(detail) + " · " + std::to_string(metrics.size()) + escape_html(epochs) + " epochs · " +
         escape_html(text_of(run, "program")) + " · " + escape_html(text_of(run, "written")) +
         "</p>\n<div class=\"results\">\n" + result_cards(run, metrics) + "</div>\n</header>\n";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  return escaped;
}

std::string report_page(const std::filesystem::path& run_directory) {
  const Json run = read_run(run_directory);
  const Json config = read_config(run_directory), metrics = read_metrics(run_directory);
  std::string title = run.contains("dataset") ? text_of(run["dataset"], "name") : "";
  for (const auto& option : config)
    if (option[0] == "model") title += " · " + option[1].get<std::string>();
  const Json data{{"run", run},
                  {"config", config},
                  {"metrics", metrics},
                  {"confusion", read_confusion(run_directory)},
                  {"files", names_of_files(run_directory)}};
  const bool goes_on = text_of(run, "status") == "running";
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n";
  if (goes_on) page += "<meta http-equiv=\"refresh\" content=\"20\">\n";
  page.append("<link rel=\"icon\" href=\"data:,\">\n<title>").append(escape_html(title)).append("</title>\n<style>\n");
  page.append(kPageStyle).append("</style>\n</head>\n<body>\n").append(header(run, config, metrics, title));
  page.append("<main><noscript>The charts need JavaScript.</noscript></main>\n");
  page.append("<script type=\"application/json\" id=\"data\">")
      .append(script_safe(data))
      .append("</script>\n<script>\n");
  return page.append(kPageScript).append("</script>\n</body>\n</html>\n");
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
