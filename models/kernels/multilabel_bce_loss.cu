// models/kernels/multilabel_bce_loss.cu - the loss of several labels a node on the device, in two launches.
//
// Work split  one thread per label, grid stride over at most kMultilabelBceBlocks blocks; a last one adds their sums.
// Access      4 + 1 bytes in, 4 out per label, neighbouring threads at neighbouring addresses.
// Limit       a batch has 10^4 to 10^6 labels: the launches cost more than the work.
// Sync        within a block; sums go over shared memory in a fixed tree, so their bits do not depend on timing.
#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/multilabel_bce_loss.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// The sum over the block's threads, on thread 0.
__device__ BceSums sum_of_block(BceSums mine) {
  __shared__ double loss[kThreadsPerBlock], correct[kThreadsPerBlock];
  const unsigned thread = threadIdx.x;
  loss[thread] = mine.loss;
  correct[thread] = mine.correct;
  for (unsigned half = kThreadsPerBlock / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      loss[thread] += loss[thread + half];
      correct[thread] += correct[thread + half];
    }
  }
  return {loss[0], correct[0]};
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    multilabel_bce_loss_kernel(BceTarget target, const float* __restrict__ logits,
                               const std::int8_t* __restrict__ flags, std::int64_t count, float* __restrict__ grad,
                               BceSums* __restrict__ partial) {
  BceSums sum{};
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < count; i += stride) {
    const std::int8_t flag = flags[i];
    float slope = 0;
    if (flag >= 0) {
      const float z = logits[i], t = target.of(flag);
      const float e = expf(-fabsf(z));
      sum.loss += static_cast<double>(fmaxf(z, 0.0f) - t * z + log1pf(e));
      sum.correct += (z > 0) == (flag == 1) ? 1 : 0;
      slope = (z >= 0 ? 1.0f : e) / (1 + e) - t;
    }
    grad[i] = slope;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    add_up_kernel(const BceSums* __restrict__ partial, unsigned num_blocks, BceSums* __restrict__ sums,
                  float* __restrict__ loss) {
  static_assert(kMultilabelBceBlocks <= kThreadsPerBlock, "a thread per block");
  const BceSums sum = sum_of_block(threadIdx.x < num_blocks ? partial[threadIdx.x] : BceSums{});
  if (threadIdx.x != 0) return;
  *sums = sum;
  *loss = static_cast<float>(sum.loss);
}

}  // namespace

// ---- host code: size the grid, launch, check -------------------------------------------------------------

void multilabel_bce_loss(BceTarget target, std::span<const float> logits, const std::int8_t* flags,
                         const MultilabelBceOutput& out, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(logits.size());
  const unsigned num_blocks = std::min(blocks_for(count), unsigned{kMultilabelBceBlocks});
  if (num_blocks > 0) {
    multilabel_bce_loss_kernel<<<num_blocks, kThreadsPerBlock, 0, stream>>>(target, logits.data(), flags, count,
                                                                            out.grad, out.partial);
    cuda_check(cudaGetLastError());
  }
  add_up_kernel<<<1, kThreadsPerBlock, 0, stream>>>(out.partial, num_blocks, out.sums, out.loss);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
