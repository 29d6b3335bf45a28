// models/kernels/dropout.cu - dropout on the device.
//
// Work split  dropout_kernel: one thread per eight neighbouring columns of a row, one Philox block; grid stride.
//             dropout_tiles_kernel, for rows of eights of columns: a warp per tile of 64 Philox blocks, two a lane.
// Access      dropout_kernel: 16-byte words where width and addresses allow, else 4-byte values. dropout_tiles_kernel:
//             512 neighbouring bytes for a warp; the lanes of a pair trade bits for that. x and the result leave the
//             L2 cache first. From a run of the kernel workbench on an H200 (Astra's method), 1.32 times as fast as
//             dropout_kernel: workbench/results/dropout_relu-astra.
//             scale_kernel: a thread per word of four columns; scale_any_kernel: per eight columns of a row.
// Limit       8 bytes of traffic per element and a bit; Philox's 20 multiplications per eight elements hide behind it.
// Sync        none; shuffles between the lanes of a pair.
#include <bit>

#include "core/cuda/cuda.h"
#include "models/kernels/dropout.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__device__ float apply(const DropoutMask& mask, Activation activation, bool is_kept, float x) {
  return is_kept && !(activation == Activation::kRelu && x < 0) ? x * mask.scale : 0.0f;
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    dropout_kernel(DropoutMask mask, Activation activation, const float* __restrict__ x,
                   const std::uint32_t* __restrict__ nodes, std::int64_t rows, std::int64_t columns,
                   float* __restrict__ out, std::uint8_t* __restrict__ positive) {
  constexpr std::int64_t kValues = sizeof(Word) / sizeof(float);
  const std::int64_t eights = (columns + 7) / 8;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < rows * eights; t += stride) {
    const std::int64_t row = t / eights, first = t % eights * 8;
    const std::uint32_t kept = kept_of_eight(mask, __ldg(nodes + row), static_cast<std::uint32_t>(first / 8));
    std::uint32_t bits = 0;
#pragma unroll
    for (std::int64_t c = 0; c < 8; c += kValues) {
      if (first + c >= columns) break;
      Word word = *reinterpret_cast<const Word*>(x + row * columns + first + c);
      float* values = reinterpret_cast<float*>(&word);
#pragma unroll
      for (std::int64_t k = 0; k < kValues; ++k) {
        values[k] = apply(mask, activation, (kept >> (c + k) & 1) != 0, values[k]);
        bits |= static_cast<std::uint32_t>(values[k] > 0) << (c + k);
      }
      *reinterpret_cast<Word*>(out + row * columns + first + c) = word;
    }
    if (positive != nullptr) positive[t] = static_cast<std::uint8_t>(bits);
  }
}

constexpr std::uint32_t kWarp = 32, kEightsPerLane = 2, kTile = kWarp * kEightsPerLane;

/// A matrix as Philox blocks of eight columns.
struct Eights {
  std::uint32_t count;
  std::uint32_t per_row;
  int log_per_row;  ///< -1 if it is not a power of two

  __device__ std::uint32_t row_of(std::uint32_t eight) const {
    return log_per_row >= 0 ? eight >> log_per_row : eight / per_row;
  }
};

/// Four columns; bit c of `kept`: column c is kept.
__device__ float4 apply(const DropoutMask& mask, Activation activation, std::uint32_t kept, float4 x) {
  return make_float4(apply(mask, activation, (kept & 1) != 0, x.x), apply(mask, activation, (kept & 2) != 0, x.y),
                     apply(mask, activation, (kept & 4) != 0, x.z), apply(mask, activation, (kept & 8) != 0, x.w));
}

/// Bits of the two words that a lane has of 32 eights: word `lane` and word 32 + lane. A lane draws one eight, of the
/// first 16 if it is even, of the others if it is odd, and trades half of its bits with its neighbour.
__device__ void trade_bits(std::uint32_t own, bool is_odd, std::uint32_t (&kept)[2]) {
  const std::uint32_t other = __shfl_xor_sync(0xFFFFFFFF, own, 1);
  kept[0] = is_odd ? other >> 4 : own;
  kept[1] = is_odd ? own >> 4 : other;
}

__device__ std::uint32_t positive_bits(float4 v) {
  return (v.x > 0 ? 1U : 0U) | (v.y > 0 ? 2U : 0U) | (v.z > 0 ? 4U : 0U) | (v.w > 0 ? 8U : 0U);
}

/// The tile from eight `first` on; all lanes of a warp. kIsFull: no eight of it is behind the last one.
/// More than six parameters: as above.
template <bool kIsFull>
__device__ void drop_tile(const DropoutMask& mask, Activation activation, const float4* __restrict__ x,
                          const std::uint32_t* __restrict__ nodes, const Eights& eights, std::uint32_t first,
                          float4* __restrict__ out, std::uint8_t* __restrict__ positive) {
  const std::uint32_t lane = threadIdx.x % kWarp, first_word = 2 * first + lane;
  const auto has_word = [&](std::uint32_t w) { return kIsFull || first_word + kWarp * w < 2 * eights.count; };
  float4 words[2 * kEightsPerLane];
#pragma unroll
  for (std::uint32_t w = 0; w < 2 * kEightsPerLane; ++w)
    words[w] = has_word(w) ? __ldcs(x + first_word + kWarp * w) : float4{};
#pragma unroll
  for (std::uint32_t k = 0; k < kEightsPerLane; ++k) {
    const std::uint32_t eight = min(first + kWarp * k + lane % 2 * 16 + lane / 2, eights.count - 1);
    const std::uint32_t row = eights.row_of(eight);
    std::uint32_t kept[2];
    trade_bits(kept_of_eight(mask, __ldg(nodes + row), eight - row * eights.per_row), lane % 2 == 1, kept);
#pragma unroll
    for (std::uint32_t half = 0; half < 2; ++half) {
      const std::uint32_t w = 2 * k + half, word = first_word + kWarp * w;
      const float4 values = apply(mask, activation, kept[half], words[w]);
      if (has_word(w)) __stcs(out + word, values);
      if (positive == nullptr) continue;
      const std::uint32_t bits = positive_bits(values), of_neighbour = __shfl_xor_sync(0xFFFFFFFF, bits, 1);
      if (lane % 2 == 0 && has_word(w)) positive[word / 2] = static_cast<std::uint8_t>(bits | of_neighbour << 4);
    }
  }
}

