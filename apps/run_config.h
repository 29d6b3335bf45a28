// apps/run_config.h - config.toml of a run directory: what is written there, and how a trained run is read from it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/train/train_options.h"

namespace salient {

/// Writes DIR/config.toml, which is read from any working directory: without the directories of this run, and with
/// whole paths to the data.
/// @param said  as the user chose them: what they left open is resolved anew wherever the configuration is used
/// @throws Error{kIo}.
void write_config(const std::filesystem::path& directory, TrainOptions said);

/// `said` as write_config() writes it.
TrainOptions as_written(TrainOptions said);

/// The options that DIR/config.toml has, on this rank. @throws as read_run_options()
TrainOptions read_written_options(const std::filesystem::path& run);

/// The text of DIR/config.toml of a run to resume. @throws Error{kNoInput} when there is no such run
std::string read_resumed_config(const std::filesystem::path& run);

/// read_resumed_config(), or what rank 0 found by it, which alone needs to see the run.
using ConfigReader = std::function<std::string(const std::filesystem::path& run)>;

/// The precision that a run came to where it was left open, from its run.json, which only rank 0 needs to see; none if
/// the run did not come so far. Collective. @throws Error{kBadData} for a file that says nothing sensible about it.
std::optional<Precision> precision_of_run(Communicator& comm, const std::filesystem::path& run);

/// The options that the run was trained with, from its config.toml, which only rank 0 needs to see; a precision that
/// they leave open is that which it came to. Collective.
/// @throws Error{kNoInput} when there is no such run; Error{kBadData} when config.toml is not the configuration of one.
TrainOptions read_run_options(Communicator& comm, const std::filesystem::path& run);

}  // namespace salient
