// models/resident/row_moments.cu - see row_moments.h.
//
// Work split  a block per share of the rows and pair of tiles of 128 columns, eight warps of 32 x 64 products each;
//             then a thread per product adds the shares up.
// Access      rows in words of 16 bytes, asynchronously, three stages of 32 rows in shared memory, where eight rows of
//             a column lie in different banks.
// Limit       reads of rows, once for each pair of tiles.
// Sync        a block's stages; fixed order, no atomics.
#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/row_moments.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kTile = 128, kTileChunks = kTile / 8, kStages = 3, kStageRows = 32;
constexpr int kBlocks = 132;  // of all shares and pairs, one for a multiprocessor
constexpr int kRowBytes = kTile * 2, kSlabBytes = kStageRows * kRowBytes, kStageBytes = 2 * kSlabBytes;

int tiles_of(std::int64_t width) { return static_cast<int>((width + kTile - 1) / kTile); }
__host__ __device__ constexpr int pairs_of(int tiles) { return tiles * (tiles + 1) / 2; }
int shares_of(std::int64_t width) { return kBlocks / pairs_of(tiles_of(width)); }

/// Two tiles of columns, the first one no later: (0, 0), (0, 1), ..., (1, 1), ...
struct TilePair {
  int first, second;

  __device__ static TilePair of(int index, int tiles) {
    int first = 0;
    while (index >= tiles - first) index -= tiles - first, ++first;
    return {first, first + index};
  }
  static __device__ int index_of(int first, int second, int tiles) {
    return first * tiles - first * (first - 1) / 2 + second - first;
  }
};

__device__ __forceinline__ void transposed_tiles(std::uint32_t from, std::uint32_t (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

/// d [16, 8] += a [16, 16] * b [16, 8].
__device__ __forceinline__ void add_product(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                            std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A block's rows on their way through shared memory; those that are no first ones are zeros there.
class RowStages {
 public:
  __device__ RowStages(const RowMoments& of, TilePair pair, std::uint32_t memory)
      : of_(of), pair_(pair), memory_(memory), count_(*of.num_nodes) {
    load_flags(0);
  }

  /// Stages of this block.
  __device__ int count() const {
    const int all = static_cast<int>((count_ + kStageRows - 1) / kStageRows), shares = static_cast<int>(gridDim.x);
    const int mine = static_cast<int>(blockIdx.x);
    return all > mine ? (all - mine + shares - 1) / shares : 0;
  }
  /// Starts the copies of stage q, one after the other; an empty group where there is none.
  __device__ void ask(int q) {
    if (q < count()) {
      const std::uint32_t to = memory_ + static_cast<std::uint32_t>(q % kStages * kStageBytes);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        copy(to, row_in_stage(half), row_of(q, half), is_first_[half], pair_.first);
        if (!is_square()) copy(to + kSlabBytes, row_in_stage(half), row_of(q, half), is_first_[half], pair_.second);
      }
      load_flags(q + 1);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  /// All threads of the block come here, before they read stage q.
  __device__ void wait() const {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
  }
  /// Where the rows of stage q lie, of the pair's first and second tile.
  __device__ std::uint32_t first_slab(int q) const {
    return memory_ + static_cast<std::uint32_t>(q % kStages * kStageBytes);
  }
  __device__ std::uint32_t second_slab(int q) const { return first_slab(q) + (is_square() ? 0 : kSlabBytes); }

 private:
  __device__ bool is_square() const { return pair_.first == pair_.second; }
  __device__ static int row_in_stage(int half) {
    return static_cast<int>(threadIdx.x) / kTileChunks + half * (kStageRows / 2);
  }
  __device__ std::int64_t row_of(int q, int half) const {
    return (std::int64_t{q} * gridDim.x + blockIdx.x) * kStageRows + row_in_stage(half);
  }
  __device__ void load_flags(int q) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = row_of(q, half);
      is_first_[half] = row < count_ && of_.first[row] != 0;
    }
  }
  __device__ void copy(std::uint32_t slab, int in_stage, std::int64_t row, bool is_wanted, int tile) const {
    const int chunk = static_cast<int>(threadIdx.x) % kTileChunks;
    const std::int64_t column = std::int64_t{tile} * kTile + chunk * 8;
    const bool is_there = is_wanted && column < of_.rows.width;
    const Bf16* const from = of_.rows.as<const Bf16>() + (is_there ? row * of_.rows.width + column : 0);
    const auto to = slab + static_cast<std::uint32_t>(in_stage * kRowBytes + (chunk ^ (in_stage & 7)) * 16);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(is_there ? 16 : 0)
                 : "memory");
  }

  const RowMoments& of_;
  const TilePair pair_;
  const std::uint32_t memory_;
  const LocalId count_;
  bool is_first_[2];
};

/// A warp's results: rows m of the first tile's columns, n of the second one's.
struct WarpProduct {
  int m, n, lane;
  float sums[2][8][4] = {};

  __device__ static WarpProduct of_thread() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    return {warp % 4 * 32, warp / 4 * 64, static_cast<int>(threadIdx.x) % 32};
  }
  /// Where a lane's eight columns of a row of a stage lie.
  __device__ static std::uint32_t at(std::uint32_t slab, int row, int chunk) {
    return slab + static_cast<std::uint32_t>(row * kRowBytes + (chunk ^ (row & 7)) * 16);
  }
  __device__ __forceinline__ void add(std::uint32_t first, std::uint32_t second) {
    const int eight = lane % 8, upper = lane / 8 % 2, last = lane / 16;
#pragma unroll
    for (int row = 0; row < kStageRows; row += 16) {
      std::uint32_t a[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) transposed_tiles(at(first, row + eight + 8 * last, (m + 16 * i) / 8 + upper), a[i]);
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        std::uint32_t b[4];
        transposed_tiles(at(second, row + eight + 8 * upper, n / 8 + j + last), b);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          add_product(sums[i][j], a[i], b[0], b[1]);
          add_product(sums[i][j + 1], a[i], b[2], b[3]);
        }
      }
    }
  }
  __device__ void store(float* to) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float* const at = to + (m + 16 * i + lane / 4) * kTile + n + 8 * j + lane % 4 * 2;
        *reinterpret_cast<float2*>(at) = make_float2(sums[i][j][0], sums[i][j][1]);
        *reinterpret_cast<float2*>(at + 8 * kTile) = make_float2(sums[i][j][2], sums[i][j][3]);
      }
  }
};

