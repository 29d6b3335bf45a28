// models/kernels/dropout.cu - dropout on the device.
//
// Work split  one thread per eight neighbouring columns of a row: one Philox block; grid stride.
// Access      two 16-byte words in and out where width and addresses allow, else eight 4-byte values.
// Limit       8 bytes of traffic per element; Philox's 20 multiplications per eight elements hide behind it.
// Sync        none.
#include "core/cuda/cuda.h"
#include "models/kernels/dropout.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__device__ float apply(const DropoutMask& mask, Activation activation, const PhiloxBlock& draws, std::uint32_t column,
                       float x) {
  const float activated = activation == Activation::kRelu && x < 0 ? 0.0f : x;
  return is_kept(mask, draws, column) ? activated * mask.scale : 0.0f;
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    dropout_kernel(DropoutMask mask, Activation activation, const float* __restrict__ x,
                   const std::uint32_t* __restrict__ nodes, std::int64_t rows, std::int64_t columns,
                   float* __restrict__ out) {
  constexpr std::int64_t kValues = sizeof(Word) / sizeof(float);
  const std::int64_t eights = (columns + 7) / 8;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < rows * eights; t += stride) {
    const std::int64_t row = t / eights, first = t % eights * 8;
    const PhiloxBlock draws = dropout_draws(mask, __ldg(nodes + row), static_cast<std::uint32_t>(first / 8));
#pragma unroll
    for (std::int64_t c = 0; c < 8; c += kValues) {
      if (first + c >= columns) break;
      Word word = *reinterpret_cast<const Word*>(x + row * columns + first + c);
      float* values = reinterpret_cast<float*>(&word);
#pragma unroll
      for (std::int64_t k = 0; k < kValues; ++k)
        values[k] = apply(mask, activation, draws, static_cast<std::uint32_t>(c + k), values[k]);
      *reinterpret_cast<Word*>(out + row * columns + first + c) = word;
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    scale_where_positive_kernel(const Word* __restrict__ positive, const Word* __restrict__ x, float scale,
                                std::int64_t count, Word* __restrict__ out) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < count; i += stride) {
    Word p = positive[i], word = x[i];
#pragma unroll
    for (int k = 0; k < static_cast<int>(sizeof(Word) / sizeof(float)); ++k) {
      float& value = reinterpret_cast<float*>(&word)[k];
      value = reinterpret_cast<const float*>(&p)[k] > 0 ? scale * value : 0.0f;
    }
    out[i] = word;
  }
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

template <class Word>
void launch(const DropoutMask& mask, Activation activation, const NodeRows& in, float* out, cudaStream_t stream) {
  dropout_kernel<Word><<<blocks_for(in.rows * ((in.columns + 7) / 8)), kThreadsPerBlock, 0, stream>>>(
      mask, activation, in.x, in.nodes, in.rows, in.columns, out);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_scale(const float* positive, const float* x, float scale, std::int64_t count, float* out,
                  cudaStream_t stream) {
  const std::int64_t words = count * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  scale_where_positive_kernel<<<blocks_for(words), kThreadsPerBlock, 0, stream>>>(
      as_words<Word>(positive), as_words<Word>(x), scale, words, as_words<Word>(out));
  cuda_check(cudaGetLastError());
}

}  // namespace

void dropout(const DropoutMask& mask, Activation activation, const NodeRows& in, float* out, cudaStream_t stream) {
  if (in.rows == 0 || in.columns == 0) return;
  is_packable<float, 4>(in.x, in.columns) && is_packable<float, 4>(out, in.columns)
      ? launch<float4>(mask, activation, in, out, stream)
      : launch<float>(mask, activation, in, out, stream);
}

void scale_where_positive(const float* positive, const float* x, float scale, std::int64_t count, float* out,
                          cudaStream_t stream) {
  if (count == 0) return;
  const bool is_wide =
      is_packable<float, 4>(positive, count) && is_packable<float, 4>(x, count) && is_packable<float, 4>(out, count);
  is_wide ? launch_scale<float4>(positive, x, scale, count, out, stream)
          : launch_scale<float>(positive, x, scale, count, out, stream);
}

}  // namespace salient
