// benchmarks/gather_rounds.h - rows gathered in GPU memory, for the gather benchmark.
#pragma once

#include <span>
#include <vector>

#include "core/types.h"
#include "store/row_table.h"

namespace salient {

/// Bytes of rows per second, a value per round.
struct GpuGatherRates {
  std::vector<double> gather;
  std::vector<double> copy;  ///< of as many bytes, from one place in GPU memory to another
};

/// Gathers from a copy of the table in GPU memory, as the batch loader does, and checks the last round.
/// @param table  host
/// @param calls  row_of of each call of a round, all of the same size: several, so that no cache has their rows yet
/// @throws Error{kDeviceMemory}; Error{kNoDevice} in a build without CUDA
GpuGatherRates gather_on_gpu(RowTable table, std::span<const std::vector<NodeId>> calls, int rounds);

}  // namespace salient
