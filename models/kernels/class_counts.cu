// models/kernels/class_counts.cu - see class_counts.h.
//
// Work split  a warp per node, in turns; lanes stride over the classes.
// Access      rows in order, neighbouring lanes neighbouring words.
// Limit       memory: the logits.
// Sync        warp shuffles; three atomic additions a warp at the end.
#include "core/cuda/cuda.h"
#include "models/kernels/class_counts.h"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr unsigned kMostBlocks = 132 * 8;  // as many as are at work at a time

/// The greatest logit so far, and whose it is.
struct Greatest {
  float value;
  int label;

  __device__ void take(float other, int of) {
    const bool is_nan = isnan(value), is_other_nan = isnan(other);
    const bool is_equal = is_nan ? is_other_nan : other == value;
    const bool is_greater = is_nan ? false : is_other_nan || other > value;
    if (is_greater || (is_equal && of < label)) value = other, label = of;
  }
};

__global__ void __launch_bounds__(kThreadsPerBlock)
    count_classes_kernel(ClassLogits logits, const std::int32_t* __restrict__ labels, ClassCounts counts) {
  const int lane = static_cast<int>(threadIdx.x) & 31, num_classes = static_cast<int>(logits.num_classes);
  const std::int64_t warp = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / 32;
  const std::int64_t num_warps = std::int64_t{gridDim.x} * kThreadsPerBlock / 32;
  std::int64_t labelled = 0, correct = 0, not_finite = 0;
  for (std::int64_t i = warp; i < logits.num_nodes; i += num_warps) {
    const float* const row = logits.values + i * logits.stride;
    Greatest greatest{-INFINITY, num_classes};
    bool is_finite = true;
    for (int c = lane; c < num_classes; c += 32) {
      const float value = row[c];
      greatest.take(value, c);
      is_finite = is_finite && isfinite(value);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const float value = __shfl_xor_sync(~0U, greatest.value, offset);
      const int label = __shfl_xor_sync(~0U, greatest.label, offset);
      greatest.take(value, label);
    }
    not_finite += __all_sync(~0U, is_finite) ? 0 : 1;
    const std::int32_t label = labels[i];
    labelled += label >= 0 ? 1 : 0;
    correct += label == greatest.label ? 1 : 0;
  }
  if (lane > 0) return;
  const auto add = [](std::int64_t* to, std::int64_t count) {
    if (count > 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(count));
  };
  if (warp == 0) add(counts.nodes, logits.num_nodes);
  add(counts.labelled, labelled);
  add(counts.correct, correct);
  add(counts.not_finite, not_finite);
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void count_classes(const ClassLogits& logits, const std::int32_t* labels, const ClassCounts& counts,
                   CUstream_st* stream) {
  if (logits.num_nodes == 0) return;
  const unsigned blocks = std::min(kMostBlocks, blocks_for(logits.num_nodes * 32));
  count_classes_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(logits, labels, counts);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
