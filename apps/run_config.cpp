// apps/run_config.cpp - see run_config.h.
#include "apps/run_config.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/older_runs.h"
#include "apps/train_command.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/files/json_reader.h"
#include "core/files/replace_text_file.h"
#include "engine/comm/agreement.h"
#include "engine/report/run_directory.h"
#include "engine/train/checkpoint.h"
#include "engine/train/class_weights.h"
#include "store/dataset_name.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Whether the run's model was made without features of edges, by its checkpoints: sage did not read them once, and
/// other data than it was trained on may have some. Of a run without checkpoints it is not known.
bool is_without_edges(const fs::path& run) {
  try {
    return read_origin(run / "checkpoints", "latest").edge_features == 0;
  } catch (const Error&) {
    return false;  // whoever needs a checkpoint says what is wrong with it
  }
}

/// The configuration of a run of sage with another value of an option, whether it has a line of it or not.
std::string with_line(const std::string& text, const std::string& option, const std::string& value) {
  const std::string wanted = option + " = \"" + value + "\"\n";
  std::istringstream lines(text);
  std::string changed, line;
  bool is_sage = true, has_line = false;  // without a line the default
  while (std::getline(lines, line)) {
    if (line.starts_with("model = ")) is_sage = line.starts_with("model = \"" + name_of(ModelKind::kSage) + "\"");
    const bool is_it = line.starts_with(option + " = ");
    has_line |= is_it;
    changed += is_it ? wanted : line + "\n";
  }
  if (!has_line) changed += wanted;
  return is_sage ? changed : text;
}

std::string read_config(const fs::path& run, Topic topic) {
  std::error_code error;
  if (!is_there(run) || !fs::is_directory(run, error))
    fail(ErrorKind::kNoInput, run.string() + ": no such run directory", topic);
  if (!is_there(run / "config.toml"))
    fail(ErrorKind::kNoInput, run.string() + ": holds no config.toml, so no run was made there", topic);
  const std::string text = read_text_file(run / "config.toml");
  return is_without_edges(run) ? with_line(text, "edge-features", name_of(EdgeFeatures::kNone)) : text;
}

/// Empty in files of runs from before it was there.
std::string read_precision(const fs::path& file) {
  const JsonObject json = JsonObject::parse(read_text_file(file), file.string());
  const std::vector<std::string> facts = json.keys();
  if (std::ranges::find(facts, "resolved") == facts.end()) return {};
  const JsonObject resolved = json.object("resolved");
  const std::vector<std::string> keys = resolved.keys();
  if (std::ranges::find(keys, "precision") == keys.end()) return {};
  std::string name = resolved.string("precision");
  if (!value_named<Precision>(name)) resolved.refuse("precision", "is none");
  return name;
}

TrainOptions parse_config(const std::string& text, const std::string& file) {
  TrainOptions options;
  try {
    const auto assignments = with_older_values(options::from_toml_text(text, file));
    options::apply(options, std::span<const options::Assignment>(assignments));
    refuse(problems_of(options));
  } catch (const Error& error) {
    fail(ErrorKind::kBadData, file + ": is not the configuration of a run: " + error.what());
  }
  return options;
}

}  // namespace

std::string read_resumed_config(const fs::path& run) { return read_config(run, Topic::kNone); }

TrainOptions as_written(TrainOptions said) {
  said.output.directory = said.output.resume = "";
  said.data.dataset = whole_path(said.data.dataset);
  said.data.root = fs::absolute(said.data.root).string();
  std::string& weights = said.optimisation.class_weights;
  if (weights != kNoClassWeights && weights != kBalancedClasses) weights = fs::absolute(weights).string();
  return said;
}

TrainOptions read_written_options(const fs::path& run) {
  return parse_config(read_config(run, Topic::kRunDirectory), (run / "config.toml").string());
}

void write_config(const fs::path& directory, TrainOptions said) {
  std::ostringstream config;
  options::print_toml(config, as_written(std::move(said)));
  replace_text_file(directory / "config.toml", config.str());
}

std::optional<Precision> precision_of_run(Communicator& comm, const fs::path& run) {
  std::string name;
  together(comm, [&] {
    if (comm.rank() == 0 && is_there(run / "run.json")) name = read_precision(run / "run.json");
  });
  comm.broadcast(name);
  return value_named<Precision>(name);
}

TrainOptions read_run_options(Communicator& comm, const fs::path& run) {
  std::string text;
  together(comm, [&] {
    if (comm.rank() == 0) text = read_config(run, Topic::kRunDirectory);
  });
  comm.broadcast(text);
  TrainOptions options;
  together(comm, [&] { options = parse_config(text, (run / "config.toml").string()); });
  if (!options.precision) options.precision = precision_of_run(comm, run).value_or(Precision::kFp32);
  return options;
}

}  // namespace salient
