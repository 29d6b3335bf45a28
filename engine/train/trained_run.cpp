// engine/train/trained_run.cpp - see trained_run.h.
#include "engine/train/trained_run.h"

#include <system_error>

#include "core/error.h"
#include "core/files/file_io.h"
#include "engine/comm/agreement.h"
#include "engine/train/rank_state.h"
#include "engine/train/run_model.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

std::string read_config(const fs::path& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) fail(ErrorKind::kNoInput, "--run " + run.string() + ": no such run directory");
  if (!fs::exists(run / "config.toml", error))
    fail(ErrorKind::kNoInput, "--run " + run.string() + ": holds no config.toml, so no run was made there");
  return read_text_file(run / "config.toml");
}

TrainOptions parse_config(const std::string& text, const std::string& file) {
  TrainOptions options;
  try {
    const auto assignments = options::from_toml_text(text, file);
    options::apply(options, std::span<const options::Assignment>(assignments));
    check(options);
  } catch (const Error& error) {
    fail(ErrorKind::kBadData, file + ": is not the configuration of a run: " + error.what());
  }
  return options;
}

}  // namespace

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

TrainedModel open_trained_model(Communicator& comm, const ComputeDevice& device, const fs::path& run,
                                const TrainOptions& options, const Dataset& dataset, const std::string& checkpoint) {
  const ModelOptions model_options = model_options_of(options, dataset);
  TrainedModel trained;
  together(comm, [&] {
    if (dataset.feature_dim == 0) fail(ErrorKind::kUsage, dataset.name + ": has no features to predict from");
    trained.model = make_model(model_options);
    if (comm.rank() != 0) return;
    trained.checkpoint = find_checkpoint(run / "checkpoints", checkpoint);
    trained.origin = load_weights(trained.checkpoint, *trained.model, model_config_json(model_options, dataset.task));
  });
  trained.model->to(device.torch_device());
  trained.model->eval();
  take_weights_of_rank_0(comm, device, *trained.model);
  return trained;
}

}  // namespace salient
