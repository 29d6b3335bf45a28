// bf16 matrix product. Where rows are multiples of 16 bytes: tensor copies into a ring of stages, two warp groups
// multiply 64 rows each, clusters of two blocks (one below the other) share the tile of b. Tiles are 256 rows a
// cluster by 256 (or, for n <= 64, 64) columns. Other sizes, and k = 0, go to matmul_any.
// scratch maps f32 sm*96
// launch matmul_wide block=384 grid=max(0,1-min(1,k%8+n%8+1-min(1,k)))*min(1,n-min(n,64))*min(sm/2*2,2*ceil(m,256)*ceil(n,256)) smem=231424
// launch matmul_narrow block=384 grid=max(0,1-min(1,k%8+n%8+1-min(1,k)))*max(0,1-min(1,n-min(n,64)))*min(1,n)*min(sm/2*2,2*ceil(m,256)) smem=231424
// launch matmul_any block=256 grid=min(1,k%8+n%8+1-min(1,k))*min(sm*4,ceil(m,64)*ceil(n,64))
#include <cuda_bf16.h>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

using namespace cute;
using Full = cutlass::arch::ClusterTransactionBarrier;
using Empty = cutlass::arch::ClusterBarrier;

constexpr int kBlockM = 128;  // rows of a block, 64 for each of the two groups that multiply
constexpr int kBlockK = 64;   // one swizzled line of a
constexpr int kGroupRows = 8; // cluster tiles of one column of the walk

template <int N, int STAGES>
struct GemmShared {
  alignas(1024) unsigned char a[STAGES][kBlockM * kBlockK * 2];  // 128 rows of 128 bytes
  alignas(1024) unsigned char b[STAGES][N * kBlockK * 2];        // N / 64 boxes of 64 (k) lines of 128 bytes
  alignas(1024) unsigned char c[2][2][64 * 64 * 2];              // group, buffer: 64 rows of 128 bytes
  alignas(128) unsigned char maps[3][128];
  uint64_t full[STAGES], empty[STAGES];
};

// All lanes of one warp. Sizes are counted from the innermost dimension; a stride is in bytes and a multiple of 16.
__device__ __forceinline__ void write_map(unsigned char* local, unsigned char* target, const void* matrix,
                                          unsigned columns, unsigned rows, unsigned box_columns, unsigned box_rows) {
  reinterpret_cast<unsigned*>(local)[threadIdx.x % 32] = 0;
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    const unsigned at = cast_smem_ptr_to_uint(local);
    const unsigned long long stride = static_cast<unsigned long long>(columns) * 2;
#define REPLACE(what, constraint, value) \
  asm volatile("tensormap.replace.tile." what ", %1;" ::"r"(at), constraint(value) : "memory")
    tma_descriptor_replace_addr_in_shared_mem(*reinterpret_cast<TmaDescriptor*>(local), matrix);
    REPLACE("rank.shared::cta.b1024.b32 [%0]", "r", 1);  // dimensions - 1
    REPLACE("box_dim.shared::cta.b1024.b32 [%0], 0", "r", box_columns);
    REPLACE("box_dim.shared::cta.b1024.b32 [%0], 1", "r", box_rows);
    REPLACE("global_dim.shared::cta.b1024.b32 [%0], 0", "r", columns);
    REPLACE("global_dim.shared::cta.b1024.b32 [%0], 1", "r", rows);
    REPLACE("global_stride.shared::cta.b1024.b64 [%0], 0", "l", stride);  // of dimension 1
    REPLACE("element_stride.shared::cta.b1024.b32 [%0], 0", "r", 1);
    REPLACE("element_stride.shared::cta.b1024.b32 [%0], 1", "r", 1);
#undef REPLACE
    // bf16, swizzle of 128 bytes
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 10;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
  }
  __syncwarp();
  tma_descriptor_cp_fence_release(reinterpret_cast<TmaDescriptor*>(target),
                                  *reinterpret_cast<TmaDescriptor*>(local));
}

