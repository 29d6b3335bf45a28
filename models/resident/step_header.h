// models/resident/step_header.h - what changes from step to step, in device memory for the kernels.
#pragma once

#include <cstdint>

namespace salient {

struct StepHeader {
  std::uint32_t seed = 0;         ///< of the run
  std::uint32_t epoch = 0;        ///< from 1
  std::uint32_t batch = 0;        ///< number of the global batch in its epoch
  std::uint32_t global_step = 0;  ///< of the run, from 0
  std::uint32_t first_seed = 0;   ///< this rank's share of the batch, in the order of the epoch
  std::uint32_t num_seeds = 0;    ///< in it, possibly none
  float gradient_scale = 1;       ///< 1 / EpochSeeds::loss_divisor() of the global batch
  double learning_rate = 0;       ///< of the update, where the step has one
  // Of batches of links, whose seeds above are links:
  std::uint32_t first_in_batch = 0;  ///< of all ranks, in the order of the epoch
  std::uint32_t links_in_batch = 0;

  bool operator==(const StepHeader&) const = default;
};

}  // namespace salient
