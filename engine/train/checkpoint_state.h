// engine/train/checkpoint_state.h - state.json of a checkpoint: where the run was, sealed by a checksum.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/train/checkpoint.h"

namespace salient {

/// How two model_config_json() differ: "6805 features, trained on 3170; hidden_dim 64, trained with 256".
/// A field that one of them leaves out is "unset" there. Of text that is no JSON the message shows all.
std::string model_difference(const std::string& trained, const std::string& asked);

/// What state.json says, but for the checksums of the files beside it ("files").
nlohmann::ordered_json state_json(const TrainProgress& progress, const CheckpointIdentity& identity);

/// The text of state.json, see sealed_json().
std::string sealed_text(const nlohmann::ordered_json& state);

constexpr const char* kChecksum = "checksum";  ///< the field that sealed_json() adds

/// Accepts what sealed_text() made, and text without any checksum, as versions before 0.2 wrote it.
/// @throws Error{kBadData} for other text, naming `file`.
void check_state_text(const std::string& text, const std::filesystem::path& file);

/// The position in the run. @param folder  epoch-NNNN, whose name the position must agree with.
/// @throws Error{kBadData} for a figure that no run writes; nlohmann's exception for a field that is missing or of
///         another type.
TrainProgress progress_in(const nlohmann::ordered_json& state, const std::string& metric,
                          const std::filesystem::path& folder);

/// Of a state of an older version the schema is not complete. @param file  named in errors
/// @throws Error{kBadData} where a field is missing or of another type
CheckpointOrigin origin_in(const nlohmann::ordered_json& state, const std::filesystem::path& file);

/// "epoch-0004" of a position after epoch 4, or inside it: the checkpoint at its end replaces the one inside it.
std::string checkpoint_name(const TrainProgress& progress);
std::string checkpoint_name(int epoch);

}  // namespace salient
