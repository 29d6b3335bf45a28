// models/resident/hidden_product.cu - see hidden_product.h.
//
// Work split  blocks stride over tiles of 128 rows and 256 columns of the result. A warp copies, two warpgroups have 64
//             rows each.
// Access      both factors by the copy engine, 64 terms at a time, into a ring; results 64 bytes of a row at a time.
// Limit       latency: there is a tile or two for each multiprocessor. Then the tensor cores.
// Sync        barriers in shared memory between the warps of a block.
#include "models/resident/hidden_product.h"

#include <algorithm>

#include "models/products/copy_boxes.h"
#include "models/products/wgmma.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kTileRows = 128, kTileColumns = 256, kMultiplying = 256, kThreads = kMultiplying + 32, kRing = 4;
constexpr int kRowsBytes = kTileRows * 128, kWeightBytes = kTileColumns * 128, kChunkBytes = kRowsBytes + kWeightBytes;
constexpr int kSharedBytes = kRing * kChunkBytes + 1024;  // to be aligned

struct Problem {
  const LocalId* num_rows;
  Bf16* out;
  int terms, columns;  ///< multiples of 64 and of kTileColumns

  __device__ int num_tiles() const { return (*num_rows + kTileRows - 1) / kTileRows * (columns / kTileColumns); }
};

/// The tiles of some rows follow each other.
struct Tile {
  int row, column;
  __device__ static Tile of(const Problem& p, int index) {
    const int across = p.columns / kTileColumns;
    return {index / across * kTileRows, index % across * kTileColumns};
  }
};

using Barriers = RingBarriers<kRing>;

/// The copying thread.
template <Rows kWeight>
__device__ void produce(const Problem& p, const CUtensorMap& rows, const CUtensorMap& weight, std::uint32_t shared,
                        const Barriers& barriers) {
  int chunk = 0;
  for (int t = static_cast<int>(blockIdx.x); t < p.num_tiles(); t += static_cast<int>(gridDim.x)) {
    const Tile tile = Tile::of(p, t);
    for (int term = 0; term < p.terms; term += 64, ++chunk) {
      const int slot = chunk % kRing, use = chunk / kRing;
      if (use > 0) barriers.empty(slot).wait(static_cast<std::uint32_t>(use - 1));
      const Barrier full = barriers.full(slot);
      const std::uint32_t to = shared + static_cast<std::uint32_t>(slot * kChunkBytes);
      full.arrive_and_expect(kChunkBytes);
      copy_box(to, rows, term, tile.row, full);
      if constexpr (kWeight == Rows::kAlongK) {
        copy_box(to + kRowsBytes, weight, term, tile.column, full);
      } else {
        for (std::uint32_t i = 0; i < kTileColumns / 64; ++i)
          copy_box(to + kRowsBytes + i * 8192, weight, tile.column + static_cast<int>(i) * 64, term, full);
      }
    }
  }
}

/// One of the two warpgroups: its place, and what it works on.
template <Rows kWeight>
struct Consumer {
  const Problem& p;
  const Barriers& barriers;
  std::uint32_t shared;
  int warpgroup, warp, lane;

  __device__ void release(int slot) const {
    if (lane == 0) barriers.empty(slot).arrive();
  }

