// models/exact/row_pieces.cu - see all_neighbors.h: cuts long rows into pieces.
//
// Work split  a thread for each row, twice: the second time the length of pieces is known.
// Limit       memory: two offsets a row.
// Sync        atomic counters, so that rows take places in any order; pieces of one have theirs.
#include "models/exact/all_neighbors.h"
#include "models/exact/neighbor_runs.cuh"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

constexpr int kListThreads = kThreadsPerBlock;

__device__ std::int64_t thread_in_grid() { return std::int64_t{blockIdx.x} * kListThreads + threadIdx.x; }

__global__ void __launch_bounds__(kListThreads) count_long_entries_kernel(Rows rows, GatherCounts* counts) {
  unsigned long long of_thread = 0;
  for (std::int64_t i = thread_in_grid(); i < rows.block.count; i += std::int64_t{gridDim.x} * kListThreads) {
    const std::uint32_t degree = rows.graph.degree(rows.node_of(i));
    if (degree > kLongRow) of_thread += degree;
  }
  if (of_thread > 0) atomicAdd(&counts->long_entries, of_thread);
}

__global__ void __launch_bounds__(kListThreads) list_pieces_kernel(Rows rows, GatherScratch scratch) {
  const auto longest = static_cast<std::uint32_t>(piece_entries(scratch));
  for (std::int64_t i = thread_in_grid(); i < rows.block.count; i += std::int64_t{gridDim.x} * kListThreads) {
    const std::uint32_t degree = rows.graph.degree(rows.node_of(i));
    if (degree <= longest) continue;
    const auto pieces = static_cast<std::int32_t>((degree + std::uint64_t{longest} - 1) / longest);
    const std::int32_t first = atomicAdd(&scratch.counts->num_pieces, pieces);
    for (std::int32_t k = 0; k < pieces; ++k) scratch.pieces[first + k] = {static_cast<std::int32_t>(i), k};
  }
}

}  // namespace

void list_pieces(const DeviceCsr& graph, const NodeBlock& block, const GatherScratch& scratch, cudaStream_t stream) {
  const Rows rows{graph, block};
  cuda_check(cudaMemsetAsync(scratch.counts, 0, sizeof *scratch.counts, stream));
  const unsigned blocks = blocks_for(rows.block.count);
  count_long_entries_kernel<<<blocks, kListThreads, 0, stream>>>(rows, scratch.counts);
  list_pieces_kernel<<<blocks, kListThreads, 0, stream>>>(rows, scratch);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
