// loaders/type_rows.cu - see type_rows.h.
//
// Work split  a thread per node; grid stride.
// Access      numbers and rows in order, ids of the batch ascending with gaps: 12 bytes a node, from the L2 cache.
// Sync        none.
#include "loaders/type_rows.h"

#include <algorithm>

#include "core/cuda/cuda.h"

namespace salient {
namespace {

constexpr unsigned kBlockSize = 256;
constexpr std::size_t kMaxBlocks = 8192;  // the grid strides past this

__global__ void __launch_bounds__(kBlockSize)
    type_rows_kernel(const NodeId* __restrict__ nodes, const LocalId* __restrict__ numbers, std::size_t count,
                     NodeId first, NodeId* __restrict__ rows) {
  const std::size_t stride = std::size_t{gridDim.x} * kBlockSize;
  for (std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x; i < count; i += stride)
    rows[i] = nodes[numbers[i]] - first;
}

}  // namespace

void find_type_rows(const NodeId* nodes, const LocalId* numbers, std::size_t count, NodeId first, NodeId* rows,
                    cudaStream_t stream) {
  if (count == 0) return;  // CUDA refuses a grid of zero blocks
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (count + kBlockSize - 1) / kBlockSize));
  type_rows_kernel<<<blocks, kBlockSize, 0, stream>>>(nodes, numbers, count, first, rows);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
