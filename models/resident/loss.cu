// models/resident/loss.cu - see loss.h.
//
// Work split  a warp per seed; then one block adds the seeds up.
// Access      a row of logits is read three times, from the L1 cache the second and third time.
// Limit       latency: a batch has a thousand rows.
// Sync        warp shuffles; one block-wide tree.
#include <cfloat>

#include "models/kernels/launch.cuh"
#include "models/resident/loss.h"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr unsigned kAllLanes = 0xFFFFFFFF;

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  return value;
}

struct Best {
  float value;
  std::int64_t column;
};

/// The largest value of a warp; of equal ones that in the first column.
__device__ Best warp_best(Best best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Best other{__shfl_xor_sync(kAllLanes, best.value, offset), __shfl_xor_sync(kAllLanes, best.column, offset)};
    if (other.value > best.value || (other.value == best.value && other.column < best.column)) best = other;
  }
  return best;
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    seed_loss_kernel(SeedLoss loss, std::int64_t columns, const float* __restrict__ logits, T* __restrict__ gradient) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / 32;
  if (i >= loss.max_seeds) return;
  const std::int32_t label = i < loss.header->num_seeds ? loss.labels[loss.nodes[i]] : -1;
  const float* const z = logits + i * columns;
  T* const dz = gradient + i * columns;
  if (label < 0) {
    for (std::int64_t c = lane; c < columns; c += 32) dz[c] = static_cast<T>(0.0f);
    if (lane < 2) loss.rows[2 * i + lane] = 0;
    return;
  }
  Best best{-FLT_MAX, loss.num_classes};
  for (std::int64_t c = lane; c < loss.num_classes; c += 32)
    if (z[c] > best.value) best = {z[c], c};
  best = warp_best(best);
  float exponentials = 0, logits_sum = 0;
  for (std::int64_t c = lane; c < loss.num_classes; c += 32) {
    exponentials += expf(z[c] - best.value);
    logits_sum += z[c];
  }
  exponentials = warp_sum(exponentials);
  logits_sum = warp_sum(logits_sum);
  const float log_sum = best.value + logf(exponentials);
  const auto classes = static_cast<float>(loss.num_classes);
  const float even = loss.label_smoothing / classes, rest = 1 - loss.label_smoothing;
  for (std::int64_t c = lane; c < columns; c += 32) {
    const float probability = c < loss.num_classes ? expf(z[c] - log_sum) : 0.0f;
    const float target = c < loss.num_classes ? even + (c == label ? rest : 0.0f) : 0.0f;
    dz[c] = static_cast<T>((probability - target) * loss.header->gradient_scale);
  }
  if (lane == 0) {
    loss.rows[2 * i] = rest * (log_sum - z[label]) + even * (classes * log_sum - logits_sum);
    loss.rows[2 * i + 1] = best.column == label ? 1.0f : 0.0f;
  }
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
  seed_loss_kernel<<<blocks_for(loss.max_seeds * 32), kThreadsPerBlock, 0, stream>>>(loss, padded(loss.num_classes),
                                                                                     logits, static_cast<T*>(gradient));
  cuda_check(cudaGetLastError());
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void seed_loss(const SeedLoss& loss, const float* logits, void* gradient, cudaStream_t stream) {
  loss.type == ActivationType::kF32 ? launch<float>(loss, logits, gradient, stream)
                                    : launch<Bf16>(loss, logits, gradient, stream);
}

void sum_losses(const SeedLoss& loss, cudaStream_t stream) {
  sum_rows_kernel<<<1, 1024, 0, stream>>>(loss.header, loss.rows, loss.max_seeds, loss.sums);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