// To the same place, and to the barrier at the same place, in both blocks of the cluster.
__device__ __forceinline__ void load_both(const TmaDescriptor* map, uint64_t* barrier, uint64_t hint, void* to,
                                          int column, int row) {
  const uint16_t mask = 3;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%4, %5}], [%2], %3, %6;"
      :
      : "r"(cast_smem_ptr_to_uint(to)), "l"(reinterpret_cast<uint64_t>(map)), "r"(cast_smem_ptr_to_uint(barrier)),
        "h"(mask), "r"(column), "r"(row), "l"(hint)
      : "memory");
}

__device__ __forceinline__ uint32_t pack_pair(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Cluster tiles go down kGroupRows rows, then one column to the right: what runs at once is nearly a square.
__device__ __forceinline__ void find_tile(int tile, int row_tiles, int column_tiles, int& row, int& column) {
  const int per_group = kGroupRows * column_tiles, group = tile / per_group, rest = tile - group * per_group;
  const int first = group * kGroupRows;
  const int height = row_tiles - first < kGroupRows ? row_tiles - first : kGroupRows;
  column = rest / height;
  row = first + rest - column * height;
}

template <class Atom, int N, int STAGES, bool STREAM>
__device__ __forceinline__ void gemm_tiles(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                                           int n, int k, float* scratch) {
  extern __shared__ unsigned char raw[];
  using Shared = GemmShared<N, STAGES>;
  Shared& s = *reinterpret_cast<Shared*>(raw + (1024u - cast_smem_ptr_to_uint(raw) % 1024u) % 1024u);
  constexpr int kBoxK = N >= 128 ? kBlockK : kBlockK / 2;  // lines of a box of b
  constexpr uint32_t kStageBytes = (kBlockM + N) * kBlockK * 2;

  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
  const int lane = threadIdx.x % 32;
  const int rank = blockIdx.x % 2;  // in the cluster
  unsigned char* mine_maps = reinterpret_cast<unsigned char*>(scratch + 96 * blockIdx.x);

  if (warp == 0) write_map(s.maps[0], mine_maps, a, k, m, kBlockK, kBlockM);
  if (warp == 1) write_map(s.maps[1], mine_maps + 128, b, n, k, 64, kBoxK);
  if (warp == 2) write_map(s.maps[2], mine_maps + 256, c, n, m, 64, 64);
  if (warp == 8 && lane == 0) {
    for (int i = 0; i < STAGES; ++i) {
      Full::init(&s.full[i], 1);
      Empty::init(&s.empty[i], 16);  // eight warps of each of the two blocks
    }
    cutlass::arch::fence_barrier_init();
  }
  __syncwarp();
  __syncthreads();
  cluster_sync();

  const TmaDescriptor* map_a = reinterpret_cast<const TmaDescriptor*>(mine_maps);
  const TmaDescriptor* map_b = reinterpret_cast<const TmaDescriptor*>(mine_maps + 128);
  const TmaDescriptor* map_c = reinterpret_cast<const TmaDescriptor*>(mine_maps + 256);

  const int row_tiles = (m + 2 * kBlockM - 1) / (2 * kBlockM), column_tiles = (n + N - 1) / N;
  const int tiles = row_tiles * column_tiles, k_tiles = (k + kBlockK - 1) / kBlockK;
  const int clusters = gridDim.x / 2;

  int stage = 0;
  uint32_t phase = 0;
  if (warp >= 8) {
    cutlass::arch::warpgroup_reg_dealloc<40>();
    if (warp == 8 && lane == 0) {  // one thread loads
      constexpr uint64_t kHintA = static_cast<uint64_t>(STREAM ? TMA::CacheHintSm90::EVICT_FIRST
                                                               : TMA::CacheHintSm90::EVICT_NORMAL);
      constexpr uint64_t kHintB = static_cast<uint64_t>(STREAM ? TMA::CacheHintSm90::EVICT_LAST
                                                               : TMA::CacheHintSm90::EVICT_NORMAL);
      tma_descriptor_fence_acquire(map_a);
      tma_descriptor_fence_acquire(map_b);
      for (int tile = blockIdx.x / 2; tile < tiles; tile += clusters) {
        int tile_row, tile_column;
        find_tile(tile, row_tiles, column_tiles, tile_row, tile_column);
        const int row = tile_row * 2 * kBlockM + rank * kBlockM, column = tile_column * N;
        for (int t = 0; t < k_tiles; ++t) {
          Empty::wait(&s.empty[stage], phase ^ 1);  // both blocks have freed it
          Full::arrive_and_expect_tx(&s.full[stage], kStageBytes);
          SM90_TMA_LOAD_2D::copy(map_a, &s.full[stage], kHintA, s.a[stage], t * kBlockK, row);
          if constexpr (N >= 128) {  // half of the boxes
#pragma unroll
            for (int i = 0; i < N / 128; ++i) {
              const int box = rank * (N / 128) + i;
              load_both(map_b, &s.full[stage], kHintB, s.b[stage] + box * (64 * kBlockK * 2), column + box * 64,
                        t * kBlockK);
            }
          } else {  // half of the lines of the only box
            load_both(map_b, &s.full[stage], kHintB, s.b[stage] + rank * (kBoxK * 128), column,
                      t * kBlockK + rank * kBoxK);
          }
          if (++stage == STAGES) stage = 0, phase ^= 1;
        }
      }
    }
    __syncwarp();
  } else {
    cutlass::arch::warpgroup_reg_alloc<232>();
    const int group = warp / 4;
    const bool leader = threadIdx.x % 128 == 0;
    if (leader) tma_descriptor_fence_acquire(map_c);
    __syncwarp();

    auto mma = make_tiled_mma(Atom{}, Layout<Shape<_2, _1, _1>>{});
    auto sa = make_tensor(make_smem_ptr(reinterpret_cast<cute::bfloat16_t*>(&s.a[0][0])),
                          tile_to_shape(GMMA::Layout_K_SW128_Atom<cute::bfloat16_t>{},
                                        Shape<Int<kBlockM>, Int<kBlockK>, Int<STAGES>>{}));
    auto sb = make_tensor(make_smem_ptr(reinterpret_cast<cute::bfloat16_t*>(&s.b[0][0])),
                          tile_to_shape(GMMA::Layout_MN_SW128_Atom<cute::bfloat16_t>{},
                                        Shape<Int<N>, Int<kBlockK>, Int<STAGES>>{}, Step<_2, _1, _3>{}));
    auto mine = mma.get_slice(group * 128);
    auto fa = mine.make_fragment_A(mine.partition_A(sa));
    auto fb = mine.make_fragment_B(mine.partition_B(sb));

    // Where this lane's line of a 16 x 16 piece begins: rows are swizzled by their number modulo 8.
    const int line = warp % 4 * 16 + lane % 16;
    const uint32_t line_offset = line * 128, line_swizzle = line % 8, line_half = lane / 16;
    int buffer = 0;

    for (int tile = blockIdx.x / 2; tile < tiles; tile += clusters) {
      int tile_row, tile_column;
      find_tile(tile, row_tiles, column_tiles, tile_row, tile_column);
      const int row = tile_row * 2 * kBlockM + rank * kBlockM + group * 64, column = tile_column * N;

      auto sums = partition_fragment_C(mma, Shape<Int<kBlockM>, Int<N>>{});
      mma.accumulate_ = GMMA::ScaleOut::Zero;
      int before = -1;
      for (int t = 0; t < k_tiles; ++t) {
        Full::wait(&s.full[stage], phase);
        warpgroup_fence_operand(sums);
        warpgroup_arrive();
#pragma unroll
        for (int i = 0; i < kBlockK / 16; ++i) {
          gemm(mma, fa(_, _, i, stage), fb(_, _, i, stage), sums);
          mma.accumulate_ = GMMA::ScaleOut::One;
        }
        warpgroup_commit_batch();
        warpgroup_wait<1>();
        warpgroup_fence_operand(sums);
        // What the products before these read is free, in this block and in the one that shares b.
        if (before >= 0 && lane < 2) Empty::arrive(&s.empty[before], static_cast<uint32_t>(lane), 1u);
        before = stage;
        if (++stage == STAGES) stage = 0, phase ^= 1;
      }
      warpgroup_wait<0>();
      warpgroup_fence_operand(sums);
      if (before >= 0 && lane < 2) Empty::arrive(&s.empty[before], static_cast<uint32_t>(lane), 1u);

#pragma unroll
      for (int chunk = 0; chunk < N / 64; ++chunk) {
        unsigned char* to = s.c[group][buffer];
        const uint32_t address = cast_smem_ptr_to_uint(to) + line_offset;
        if (leader) tma_store_wait<1>();  // the store before the last one has read this buffer
        cutlass::arch::NamedBarrier::sync(128, group);
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
          const int at = 4 * (chunk * 8 + j);
          const uint32_t p0 = pack_pair(sums(at + 0), sums(at + 1));  // rows 0 to 7, columns 8 * j and on
          const uint32_t p1 = pack_pair(sums(at + 2), sums(at + 3));  // rows 8 to 15
          const uint32_t p2 = pack_pair(sums(at + 4), sums(at + 5));  // the next 8 columns
          const uint32_t p3 = pack_pair(sums(at + 6), sums(at + 7));
          const uint32_t place = address + (((j + line_half) ^ line_swizzle) << 4);
          asm volatile("stmatrix.sync.aligned.x4.m8n8.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(place), "r"(p0),
                       "r"(p1), "r"(p2), "r"(p3)
                       : "memory");
        }
        tma_store_fence();
        cutlass::arch::NamedBarrier::sync(128, group);
        if (leader) {
          SM90_TMA_STORE_2D::copy(map_c, to, column + chunk * 64, row);  // nothing is written beyond the matrix
          tma_store_arrive();
        }
        buffer ^= 1;
      }
    }
    if (leader) tma_store_wait<0>();
    __syncwarp();
  }
  cluster_sync();  // no block ends while the other may still send to it
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    matmul_wide(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n,
                long long k, float* maps) {
  using Atom = SM90_64x256x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>;
  gemm_tiles<Atom, 256, 4, false>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), maps);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    matmul_narrow(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n,
                  long long k, float* maps) {
  using Atom = SM90_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>;
  gemm_tiles<Atom, 64, 8, true>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), maps);
}

