// engine/train/checkpoint.h - everything a run needs to go on: weights, optimiser, position, best result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/report/metric.h"
#include "engine/train/flat_adam.h"
#include "engine/train/schedule.h"
#include "models/model.h"
#include "store/data_schema.h"
#include "store/label_table.h"

namespace salient {

/// How far a run has come. Draws are functions of (seed, epoch, step), so no generator state is needed.
struct TrainProgress {
  int epoch = 0;                   ///< finished epochs
  std::int64_t step_in_epoch = 0;  ///< steps done of the epoch after these; 0 between epochs
  std::int64_t global_step = 0;
  double partial_loss_sum = 0;  ///< over the known labels of those steps
  std::int64_t partial_correct = 0;
  std::int64_t partial_labels = 0;
  int best_epoch = 0;      ///< 0 = none validated yet
  double best_valid = 0;   ///< of the run's metric
  Figures best_figures{};  ///< of the same validation
  PlateauState plateau{};
};

/// What shapes a model's parameters, and what its logits mean, as JSON: stored beside the weights, compared before they
/// are loaded.
std::string model_config_json(const ModelOptions& options, Task task);

/// Facts that must agree before a checkpoint may be continued or used.
struct CheckpointIdentity {
  std::string dataset_name{};
  std::string dataset_fingerprint{};
  std::string model_config{};  ///< JSON of what shapes the model
  std::string metric{};        ///< that chose the best epoch: the name of a Metric
  std::uint32_t seed = 0;
  int world_size = 1;
  std::int64_t global_batch_size = 0;
  std::string program_version{};
  DataSchema schema{};  ///< of the data set: kept, not compared, as its checksum covers it
};

/// Writes ROOT/epoch-NNNN (model.safetensors, optimizer.safetensors, state.json; FORMATS: "checkpoint") under a
/// temporary name, fsynced, then renamed, points ROOT/latest at it, and ROOT/best if it is the best epoch; removes
/// all but the newest `keep` and the best.
///
/// @throws Error{kIo} (disk full): the checkpoints before it are untouched. After a crash at any moment there is one
///         under every name that had one, see replace_directory().
void write_checkpoint(const std::filesystem::path& root, const Model& model, const FlatAdam& optimizer,
                      const TrainProgress& progress, const CheckpointIdentity& identity, int keep);

/// Reads the newest checkpoint into model and optimiser, and tidies up behind a crash: points ROOT/latest and
/// ROOT/best where they belong, and removes what write_checkpoint() would have removed. When it is damaged, the error
/// names the newest one that is not.
///
/// @throws Error{kNoInput} without a checkpoint; Error{kBadData} for a damaged one, or one of another model or data
///         set.
TrainProgress read_latest_checkpoint(const std::filesystem::path& root, Model& model, FlatAdam& optimizer,
                                     const CheckpointIdentity& identity, int keep);

/// Whether there is one below `root`, whole or damaged: a run has none before its first epoch is done.
/// @throws Error{kIo} where that cannot be read.
bool has_checkpoint(const std::filesystem::path& root);

/// Throws what read_latest_checkpoint() would for a checkpoint that cannot be gone on from; loads nothing.
void check_latest_checkpoint(const std::filesystem::path& root, const CheckpointIdentity& identity);

/// ROOT/NAME without symbolic links. @param name  "best" (the latest where no epoch was validated) | "latest" |
///                                         "epoch-NNNN"
/// @throws Error{kNoInput}, naming the checkpoints that are there.
std::filesystem::path find_checkpoint(const std::filesystem::path& root, const std::string& name);

/// Where weights come from.
struct CheckpointOrigin {
  int epoch = 0;  ///< finished when it was written
  std::string dataset_name{}, dataset_fingerprint{};
  DataSchema schema{};    ///< of that data set
  int edge_features = 0;  ///< columns of the features of edges that its model reads
};

/// What a run was trained on, which all its checkpoints agree on. Reads no weights; `epoch` is that of any checkpoint.
/// @param name  as find_checkpoint()
/// @throws Error{kNoInput}; Error{kBadData} where no checkpoint says it.
CheckpointOrigin read_origin(const std::filesystem::path& root, const std::string& name);

/// Loads the weights of one checkpoint, to use them rather than to go on.
/// @throws Error{kNoInput}; Error{kBadData} for a damaged one, or one of another model.
CheckpointOrigin load_weights(const std::filesystem::path& folder, Model& model, const std::string& model_config);

struct LoadedWeights {
  std::filesystem::path folder{};
  CheckpointOrigin origin{};
};

/// find_checkpoint() and load_weights() beside a run that removes its old checkpoints: "best" or "latest" is looked for
/// again when its folder goes before it is read. @throws as the two
LoadedWeights load_named_weights(const std::filesystem::path& root, const std::string& name, Model& model,
                                 const std::string& model_config);

/// Loads the weights of ROOT/best, or of ROOT/latest where no epoch was validated. @throws as above.
void load_best_weights(const std::filesystem::path& root, Model& model);

}  // namespace salient
