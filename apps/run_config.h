// apps/run_config.h - config.toml of a run directory: what is written there, and how a trained run is read from it.
#pragma once

#include <filesystem>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/train/train_options.h"

namespace salient {

/// Writes DIR/config.toml, which is read from any working directory: without the directories of this run, and with
/// whole paths to the data.
/// @param said  as the user chose them: what they left open is resolved anew wherever the configuration is used
/// @throws Error{kIo}.
void write_config(const std::filesystem::path& directory, TrainOptions said);

/// The options that the run was trained with, from its config.toml, which only rank 0 needs to see. Collective.
/// @throws Error{kNoInput} when there is no such run; Error{kBadData} when config.toml is not the configuration of one.
TrainOptions read_run_options(Communicator& comm, const std::filesystem::path& run);

}  // namespace salient
