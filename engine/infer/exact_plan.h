// engine/infer/exact_plan.h - nodes and blocks of each layer of exact inference, and the memory they take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
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
#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

struct ExactOptions {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  std::optional<ActivationStorage> storage{};        ///< none = the fastest that has room
  std::optional<ActivationDtype> type{};             ///< none = f32 where that has room, else f16
  std::int64_t host_budget = 0;                      ///< bytes for all ranks of this host before a file is taken
  std::int64_t free_host_bytes = kUnlimited;         ///< that they must not exceed
  std::int64_t device_budget = 0;                    ///< bytes of GPU memory
  std::filesystem::path scratch = ".";               ///< folder for ActivationStorage::kFile
  std::size_t block_bytes = std::size_t{128} << 20;  ///< of the rows that a block gathers; one hub may need more
  std::size_t least_row_bytes = 1;                   ///< that a row counts as, for a model that makes sparse rows dense
  ResidentView data{};                               ///< of the data set: the first layer's rows; its graph is not used
  Launch launch{};  ///< of run_ranks(): which ranks share a host; the default is one rank alone
  int workers = 1;
  int slots = 4;
  int waiting = 0;      ///< blocks beside those of `slots` whose rows are on their way from other ranks
  int kept_layer = 0;   ///< InferenceRound::layers holds the result of this layer, from 1; 0 = of none
  SamplingRule rule{};  ///< of a typed graph: relations with fanout 0 at a hop have no part in its layer, all others
                        ///< have all their entries; empty = all of all
};

/// Of the data set's feature rows; of dense ones exact. Of a typed graph those of the type that has the largest.
std::size_t mean_row_bytes(const Dataset& dataset);

/// Budgets of four fifths of the memory that is free now, within the limits of control groups.
ExactOptions exact_options_for(const ComputeDevice& device, int workers, int slots);

/// What is computed, and the memory that it takes; the same on all ranks.
struct ExactPlan {
  struct Layer {
    std::size_t width = 0;  ///< of its result
    std::vector<RowBlock> blocks{};
    bool is_kept = false;  ///< until the last layer is done, because the head or the caller reads it
  };
  NeededNodes needed{};
  bool has_input = false;  ///< of a typed graph: the first of `layers` is the model's input()
  std::vector<Layer> layers{};
  std::int64_t activation_bytes = 0;  ///< of all layers that live at the same time, at most
  std::int64_t block_bytes = 0;       ///< rows of the largest block, of the widest layer
  std::int64_t slab_bytes = 0;        ///< of all blocks in flight on this host
  std::int64_t compute_bytes = 0;     ///< of the computation of one block
  int slots = 0;                      ///< blocks in flight on each rank: fewer than asked for where memory is short
  ActivationStorage storage = ActivationStorage::kMemory;
  ActivationDtype type = ActivationDtype::kF32;

  /// @return  which of the model's layers layers[i] is, from 0; -1 = its input()
  int model_layer(std::size_t i) const { return static_cast<int>(i) - (has_input ? 1 : 0); }
  std::string name_of_layer(std::size_t i) const;  ///< "layer 1", "input"
};

/// Walks the graph backwards from the targets and measures the model's layers. Of a typed graph it walks all relations,
/// and the model's input() is a layer, which makes a row of each node from that node alone, so that layers read rows of
/// one width whatever the type. The blocks depend on graph, targets,
/// model and block_bytes alone, so neither ranks nor slots change a bit of the result on a CPU; the type does.
///
/// Of these the first whose memory suffices, and which the options allow; of files the last one always does:
///
///   GPU memory   f32
///   host memory  f32
///   host memory  f16
///   file         f32   if the page cache can hold it, or f32 was asked for
///   file         f16
///
/// The model is left in evaluation mode. Collective.
/// @param dataset  on a GPU without node types
/// @throws RankError{kDeviceMemory} when options.storage is GPU memory and that does not suffice;
///         RankError{kHostMemory} when host memory does not suffice for blocks, or for activations that must be there.
ExactPlan plan_exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, std::span<const NodeId> targets,
                               const ExactOptions& options);

/// The plan in two lines for the log.
std::string to_text(const ExactPlan& plan);

}  // namespace salient
