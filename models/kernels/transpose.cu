// models/kernels/transpose.cu - a hop's edges sorted by source on the device.
//
// Work split  CUB's radix sort of (source, position) pairs; then a thread per edge and per source, grid stride.
// Access      the searches in indptr and in the sorted sources run through the L2 cache.
// Limit       the sort: as many passes over the pairs as the sources have bytes.
// Sync        none; the sort is stable, so the order is that of the host's counting sort.
#include <cub/device/device_radix_sort.cuh>

#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/transpose.h"

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

/// `edge` becomes the numbers in the order of their sources.
struct Pairs {
  const LocalId* sources;
  LocalId* sorted_sources;
  const LocalId* numbers;
  LocalId* edge;
  std::int64_t count;
};

cudaError_t sort(void* scratch, std::size_t& bytes, const Pairs& p, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, p.sources, p.sorted_sources, p.numbers, p.edge, p.count, 0, 32,
                                         stream);
}

}  // namespace

std::size_t transpose_scratch_bytes(std::int64_t num_edges) {
  std::size_t bytes = 0;
  cuda_check(sort(nullptr, bytes, {nullptr, nullptr, nullptr, nullptr, num_edges}, nullptr));
  return bytes;
}

void transpose(const HopEdges& hop, std::int64_t num_edges, const TransposeBuffers& to, cudaStream_t stream) {
  if (num_edges > 0) {
    LocalId* const numbers = to.destination;  // until the destinations are known
    number_kernel<<<blocks_for(num_edges), kThreadsPerBlock, 0, stream>>>(num_edges, numbers);
    cuda_check(cudaGetLastError());
    std::size_t scratch_bytes = to.scratch_bytes;
    cuda_check(sort(to.scratch, scratch_bytes, {hop.indices, to.keys, numbers, to.edge, num_edges}, stream));
    destination_kernel<<<blocks_for(num_edges), kThreadsPerBlock, 0, stream>>>(hop, num_edges, to.edge, to.destination);
    cuda_check(cudaGetLastError());
  }
  source_indptr_kernel<<<blocks_for(hop.num_src + 1), kThreadsPerBlock, 0, stream>>>(hop.num_src, num_edges, to.keys,
                                                                                     to.indptr);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
