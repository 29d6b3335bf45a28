// models/kernels/source_bins.cu - see source_bins.h.
//
// Work split  kLanesPerPlacedRow lanes per destination, an entry each; stride over destinations.
// Access      a bin is one 32-byte sector, where a count and a row are written; most of the bins are in the L2 cache.
// Limit       the latency of an atomic, kPlacedTogether at a time.
// Sync        integer atomics on the bins' counts, and one for the lanes of a warp that spill together.
#include "models/kernels/source_bins.h"

#include <cooperative_groups.h>

#include "core/cuda/cuda.h"
#include "core/cuda/device_attribute.h"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kLanesPerPlacedRow = 8, kPlacedTogether = 4;

/// Lanes of one warp may come here alone or together.
__device__ void spill(const SpilledEntry& entry, const Bins& bins) {
  const auto group = cooperative_groups::coalesced_threads();
  const auto rank = static_cast<int>(group.thread_rank());
  LocalId first = 0;
  if (rank == 0) first = atomicAdd(bins.num_spilled, static_cast<int>(group.size()));
  bins.spilled[group.shfl(first, 0) + rank] = entry;
}

__device__ void put(LocalId source, LocalId row, LocalId slot, const Bins& bins) {
  if (slot >= kEntriesPerBin) return spill({source, row}, bins);
  bins.of[source].row[slot] = row;
}

__global__ void __launch_bounds__(kThreadsPerBlock) place_kernel(HopEdges hop, Bins bins) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x,
                     threads = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t i = thread / kLanesPerPlacedRow; i < hop.num_dst; i += threads / kLanesPerPlacedRow) {
    const LocalId last = __ldg(hop.indptr + i + 1);
    for (LocalId e = __ldg(hop.indptr + i) + static_cast<LocalId>(thread % kLanesPerPlacedRow); e < last;
         e += kPlacedTogether * kLanesPerPlacedRow) {
      LocalId source[kPlacedTogether], slot[kPlacedTogether];
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k)
        source[k] = e + k * kLanesPerPlacedRow < last ? __ldg(hop.indices + e + k * kLanesPerPlacedRow) : -1;
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k)
        if (source[k] >= 0) slot[k] = atomicAdd(&bins.of[source[k]].count, 1);
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k)
        if (source[k] >= 0) put(source[k], static_cast<LocalId>(i), slot[k], bins);
    }
  }
}

}  // namespace

// ---- host code: size the grid, launch, check -------------------------------------------------------------

void bin_by_source(const HopEdges& hop, const Bins& bins, cudaStream_t stream) {
  cuda_check(cudaMemsetAsync(bins.of, 0, static_cast<std::size_t>(hop.num_src + 1) * sizeof(Bin), stream));
  if (hop.num_dst == 0) return;
  place_kernel<<<blocks_for(hop.num_dst * kLanesPerPlacedRow), kThreadsPerBlock, 0, stream>>>(hop, bins);
  cuda_check(cudaGetLastError());
}

unsigned blocks_on_device(int per_multiprocessor) {
  return static_cast<unsigned>(per_multiprocessor * device_attribute(cudaDevAttrMultiProcessorCount));
}

}  // namespace salient
