// benchmarks/bench_exchange.h - what an exchange of gradients costs, beside the library's own all-reduce.
#pragma once

#include <cstddef>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/device/compute_device.h"

namespace salient {

struct ExchangeTimes {
  double seconds = 0;       ///< of Communicator::all_reduce_sum(), median of several rounds
  double bare_seconds = 0;  ///< of ncclAllReduce or MPI_Allreduce, taken in turns with it
};

/// Times all-reduces of `count` floats that follow each other without a pause, and checks one sum. Collective; for two
/// ranks or more.
///
/// @param device  where the data is: as for `comm`.
/// @throws Error{kInternal} when the sum is wrong.
ExchangeTimes time_exchange(Communicator& comm, const Launch& launch, const ComputeDevice& device, std::size_t count);

}  // namespace salient
