// apps/doctor/ceilings.h - how fast this machine can be at best at what a training run does.
#pragma once

#include <span>

#include "core/types.h"
#include "engine/comm/communicator.h"
#include "store/row_table.h"

namespace salient::doctor {

/// Per second; 0 = not measured.
struct Ceilings {
  int cores = 1;                 ///< that do the measured work together
  double copied_bytes = 0;       ///< memory copies
  double random_row_bytes = 0;   ///< rows of 256 bytes, gathered from random places
  double random_reads = 0;       ///< of 4 bytes of an edge array, which sampling is bound by
  double operations = 0;         ///< multiplications and additions of f32 on the cores
  double pinned_bytes = 0;       ///< to a GPU
  double all_reduced_bytes = 0;  ///< between all ranks, over MPI
};

/// Takes 0.3 GB, 0.2 GB a core, and a few seconds. @param is_gpu_there  whether a copy to it is measured
Ceilings measure_ceilings(int cores, bool is_gpu_there);

/// Reads of 4 bytes per second that `cores` threads make at random places.
double random_read_rate(std::span<const NodeId> entries, int cores);

/// Bytes of rows per second that `cores` threads gather from random places of the table.
double random_row_rate(RowTable table, int cores);

/// Of 16 MB, median of five. Collective.
double all_reduce_rate(Communicator& comm);

}  // namespace salient::doctor
