// engine/report/run_files.h - what the files of a run directory say, as JSON. For this folder's pages; slow to include.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace salient {

using Json = nlohmann::ordered_json;

/// run.json is required; what else is missing or cannot be read is empty.
struct RunFiles {
  Json run{};      ///< run.json; of a run that was killed, the status says so
  Json config{};   ///< [[name, value], ...] of config.toml in file order
  Json metrics{};  ///< the rows of metrics.jsonl; a torn last line is left out
};

/// @throws Error{kNoInput} for a folder without run.json, Error{kBadData} for one that is no JSON object, Error{kIo}.
RunFiles read_run_files(const std::filesystem::path& directory);

/// Of DIR/config.toml, as RunFiles has it; empty where there is none.
Json read_config(const std::filesystem::path& directory);

/// Options that may change a run's results or times, with their values, in file order.
std::vector<std::pair<std::string, std::string>> compared_options(const Json& config);

/// The text of `object[key]`, empty when there is none.
std::string text_of(const Json& object, const char* key);

/// The value of an option in RunFiles::config, empty when it is not there.
std::string option_of(const Json& config, const char* name);

/// A status "failed: out of memory" is shown as the state "failed" and the detail ": out of memory".
struct ShownStatus {
  std::string state{}, detail{};
};
ShownStatus shown_status(const Json& run);

/// Whether the data set says of itself that it was generated.
bool is_synthetic(const Json& run);

}  // namespace salient
