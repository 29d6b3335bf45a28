// models/resident/parameter_update.cu - see parameter_update.h.
//
// Work split  a thread per element; grid stride. With peers the grid is small enough to be on the GPU as a whole.
// Access      streams of neighbouring words.
// Limit       latency; with peers that of NVLink.
// Sync        a block's, around Adam's corrections; an atomic a block; with peers a thread waits for its elements.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/adam.cuh"
#include "models/kernels/launch.cuh"
#include "models/resident/parameter_update.h"
#include "models/resident/peer_sums.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksWithPeers)
    update_with_peers_kernel(AdamState state, AdamRates rates, const __grid_constant__ PeerSums peers,
                             const StepHeader* __restrict__ header) {
  __shared__ AdamCorrections corrections;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const PeerSum sum(peers);
  for (std::int64_t i = first; i < state.size; i += stride) sum.send(i, state.gradients[i]);
  AdamCorrections::compute(rates, header->learning_rate, *state.step, &corrections);
  __syncthreads();
  for (std::int64_t i = first; i < state.size; i += stride)
    AdamElement::of(state, i).after(sum.receive(i), rates, corrections).store(state, i);
  __syncthreads();
  if (threadIdx.x == 0 && count_adam_step(state, gridDim.x)) sum.end();
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void update_parameters(const ParameterUpdate& update, const StepHeader* header, cudaStream_t stream) {
  if (!update.peers) return adam_step(update.state, update.rates, stream, &header->learning_rate);
  require(update.state.size <= update.peers->num_values, "parameters fit the peers' memory");
  const unsigned blocks = std::min(blocks_for(update.state.size), most_blocks_with_peers());
  update_with_peers_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(update.state, update.rates, *update.peers, header);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
