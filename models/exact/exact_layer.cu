// models/exact/exact_layer.cu - see exact_layer.h.
//
// Work split  blocks stride over tiles of 128 nodes. A thread copies, two warpgroups have 64 nodes each. A tile's
//             result stays in registers, as the first factor of the last layer's products, 128 columns at a time.
// Access      all factors by the copy engine into a ring; results 64 bytes of a row at a time.
// Limit       the tensor cores of the multiprocessors that a gather leaves.
// Sync        barriers in shared memory between the warps of a block.
#include "models/exact/exact_layer.h"

#include <cuda_fp16.h>

#include <algorithm>

#include "core/cuda/device_attribute.h"
#include "core/error.h"
#include "models/products/copy_boxes.h"
#include "models/products/wgmma.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kTileRows = 128, kMultiplying = 256, kThreads = kMultiplying + 128, kRing = 4, kNextColumns = 128;
constexpr int kRowsBytes = kTileRows * 128, kWeightBytes = kFusedWidth * 128, kChunkBytes = kRowsBytes + kWeightBytes;
constexpr int kNextBytes = kNextColumns * 128;            // of 64 terms, of which a chunk has twice as many
constexpr int kNextChunks = kFusedWidth / 128;            // for kNextColumns columns
constexpr int kSharedBytes = kRing * kChunkBytes + 1024;  // to be aligned

struct Problem {
  int count;         ///< nodes
  int width;         ///< of a row: terms of either part
  int next_columns;  ///< of either part of the last layer
  int next_parts;    ///< of them; 0: the layer's own result is stored
  __half *result, *around, *self;
  std::int32_t* beyond;

  __device__ int num_tiles() const { return (count + kTileRows - 1) / kTileRows; }
  __device__ int chunks_of_part() const { return (width + 63) / 64; }
  __device__ int next_tiles() const { return (next_parts * next_columns + kNextColumns - 1) / kNextColumns; }
};

struct Matrices {
  CUtensorMap means, own_rows, weight, next;
};

/// A ring of chunks that are full or empty; each side counts those that it has passed.
struct Ring {
  RingBarriers<kRing> barriers;
  std::uint32_t memory;
  int passed = 0;

  __device__ Barrier full(int slot) const { return barriers.full(slot); }
  __device__ std::uint32_t at(int slot) const { return memory + static_cast<std::uint32_t>(slot * kChunkBytes); }
  /// The slot of the next chunk, empty: `bytes` will come.
  __device__ int to_fill(std::uint32_t bytes) {
    const int slot = passed % kRing, use = passed++ / kRing;
    if (use > 0) barriers.empty(slot).wait(static_cast<std::uint32_t>(use - 1));
    full(slot).arrive_and_expect(bytes);
    return slot;
  }
  /// The slot of the next chunk, full.
  __device__ int to_read() {
    const int slot = passed % kRing, use = passed++ / kRing;
    full(slot).wait(static_cast<std::uint32_t>(use));
    return slot;
  }
};

/// The copying thread.
__device__ void produce(const Problem& p, const Matrices& m, Ring ring) {
  for (int t = static_cast<int>(blockIdx.x); t < p.num_tiles(); t += static_cast<int>(gridDim.x)) {
    for (int part = 0; part < 2; ++part)
      for (int term = 0; term < p.width; term += 64) {
        const int slot = ring.to_fill(kChunkBytes);
        if (part == 0)
          copy_box(ring.at(slot), m.means, term, t * kTileRows, ring.full(slot));
        else
          copy_box(ring.at(slot), m.own_rows, term, t * kTileRows, ring.full(slot));
        copy_box(ring.at(slot) + kRowsBytes, m.weight, part * p.width + term, 0, ring.full(slot));
      }
    for (int n = 0; n < p.next_tiles(); ++n)
      for (int term = 0; term < kFusedWidth; term += 128) {
        const int slot = ring.to_fill(2 * kNextBytes);
        for (int i = 0; i < 2; ++i)
          copy_box(ring.at(slot) + static_cast<std::uint32_t>(i * kNextBytes), m.next, term + i * 64, n * kNextColumns,
                   ring.full(slot));
      }
  }
}

/// ReLU of both; a NaN stays one.
__device__ std::uint32_t relu_pair_of(float low, float high) {
  std::uint32_t two;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
}

/// A NaN where there is one.
__device__ std::uint32_t larger_pair(std::uint32_t a, std::uint32_t b) {
  std::uint32_t two;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(two) : "r"(a), "r"(b));
  return two;
}

