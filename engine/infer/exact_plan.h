// engine/infer/exact_plan.h - nodes and blocks of each layer of exact inference, and the memory they take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/launch.h"
#include "engine/infer/activations.h"
#include "engine/infer/model_on_ranks.h"
#include "engine/infer/needed_nodes.h"
#include "engine/infer/row_blocks.h"
#include "loaders/residency.h"
#include "store/dataset.h"

namespace salient {

struct ExactOptions {
  std::optional<ActivationStorage> storage{};        ///< none = the fastest that has room
  std::int64_t host_budget = 0;                      ///< bytes for activations and blocks of all ranks of this host
  std::int64_t device_budget = 0;                    ///< bytes of GPU memory
  std::filesystem::path scratch = ".";               ///< folder for ActivationStorage::kFile
  std::size_t block_bytes = std::size_t{128} << 20;  ///< of the rows that a block gathers; one hub may need more
  std::size_t least_row_bytes = 1;                   ///< that a row counts as, for a model that makes sparse rows dense
  ResidentView data{};                               ///< of the data set: the first layer's rows; its graph is not used
  Launch launch{};  ///< of run_ranks(): which ranks share a host; the default is one rank alone
  int workers = 1;
  int slots = 4;
  int kept_layer = 0;  ///< InferenceRound::layers holds the result of this layer, from 1; 0 = of none
};

/// Of the data set's feature rows; of dense ones exact.
std::size_t mean_row_bytes(const Dataset& dataset);

/// Budgets of four fifths of the memory that is free now.
ExactOptions exact_options_for(const ComputeDevice& device, int workers, int slots);

/// What is computed, and the memory that it takes; the same on all ranks.
struct ExactPlan {
  struct Layer {
    std::size_t width = 0;  ///< of its result
    std::vector<RowBlock> blocks{};
    bool is_kept = false;  ///< until the last layer is done, because the head or the caller reads it
  };
  NeededNodes needed{};
  std::vector<Layer> layers{};
  std::int64_t activation_bytes = 0;  ///< of all layers that live at the same time, at most
  std::int64_t block_bytes = 0;       ///< rows of the largest block, of the widest layer
  std::int64_t slab_bytes = 0;        ///< of all blocks in flight on this host
  ActivationStorage storage = ActivationStorage::kMemory;
};

/// Walks the graph backwards from the targets and measures the model's layers. The blocks depend on graph, targets,
/// model and block_bytes alone, so neither budgets nor ranks change a bit of the result on a CPU.
///
/// The model is left in evaluation mode. Collective.
/// @throws RankError{kDeviceMemory} when options.storage is GPU memory and that does not suffice.
ExactPlan plan_exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, std::span<const NodeId> targets,
                               const ExactOptions& options);

/// The plan in two lines for the log.
std::string to_text(const ExactPlan& plan);

}  // namespace salient
