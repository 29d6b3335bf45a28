// engine/infer/exact_inference.h - predictions from all neighbours, layer by layer: no node is computed twice in a layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/infer/activations.h"
#include "engine/infer/inference_round.h"
#include "engine/infer/needed_nodes.h"
#include "engine/infer/row_blocks.h"
#include "models/model.h"
#include "store/dataset.h"

namespace salient {

struct ExactOptions {
  std::optional<ActivationPlace> place{};            ///< none = the fastest that has room
  std::int64_t host_budget = 0;                      ///< bytes for activations and blocks of all ranks of this host
  std::int64_t device_budget = 0;                    ///< bytes of GPU memory
  std::filesystem::path scratch = ".";               ///< folder for ActivationPlace::kFile
  std::size_t block_bytes = std::size_t{128} << 20;  ///< of the rows that a block gathers; one hub may need more
  RowTable device_features{};                        ///< the data set's rows in GPU memory, if they are there
  int ranks_on_host = 1;
  int workers = 1;
  int slots = 4;
  std::string host{};  ///< ranks that say the same share memory; empty = the name of the machine
  int kept_layer = 0;  ///< this layer's result is wanted in InferenceRound::layers, from 1; 0 = none
};

/// Budgets of four fifths of the memory that is free now.
ExactOptions exact_options_for(const ComputeDevice& device, int workers, int slots);

/// What will be computed, and what memory that takes; the same on all ranks.
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
  ActivationPlace place = ActivationPlace::kMemory;
};

/// Walks the graph backwards from the targets and measures the model's layers. The blocks depend on graph, targets,
/// model and block_bytes alone, so neither budgets nor ranks change a bit of the result on a CPU.
///
/// @param model  on the compute device, in evaluation mode afterwards.
/// Collective. @throws RankError{kDeviceMemory} when options.place says GPU memory and it does not fit.
ExactPlan plan_exact_inference(Model& model, const Dataset& dataset, std::span<const NodeId> targets,
                               const ExactOptions& options, const ComputeDevice& device, Communicator& comm);

/// The plan in a few lines for people.
std::string to_text(const ExactPlan& plan);

/// Rank r computes blocks r, r + size, ... of each layer; then the ranks share the result. Blocks travel through the
/// batch loader as one-hop batches with all neighbours, so sampling them, gathering their rows and copying them overlaps
/// with the computation.
///
/// @param on_round  see there; also called, without nodes, after every block of the layers before the last.
/// Blocks until done. Collective. The model is left in evaluation mode.
/// Cost:    per layer, one visit of every entry of a needed node: gathers and copies entries x width x 4 bytes at most.
/// Memory:  plan.activation_bytes once per host (GPU memory: on every rank) and plan.slab_bytes.
/// Oracle:  sampled_inference() with fanout -1 in every hop, within rounding.
InferenceCounts exact_inference(Model& model, const Dataset& dataset, const ExactPlan& plan,
                                const ExactOptions& options, const ComputeDevice& device, Communicator& comm,
                                const OnRound& on_round = {});

}  // namespace salient