/// More than six parameters: as above.
__global__ void __launch_bounds__(kThreadsPerBlock)
    dropout_tiles_kernel(DropoutMask mask, Activation activation, const float4* __restrict__ x,
                         const std::uint32_t* __restrict__ nodes, Eights eights, float4* __restrict__ out,
                         std::uint8_t* __restrict__ positive) {
  const std::uint32_t stride = gridDim.x * (kThreadsPerBlock / kWarp) * kTile;
  std::uint32_t first = (blockIdx.x * (kThreadsPerBlock / kWarp) + threadIdx.x / kWarp) * kTile;
  for (; first < eights.count; first += stride)
    first + kTile <= eights.count ? drop_tile<true>(mask, activation, x, nodes, eights, first, out, positive)
                                  : drop_tile<false>(mask, activation, x, nodes, eights, first, out, positive);
}

/// Rows of eights of columns, so that byte i is of words 2 i and 2 i + 1.
__global__ void __launch_bounds__(kThreadsPerBlock)
    scale_kernel(const std::uint8_t* __restrict__ bits, const float4* __restrict__ x, float scale, std::int64_t words,
                 float4* __restrict__ out) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < words; i += stride) {
    const std::uint32_t four = bits[i / 2] >> (i % 2 * 4);
    const float4 v = x[i];
    out[i] = make_float4((four & 1) != 0 ? scale * v.x : 0.0f, (four & 2) != 0 ? scale * v.y : 0.0f,
                         (four & 4) != 0 ? scale * v.z : 0.0f, (four & 8) != 0 ? scale * v.w : 0.0f);
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    scale_any_kernel(PositiveBits positive, const float* __restrict__ x, float scale, float* __restrict__ out) {
  const std::int64_t columns = positive.columns, eights = (columns + 7) / 8;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < positive.rows * eights;
       t += stride) {
    const std::int64_t row = t / eights, first = t % eights * 8;
    for (std::int64_t c = first; c < min(first + 8, columns); ++c)
      out[row * columns + c] = (positive.bits[t] >> (c - first) & 1) != 0 ? scale * x[row * columns + c] : 0.0f;
  }
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

template <class Word>
void launch(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out,
            cudaStream_t stream) {
  dropout_kernel<Word><<<blocks_for(in.rows * ((in.columns + 7) / 8)), kThreadsPerBlock, 0, stream>>>(
      mask, activation, in.x, in.nodes, in.rows, in.columns, out.values, out.positive);
  cuda_check(cudaGetLastError());
}

/// Whether dropout_tiles_kernel can: it counts words with 32 bits.
bool are_tiles_possible(const NodeRows& in, const float* out) {
  return is_packable<float, 4>(in.x, in.columns) && is_packable<float, 4>(out, in.columns) && in.columns % 8 == 0 &&
         in.rows * (in.columns / 8) <= std::int64_t{1} << 30;
}

void launch_tiles(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out,
                  cudaStream_t stream) {
  const auto per_row = static_cast<std::uint32_t>(in.columns / 8);
  const Eights eights{static_cast<std::uint32_t>(in.rows) * per_row, per_row,
                      std::has_single_bit(per_row) ? std::countr_zero(per_row) : -1};
  dropout_tiles_kernel<<<blocks_for((eights.count + kEightsPerLane - 1) / kEightsPerLane), kThreadsPerBlock, 0,
                         stream>>>(mask, activation, as_words<float4>(in.x), in.nodes, eights,
                                   as_words<float4>(out.values), out.positive);
  cuda_check(cudaGetLastError());
}

}  // namespace

void dropout(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out,
             cudaStream_t stream) {
  if (in.rows == 0 || in.columns == 0) return;
  if (are_tiles_possible(in, out.values)) return launch_tiles(mask, activation, in, out, stream);
  is_packable<float, 4>(in.x, in.columns) && is_packable<float, 4>(out.values, in.columns)
      ? launch<float4>(mask, activation, in, out, stream)
      : launch<float>(mask, activation, in, out, stream);
}

void scale_where_positive(const PositiveBits& positive, const float* x, float scale, float* out, cudaStream_t stream) {
  const std::int64_t columns = positive.columns, words = positive.rows * columns / 4;
  if (positive.rows == 0 || columns == 0) return;
  if (columns % 8 == 0 && is_packable<float, 4>(x, columns) && is_packable<float, 4>(out, columns))
    scale_kernel<<<blocks_for(words), kThreadsPerBlock, 0, stream>>>(positive.bits, as_words<float4>(x), scale, words,
                                                                     as_words<float4>(out));
  else
    scale_any_kernel<<<blocks_for(positive.rows * ((columns + 7) / 8)), kThreadsPerBlock, 0, stream>>>(positive, x,
                                                                                                       scale, out);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
