// models/resident/loss.cu - see loss.h.
//
// Work split  a warp per seed; then one block adds the seeds up.
// Access      a row of logits is read three times, from the L1 cache the second and third time.
// Limit       latency: a batch has a thousand rows.
// Sync        warp shuffles; one block-wide tree.
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/loss.h"
#include "models/resident/pair_loss.h"
#include "models/resident/seed_loss.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

template <SeedLossKind kind, class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    seed_loss_kernel(SeedLoss loss, std::int64_t columns, const float* __restrict__ logits, T* __restrict__ gradient) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / 32;
  if (i >= loss.max_seeds) return;
  T* const dz = gradient + i * columns;
  loss_of_seed<kind>(loss, i, logits + i * columns, columns,
                     [dz](std::int64_t c, float value) { dz[c] = static_cast<T>(value); });
}

__global__ void __launch_bounds__(1024)
    sum_rows_kernel(const StepHeader* __restrict__ header, const float* __restrict__ rows, std::int64_t num_rows,
                    double* __restrict__ sums) {
  __shared__ double partial[2][1024];
  double loss = 0, correct = 0;
  for (std::int64_t i = threadIdx.x; i < num_rows; i += 1024) {
    loss += rows[2 * i];
    correct += rows[2 * i + 1];
  }
  partial[0][threadIdx.x] = loss;
  partial[1][threadIdx.x] = correct;
  for (unsigned half = 512; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    for (auto& column : partial) column[threadIdx.x] += column[threadIdx.x + half];
  }
  if (threadIdx.x > 0) return;
  for (unsigned i = 0; i < 2; ++i) sums[2 * std::size_t{header->batch} + i] = partial[i][0];
}

template <class T>
void launch(const SeedLoss& loss, const float* logits, void* gradient, cudaStream_t stream) {
  for_kind(kind_of(loss.targets), [&]<SeedLossKind kind>() {
    seed_loss_kernel<kind><<<blocks_for(loss.max_seeds * 32), kThreadsPerBlock, 0, stream>>>(
        loss, padded(loss.num_classes), logits, static_cast<T*>(gradient));
  });
  cuda_check(cudaGetLastError());
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void seed_loss(const SeedLoss& loss, const float* logits, void* gradient, cudaStream_t stream) {
  if (loss.targets.pairs.are_scored) return pair_loss(loss, logits, gradient, stream);
  loss.type == ActivationType::kF32 ? launch<float>(loss, logits, gradient, stream)
                                    : launch<Bf16>(loss, logits, gradient, stream);
}

void sum_losses(const SeedLoss& loss, cudaStream_t stream) {
  sum_rows_kernel<<<1, 1024, 0, stream>>>(loss.header, loss.rows, loss.num_items(), loss.sums);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
