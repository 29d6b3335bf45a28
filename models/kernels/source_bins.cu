// models/kernels/source_bins.cu - see source_bins.h, and source_bins.cuh for the kernel.
#include "models/kernels/source_bins.cuh"

#include "core/cuda/cuda.h"

namespace salient {
namespace {

__global__ void __launch_bounds__(kThreadsPerBlock)
    place_kernel(HopEdges hop, OwnEntries own, Bins bins, RowsOfSources rows) {
  place_entries(hop, own, bins, rows, std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x,
                std::int64_t{gridDim.x} * kThreadsPerBlock);
}

}  // namespace

void clear_bins(const Bins& bins, std::int64_t num_src, cudaStream_t stream) {
  cuda_check(cudaMemsetAsync(bins.of, 0, static_cast<std::size_t>(num_src + 1) * sizeof(Bin), stream));
}

void bin_by_source(const HopEdges& hop, OwnEntries own, const Bins& bins, const RowsOfSources& rows,
                   cudaStream_t stream) {
  clear_bins(bins, hop.num_src, stream);
  if (hop.num_dst == 0) return;
  place_kernel<<<blocks_to_place(hop), kThreadsPerBlock, 0, stream>>>(hop, own, bins, rows);
  cuda_check(cudaGetLastError());
}

unsigned blocks_on_device(int per_multiprocessor) {
  int device = 0, multiprocessors = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(per_multiprocessor * multiprocessors);
}

}  // namespace salient
