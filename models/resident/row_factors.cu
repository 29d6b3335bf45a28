// models/resident/row_factors.cu - see row_factors.h.
//
// Work split  a thread per node, which searches its row; once in a run.
// Sync        none.
#include "models/kernels/launch.cuh"
#include "models/resident/row_factors.h"

namespace salient {
namespace {

/// Entries of [begin, end) below `bound`.
__device__ EdgeOffset count_below(const NodeId* indices, EdgeOffset begin, EdgeOffset end, std::uint64_t bound) {
  EdgeOffset low = begin, high = end;
  while (low < high) {
    const EdgeOffset middle = low + (high - low) / 2;  // begins may be negative, see DeviceCsr
    if (indices[middle] < bound)
      low = middle + 1;
    else
      high = middle;
  }
  return low - begin;
}

__global__ void __launch_bounds__(kThreadsPerBlock) factors_kernel(DeviceCsr graph, NodeFactor* __restrict__ factors) {
  for (std::size_t v = std::size_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; v < graph.num_nodes;
       v += std::size_t{gridDim.x} * kThreadsPerBlock) {
    const auto node = static_cast<NodeId>(v);
    const EdgeOffset begin = graph.begin(node), end = begin + graph.degree(node);
    const EdgeOffset loops = count_below(graph.indices, begin, end, v + 1) - count_below(graph.indices, begin, end, v);
    const float root = rsqrtf(static_cast<float>(end - begin - loops + 1));
    factors[v] = {root, root * root * static_cast<float>(1 - loops)};
  }
}

}  // namespace

void find_node_factors(const DeviceCsr& graph, NodeFactor* factors, cudaStream_t stream) {
  factors_kernel<<<blocks_for(static_cast<std::int64_t>(graph.num_nodes)), kThreadsPerBlock, 0, stream>>>(graph,
                                                                                                          factors);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
