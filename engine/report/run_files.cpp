// engine/report/run_files.cpp - see run_files.h.
#include "engine/report/run_files.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/flat_toml.h"
#include "core/files/is_there.h"
#include "core/files/json_text.h"
#include "engine/report/run_directory.h"

namespace salient {
namespace {

/// Options that change neither a run's results nor its times; what `dataset` names is compared by its fingerprint.
constexpr std::array<std::string_view, 12> kNotCompared{"dataset",   "data-root", "seed",         "trials",
                                                        "out",       "resume",    "trace",        "keep",
                                                        "log-level", "progress",  "comm-timeout", "checkpoint-every"};

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

Json read_metrics(const std::filesystem::path& directory) {
  std::istringstream file(text_if_there(directory / "metrics.jsonl"));
  Json rows = Json::array();
  for (std::string line; std::getline(file, line);) {
    Json row = parse_json<Json>(line);
    if (row.is_object() && row.contains("epoch")) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

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

std::vector<std::pair<std::string, std::string>> compared_options(const Json& config) {
  std::vector<std::pair<std::string, std::string>> options;
  for (const auto& option : config)
    if (!std::ranges::count(kNotCompared, option[0].get<std::string>())) options.emplace_back(option[0], option[1]);
  return options;
}

RunFiles read_run_files(const std::filesystem::path& directory) {
  Json run = read_run(directory);
  return {std::move(run), read_config(directory), read_metrics(directory)};
}

std::string text_of(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string option_of(const Json& config, const char* name) {
  for (const auto& option : config)
    if (option[0] == name) return option[1].get<std::string>();
  return "";
}

ShownStatus shown_status(const Json& run) {
  const std::string status = text_of(run, "status"), state = status.substr(0, status.find(':'));
  return {state, status.substr(state.size())};
}

bool is_synthetic(const Json& run) {
  return run.contains("dataset") && text_of(run["dataset"], "source") == "synthetic";
}

}  // namespace salient
