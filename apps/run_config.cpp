// apps/run_config.cpp - see run_config.h.
#include "apps/run_config.h"

#include <span>
#include <sstream>
#include <system_error>

#include "apps/older_runs.h"
#include "apps/train_command.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/files/replace_text_file.h"
#include "engine/comm/agreement.h"
#include "engine/report/run_directory.h"
#include "store/dataset_name.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

std::string read_config(const fs::path& run) {
  std::error_code error;
  if (!is_there(run) || !fs::is_directory(run, error))
    fail(ErrorKind::kNoInput, run.string() + ": no such run directory", Topic::kRunDirectory);
  if (!is_there(run / "config.toml"))
    fail(ErrorKind::kNoInput, run.string() + ": holds no config.toml, so no run was made there", Topic::kRunDirectory);
  return read_text_file(run / "config.toml");
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

void write_config(const fs::path& directory, TrainOptions said) {
  said.output.directory = said.output.resume = "";
  said.data.dataset = whole_path(said.data.dataset);
  said.data.root = fs::absolute(said.data.root).string();
  std::ostringstream config;
  options::print_toml(config, said);
  replace_text_file(directory / "config.toml", config.str());
}

TrainOptions read_run_options(Communicator& comm, const fs::path& run) {
  std::string text;
  together(comm, [&] {
    if (comm.rank() == 0) text = read_config(run);
  });
  comm.broadcast(text);
  TrainOptions options;
  together(comm, [&] { options = parse_config(text, (run / "config.toml").string()); });
  return options;
}

}  // namespace salient