/// One of the two warpgroups: its place, and what it works on.
struct Consumer {
  const Problem& p;
  Ring ring;
  int warpgroup, warp, lane;

  __device__ void release(int slot) const {
    if (lane == 0) ring.barriers.empty(slot).arrive();
  }
  __device__ int row_of(int tile, int part) const {
    return tile * kTileRows + warpgroup * 64 + warp * 16 + part * 8 + lane / 4;
  }

  /// acc = means * weight^T + own rows * weight^T.
  __device__ __forceinline__ void multiply(float (&acc)[2][64]) {
    int before = 0;
    for (int i = 0; i < 2 * p.chunks_of_part(); ++i) {
      const int slot = ring.to_read();
      const Factor rows = Factor::at(ring.at(slot) + static_cast<std::uint32_t>(warpgroup) * (kRowsBytes / 2), 16);
      const Factor weight = Factor::at(ring.at(slot) + kRowsBytes, 16);
      pin(acc[0]);
      pin(acc[1]);
      products_begin();
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k)
#pragma unroll
        for (std::uint32_t half = 0; half < 2; ++half)
          product_f16(acc[half], rows.plus(k * 32), weight.plus(half * (kWeightBytes / 2) + k * 32), k > 0 || i > 0);
      products_commit();
      if (i > 0) {
        products_wait<1>();
        release(before);
      }
      before = slot;
    }
    products_wait<0>();
    pin(acc[0]);
    pin(acc[1]);
    release(before);
  }

  /// relu(acc) as the first factor of the next products: 16 columns a fragment.
  __device__ __forceinline__ void to_factor(int tile, const float (&acc)[2][64], Fragment (&factor)[16]) const {
    std::uint32_t largest[2] = {0, 0};
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 64; i += 2) {
        const std::uint32_t two = relu_pair_of(acc[half][i], acc[half][i + 1]);
        largest[i / 2 % 2] = larger_pair(largest[i / 2 % 2], two);
        factor[half * 8 + i / 8][i / 2 % 4] = two;
      }
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      constexpr std::uint32_t kInfinity = 0x7C00;
      const bool is_finite = (largest[part] & 0x7FFF) < kInfinity && (largest[part] >> 16 & 0x7FFF) < kInfinity;
      if (!is_finite && row_of(tile, part) < p.count) *p.beyond = 1;
    }
  }

  /// The layer's result, a lane eight of each 32 columns.
  __device__ __forceinline__ void store(int tile, const Fragment (&factor)[16]) const {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int row = row_of(tile, part);
      __half* const to = p.result + std::int64_t{row} * kFusedWidth + lane % 4 * 8;
#pragma unroll
      for (int i = 0; i < 16; i += 2) {
        std::uint32_t words[4] = {factor[i][part], factor[i][part + 2], factor[i + 1][part], factor[i + 1][part + 2]};
        exchange_in_four(words, lane);
        if (row < p.count) *reinterpret_cast<uint4*>(to + i * 16) = make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }

  /// Starts acc = columns of the last layer's products; their chunks are read until end_next().
  __device__ __forceinline__ void begin_next(const Fragment (&factor)[16], float (&acc)[64]) {
    pin(acc);
#pragma unroll
    for (int chunk = 0; chunk < kNextChunks; ++chunk) {
      const Factor weight = Factor::at(ring.at(ring.to_read()), 16);
      products_begin();
#pragma unroll
      for (int k = 0; k < 8; ++k)
        product_f16(acc, factor[chunk * 8 + k],
                    weight.plus(static_cast<std::uint32_t>(k / 4 * kNextBytes + k % 4 * 32)), chunk > 0 || k > 0);
    }
    products_commit();
  }
  /// Of the products before the last `kLater` that were begun.
  template <int kLater>
  __device__ __forceinline__ void end_next(int tile, int first_column, float (&acc)[64]) const {
    products_wait<kLater>();
    pin(acc);
    for (int i = (kLater + 1) * kNextChunks; i > kLater * kNextChunks; --i) release((ring.passed - i) % kRing);
    store_next(tile, first_column, acc);
  }

  __device__ __forceinline__ void store_next(int tile, int first_column, const float (&acc)[64]) const {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int row = row_of(tile, part);
#pragma unroll
      for (int j = 0; j < 16; j += 4) {
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          words[i] = half_pair_of(acc[(j + i) * 4 + part * 2], acc[(j + i) * 4 + part * 2 + 1]);
        exchange_in_four(words, lane);
        const int column = first_column + j * 8 + lane % 4 * 8;
        const bool is_self = column >= p.next_columns;
        __half* const rows = is_self ? p.self : p.around;
        if (rows == nullptr || row >= p.count || column >= p.next_parts * p.next_columns) continue;
        __half* const to = rows + std::int64_t{row} * p.next_columns + (is_self ? column - p.next_columns : column);
        *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }

  /// The last layer's products; the first of two are stored while the second are computed.
  __device__ __forceinline__ void multiply_next(int tile, const Fragment (&factor)[16], float (&acc)[2][64]) {
    int n = 0;
#pragma unroll 1
    for (; n + 1 < p.next_tiles(); n += 2) {
      begin_next(factor, acc[0]);
      begin_next(factor, acc[1]);
      end_next<1>(tile, n * kNextColumns, acc[0]);
      end_next<0>(tile, (n + 1) * kNextColumns, acc[1]);
    }
    if (n == p.next_tiles()) return;
    begin_next(factor, acc[0]);
    end_next<0>(tile, n * kNextColumns, acc[0]);
  }

  __device__ __forceinline__ void run() {
    for (int t = static_cast<int>(blockIdx.x); t < p.num_tiles(); t += static_cast<int>(gridDim.x)) {
      float acc[2][64];  // both products use them: more accumulators have no room beside the factor
      Fragment factor[16];
      multiply(acc);
      to_factor(t, acc, factor);
      if (p.next_parts == 0) store(t, factor);
      multiply_next(t, factor, acc);
    }
  }
};

__global__ void __launch_bounds__(kThreads, 1)
    exact_layer_kernel(const Problem p, const __grid_constant__ Matrices matrices) {
  extern __shared__ char raw[];
  __shared__ std::uint64_t barrier_words[RingBarriers<kRing>::kCount];
  const Ring ring{{shared_address(barrier_words)}, shared_address(raw) + (-shared_address(raw) & 1023)};
  if (threadIdx.x == 0) ring.barriers.init(1, kMultiplying / 32);
  publish_to_async();
  __syncthreads();
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32), lane = static_cast<int>(threadIdx.x) & 31;
  if (warp < kMultiplying / 32) {
    take_registers<240>();
    Consumer{p, ring, warp / 4, warp % 4, lane}.run();
  } else {
    keep_registers<24>();
    if (warp == kMultiplying / 32 && lane == 0) produce(p, matrices, ring);
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

bool ExactLayer::fits(const FeatureRows& table, std::int64_t hidden_dim) {
  return table.type == FeatureType::kF16 && table.unit == 1 && table.width % 8 == 0 &&
         reinterpret_cast<std::uintptr_t>(table.data) % 16 == 0 && hidden_dim == kFusedWidth && has_hopper();
}

ExactLayer::ExactLayer(const ExactLayerWeights& weights)
    : width_(static_cast<int>(weights.width)),
      next_columns_(static_cast<int>(weights.next_columns)),
      has_next_(weights.next != nullptr),
      weight_(boxes_of({weights.own, kFusedWidth, 2 * weights.width}, kFusedWidth)) {
  if (has_next_) next_ = boxes_of({weights.next, 2 * weights.next_columns, kFusedWidth}, kNextColumns);
}

void ExactLayer::run(const ExactLayerBlock& block, int multiprocessors, cudaStream_t stream) const {
  if (block.count == 0) return;
  const auto rows = [&](const void* of) { return boxes_of({of, block.count, width_, block.row_stride}, kTileRows); };
  const Matrices matrices{rows(block.means), rows(block.own), weight_, next_};
  const Problem problem{.count = static_cast<int>(block.count),
                        .width = width_,
                        .next_columns = next_columns_,
                        .next_parts = !has_next_              ? 0
                                      : block.self == nullptr ? 1
                                                              : 2,
                        .result = static_cast<__half*>(block.result),
                        .around = static_cast<__half*>(block.around),
                        .self = static_cast<__half*>(block.self),
                        .beyond = block.beyond_f16};
  cuda_check(cudaFuncSetAttribute(exact_layer_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const auto tiles = static_cast<int>((block.count + kTileRows - 1) / kTileRows);
  exact_layer_kernel<<<static_cast<unsigned>(std::min(tiles, multiprocessors)), kThreads, kSharedBytes, stream>>>(
      problem, matrices);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