// Any size: tiles of 64 by 64, 4 by 4 sums a thread.
extern "C" __global__ void __launch_bounds__(256)
    matmul_any(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n,
               long long k, float*) {
  __shared__ __align__(16) float left[32][68];
  __shared__ __align__(16) float right[32][68];
  const long long columns = (n + 63) / 64, tiles = (m + 63) / 64 * columns;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const long long i0 = tile / columns * 64, j0 = tile % columns * 64;
    float sum[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[i][j] = 0.0f;
    }
    for (long long t = 0; t < k; t += 32) {
#pragma unroll
      for (int step = 0; step < 8; ++step) {
        const int e = step * 256 + threadIdx.x;
        const int r = e / 32, u = e % 32, v = e / 64, q = e % 64;
        left[u][r] = i0 + r < m && t + u < k ? __bfloat162float(a[(i0 + r) * k + t + u]) : 0.0f;
        right[v][q] = t + v < k && j0 + q < n ? __bfloat162float(b[(t + v) * n + j0 + q]) : 0.0f;
      }
      __syncthreads();
#pragma unroll 8
      for (int u = 0; u < 32; ++u) {
        const float4 p = *reinterpret_cast<const float4*>(&left[u][4 * y]);
        const float4 q = *reinterpret_cast<const float4*>(&right[u][4 * x]);
        const float ps[4] = {p.x, p.y, p.z, p.w}, qs[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) sum[i][j] += ps[i] * qs[j];
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const long long row = i0 + 4 * y + i, column = j0 + 4 * x + j;
        if (row < m && column < n) c[row * n + column] = __float2bfloat16(sum[i][j]);
      }
    }
  }
}