/// Grid: shares of the rows, pairs of tiles.
__global__ void __launch_bounds__(kThreadsPerBlock, 1) row_moments_kernel(RowMoments of, int tiles) {
  __shared__ __align__(128) unsigned char memory[kStages * kStageBytes];
  RowStages stages(of, TilePair::of(static_cast<int>(blockIdx.y), tiles),
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)));
  WarpProduct mine = WarpProduct::of_thread();
  for (int q = 0; q < kStages - 1; ++q) stages.ask(q);
  for (int q = 0; q < stages.count(); ++q) {
    stages.wait();
    stages.ask(q + kStages - 1);  // where all warps have read what was there
    mine.add(stages.first_slab(q), stages.second_slab(q));
  }
  mine.store(of.parts + (std::int64_t{blockIdx.x} * gridDim.y + blockIdx.y) * kTile * kTile);
}

/// The sum over all rows of the product of two columns.
__device__ double total_of(const float* __restrict__ parts, int column, int other, int tiles, int shares) {
  const bool is_later = column / kTile > other / kTile;
  const int i = is_later ? other : column, j = is_later ? column : other, pairs = pairs_of(tiles);
  const int pair = TilePair::index_of(i / kTile, j / kTile, tiles);
  const float* const from = parts + std::int64_t{pair} * kTile * kTile + i % kTile * kTile + j % kTile;
  double sum = 0;
#pragma unroll 8
  for (int share = 0; share < shares; ++share) sum += from[std::int64_t{share} * pairs * kTile * kTile];
  return sum;
}

/// A block per row of the moments.
__global__ void __launch_bounds__(kThreadsPerBlock) moment_totals_kernel(RowMoments of, int tiles, int shares) {
  const int width = static_cast<int>(of.rows.width), ones = static_cast<int>(of.ones);
  const int i = static_cast<int>(blockIdx.x);
  const double count = max(1U, static_cast<unsigned>(*of.num_distinct));
  const double of_row = total_of(of.parts, ones, i, tiles, shares);
  for (int j = static_cast<int>(threadIdx.x); j < width; j += kThreadsPerBlock) {
    const double of_column = total_of(of.parts, ones, j, tiles, shares);
    of.moments[i * width + j] =
        static_cast<float>(total_of(of.parts, i, j, tiles, shares) - of_row * of_column / count);
    if (i == ones) of.moments[width * width + j] = static_cast<float>(of_column);
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

std::int64_t moment_parts_size(std::int64_t width) {
  return std::int64_t{shares_of(width)} * pairs_of(tiles_of(width)) * kTile * kTile;
}

void row_moments(const RowMoments& of, cudaStream_t stream) {
  const std::int64_t width = of.rows.width;
  require(width <= kMostMomentColumns, "moments are of rows of at most 384 columns");
  const int tiles = tiles_of(width), shares = shares_of(width);
  const dim3 grid(static_cast<unsigned>(shares), static_cast<unsigned>(pairs_of(tiles)));
  row_moments_kernel<<<grid, kThreadsPerBlock, 0, stream>>>(of, tiles);
  cuda_check(cudaGetLastError());
  moment_totals_kernel<<<static_cast<unsigned>(width), kThreadsPerBlock, 0, stream>>>(of, tiles, shares);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
