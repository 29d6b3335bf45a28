// engine/train/trained_run.h - opens the model of a run. Only rank 0 needs to see the run's folder.
#pragma once

#include <filesystem>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/train/checkpoint.h"
#include "engine/train/train_options.h"
#include "models/model.h"
#include "store/dataset.h"

namespace salient {

/// A run's model with the weights of one checkpoint, on the compute device.
struct TrainedModel {
  std::shared_ptr<Model> model{};
  std::filesystem::path checkpoint{};  ///< on rank 0
  CheckpointOrigin origin{};           ///< on rank 0
};

/// Which model, and how it is to compute.
struct ModelOfRun {
  std::filesystem::path run;
  std::string checkpoint;       ///< as find_checkpoint()
  const TrainOptions& options;  ///< of the run
  Numerics numerics{};
};

/// Collective. @param dataset  has the run's feature width and classes: of other data, seen_by_run().
/// @throws Error{kNoInput}, Error{kBadData}.
TrainedModel open_trained_model(Communicator& comm, const ComputeDevice& device, const ModelOfRun& which,
                                const Dataset& dataset);

}  // namespace salient
