// models/kernels/transpose.cu - a hop's edges sorted by source on the device, for gradients that are summed in a fixed order.
//
// Work split  CUB's radix sort of (source, position) pairs; then a thread per edge and per source, grid stride.
// Access      the searches in indptr and in the sorted sources run through the L2 cache.
// Limit       the sort: as many passes over the pairs as the sources have bytes.
// Sync        none; the sort is stable, so the order is that of the host's counting sort.
#include <cub/device/device_radix_sort.cuh>

#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/segment.h"

namespace salient {
namespace {

/// The first of values[0 .. count) that is above `bound`, as a position.
__device__ LocalId upper_bound(const LocalId* values, std::int64_t count, std::int64_t bound) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (__ldg(values + middle) > bound)
      high = middle;
    else
      low = middle + 1;
  }
  return static_cast<LocalId>(low);
}

__global__ void __launch_bounds__(kThreadsPerBlock) number_kernel(std::int64_t count, LocalId* __restrict__ numbers) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < count; i += stride)
    numbers[i] = static_cast<LocalId>(i);
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    destination_kernel(HopEdges hop, std::int64_t num_edges, const LocalId* __restrict__ edge,
                       LocalId* __restrict__ destination) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < num_edges; t += stride)
    destination[t] = upper_bound(hop.indptr, hop.num_dst + 1, edge[t]) - 1;
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    source_indptr_kernel(std::int64_t num_src, std::int64_t num_edges, const LocalId* __restrict__ sorted_sources,
                         LocalId* __restrict__ indptr) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t j = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; j <= num_src; j += stride)
    indptr[j] = upper_bound(sorted_sources, num_edges, j - 1);
}

cudaError_t sort(void* scratch, std::size_t& bytes, const LocalId* sources, LocalId* sorted, const LocalId* numbers,
                 LocalId* edge, std::int64_t num_edges, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, sources, sorted, numbers, edge, num_edges, 0, 32, stream);
}

}  // namespace

std::size_t transpose_scratch_bytes(std::int64_t num_edges) {
  std::size_t bytes = 0;
  cuda_check(sort(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, num_edges, nullptr));
  return bytes;
}

void transpose(const HopEdges& hop, std::int64_t num_edges, LocalId* indptr, LocalId* destination, LocalId* edge,
               LocalId* keys, void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (num_edges > 0) {
    number_kernel<<<blocks_for(num_edges), kThreadsPerBlock, 0, stream>>>(num_edges,
                                                                          destination);  // until it is needed
    cuda_check(cudaGetLastError());
    cuda_check(sort(scratch, scratch_bytes, hop.indices, keys, destination, edge, num_edges, stream));
    destination_kernel<<<blocks_for(num_edges), kThreadsPerBlock, 0, stream>>>(hop, num_edges, edge, destination);
    cuda_check(cudaGetLastError());
  }
  source_indptr_kernel<<<blocks_for(hop.num_src + 1), kThreadsPerBlock, 0, stream>>>(hop.num_src, num_edges, keys,
                                                                                     indptr);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