  __device__ __forceinline__ void multiply(float (&acc)[2][64], int& chunk) const {
    // of 64 columns of the weight's rows, a block of 64 terms each; or of 128 of its rows
    constexpr std::uint32_t kHalf = kWeightBytes / 2, kStep = kWeight == Rows::kAlongK ? 32 : 2048;
    const Factor rows = Factor::at(shared + static_cast<std::uint32_t>(warpgroup) * (kRowsBytes / 2), 16);
    const Factor weight = Factor::at(shared + kRowsBytes, kWeight == Rows::kAlongK ? 16 : 8192);
    const int last = chunk + p.terms / 64;
    for (const int first = chunk; chunk < last; ++chunk) {
      const int slot = chunk % kRing;
      const auto at = static_cast<std::uint32_t>(slot * kChunkBytes);
      barriers.full(slot).wait(static_cast<std::uint32_t>(chunk / kRing));
      pin(acc[0]);
      pin(acc[1]);
      products_begin();
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k)
#pragma unroll
        for (std::uint32_t half = 0; half < 2; ++half)
          product<kWeight>(acc[half], rows.plus(at + k * 32), weight.plus(at + half * kHalf + k * kStep),
                           k > 0 || chunk > first);
      products_commit();
      if (chunk == first) continue;
      products_wait<1>();
      release((chunk - 1) % kRing);
    }
    products_wait<0>();
    pin(acc[0]);
    pin(acc[1]);
    release((chunk - 1) % kRing);
  }

  /// A lane has two columns of each eight; it stores eight of each 32.
  __device__ __forceinline__ void store(const Tile& tile, const float (&acc)[2][64]) const {
    const int count = *p.num_rows, quad = lane % 4;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int row = tile.row + warpgroup * 64 + warp * 16 + part * 8 + lane / 4;
      Bf16* const to = p.out + std::int64_t{row} * p.columns + tile.column + quad * 8;
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
          std::uint32_t words[4];
#pragma unroll
          for (int i = 0; i < 4; ++i)
            words[i] = pair_of(acc[half][(j + i) * 4 + part * 2], acc[half][(j + i) * 4 + part * 2 + 1]);
          exchange_in_four(words, lane);
          if (row < count)
            *reinterpret_cast<uint4*>(to + half * 128 + j * 8) = make_uint4(words[0], words[1], words[2], words[3]);
        }
    }
  }

  __device__ __forceinline__ void run() const {
    int chunk = 0;
    for (int t = static_cast<int>(blockIdx.x); t < p.num_tiles(); t += static_cast<int>(gridDim.x)) {
      float acc[2][64];
      multiply(acc, chunk);
      store(Tile::of(p, t), acc);
    }
  }
};

template <Rows kWeight>
__global__ void __launch_bounds__(kThreads, 1)
    hidden_product_kernel(const Problem p, const __grid_constant__ CUtensorMap rows,
                          const __grid_constant__ CUtensorMap weight) {
  extern __shared__ char raw[];
  __shared__ std::uint64_t barrier_words[Barriers::kCount];
  const std::uint32_t shared = shared_address(raw) + (-shared_address(raw) & 1023);
  const Barriers barriers{shared_address(barrier_words)};
  if (threadIdx.x == 0) barriers.init(1, kMultiplying / 32);
  publish_to_async();
  __syncthreads();
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32), lane = static_cast<int>(threadIdx.x) & 31;
  if (warp < kMultiplying / 32) {
    Consumer<kWeight>{p, barriers, shared, warp / 4, warp % 4, lane}.run();
  } else if (lane == 0) {
    produce<kWeight>(p, rows, weight, shared, barriers);
  }
}

// ---- host code -------------------------------------------------------------------------------------------

template <Rows kWeight>
void launch(const Problem& p, const CUtensorMap& rows, const CUtensorMap& weight, unsigned blocks,
            cudaStream_t stream) {
  const auto kernel = hidden_product_kernel<kWeight>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<blocks, kThreads, kSharedBytes, stream>>>(p, rows, weight);
  cuda_check(cudaGetLastError());
}

unsigned blocks_of(std::int64_t rows, int columns, int multiprocessors) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows * (columns / kTileColumns);
  return static_cast<unsigned>(std::min<std::int64_t>(multiprocessors, tiles));
}

}  // namespace

HiddenProduct::HiddenProduct(Kind kind, const void* first, std::int64_t rows, const void* weight, int multiprocessors)
    : kind_(kind),
      blocks_(blocks_of(rows, kind == Kind::kForward ? kFusedWidth : kHiddenOperandWidth, multiprocessors)),
      first_(boxes_of({first, rows, kind == Kind::kForward ? kHiddenOperandWidth : kFusedWidth}, kTileRows)),
      weight_(boxes_of({weight, kFusedWidth, kHiddenOperandWidth}, kind == Kind::kForward ? kTileColumns : 64)) {}

void HiddenProduct::run(const LocalId* num_rows, void* out, cudaStream_t stream) const {
  Bf16* const to = static_cast<Bf16*>(out);
  if (kind_ == Kind::kForward)
    launch<Rows::kAlongK>({num_rows, to, kHiddenOperandWidth, kFusedWidth}, first_, weight_, blocks_, stream);
  else
    launch<Rows::kAcrossK>({num_rows, to, kFusedWidth, kHiddenOperandWidth}, first_, weight_, blocks_, stream);
}

}  // namespace salient
