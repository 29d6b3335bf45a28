// matmul_bf16: persistent warp-specialised wgmma kernel. Clusters of two blocks lie one below the other and share B by
// multicast; a block computes 128 x BN: one thread loads by tensor copies, two groups of 128 threads multiply (64 x BN
// each), every warp sends its 16 rows of the result off by tensor copies while the next tile is already being loaded.
// gemm_big: BN 256, steps of 64 in k. gemm_skinny: n <= 64, BN 64, steps of 128 in k. gemm_rest: rows that are not
// multiples of 16 bytes, or k = 0.
// scratch maps f32 sm*96
// launch gemm_big block=384 grid=2*min(sm/2,ceil(m,256)*ceil(n,256))*min(1,k)*min(1,max(n,64)-64)*max(0,1-min(1,n%8+k%8)) smem=231424
// launch gemm_skinny block=384 grid=2*min(sm/2,ceil(m,256))*min(1,k)*min(1,n)*max(0,1-min(1,max(n,64)-64))*max(0,1-min(1,n%8+k%8)) smem=231424
// launch gemm_rest block=128 grid=ceil(m,64)*ceil(n,64)*max(min(1,n%8+k%8),1-min(1,k))
#include <cuda_bf16.h>

#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

using namespace cute;
using Full = cutlass::arch::ClusterTransactionBarrier;
using Empty = cutlass::arch::ClusterBarrier;

constexpr int kRows = 128;           // rows of a block's tile
constexpr int kClusterRows = 256;    // rows of the tile of a cluster of two
constexpr int kBox = 64;             // 64 numbers of 2 bytes are one swizzled line
constexpr int kBoxNumbers = 64 * 64; // of B
constexpr int kGroupRows = 8;        // tiles of clusters that go together through B, for the L2 cache

template <int BN, int BK, int STAGES>
struct TileStorage {
  alignas(1024) uint16_t a[STAGES][kRows * BK];
  alignas(1024) uint16_t b[STAGES][BN * BK];
  alignas(1024) unsigned char c[8][2][16 * 128];  // two pieces of 16 x 64 numbers for each multiplying warp
  alignas(128) unsigned char maps[3][128];
  alignas(16) uint64_t full[STAGES];
  uint64_t empty[STAGES];
};

template <int BN>
struct AtomOf;
template <>
struct AtomOf<256> {
  using Type = SM90_64x256x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>;
};
template <>
struct AtomOf<64> {
  using Type = SM90_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>;
};

// All lanes of one warp. Boxes are 64 numbers wide, swizzled by 128 bytes.
static __device__ __forceinline__ void write_map(unsigned char* local, unsigned char* target, const void* matrix,
                                                 unsigned columns, unsigned rows, unsigned box_rows) {
  reinterpret_cast<unsigned*>(local)[threadIdx.x % 32] = 0;
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    const unsigned at = cast_smem_ptr_to_uint(local);
    const unsigned long long stride = columns * 2ULL;
    const unsigned box_columns = kBox, one = 1;
#define REPLACE(what, constraint, value) \
  asm volatile("tensormap.replace.tile." what ", %1;" ::"r"(at), constraint(value) : "memory")
    tma_descriptor_replace_addr_in_shared_mem(*reinterpret_cast<TmaDescriptor*>(local), matrix);
    REPLACE("rank.shared::cta.b1024.b32 [%0]", "r", one);
    REPLACE("box_dim.shared::cta.b1024.b32 [%0], 0", "r", box_columns);
    REPLACE("box_dim.shared::cta.b1024.b32 [%0], 1", "r", box_rows);
    REPLACE("global_dim.shared::cta.b1024.b32 [%0], 0", "r", columns);
    REPLACE("global_dim.shared::cta.b1024.b32 [%0], 1", "r", rows);
    REPLACE("global_stride.shared::cta.b1024.b64 [%0], 0", "l", stride);
    REPLACE("element_stride.shared::cta.b1024.b32 [%0], 0", "r", one);
    REPLACE("element_stride.shared::cta.b1024.b32 [%0], 1", "r", one);
#undef REPLACE
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 10;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
  }
  __syncwarp();
  tma_descriptor_cp_fence_release(reinterpret_cast<TmaDescriptor*>(target),
                                  *reinterpret_cast<TmaDescriptor*>(local));
}

// To the same place of both blocks, counted by the barrier at the same place of both.
static __device__ __forceinline__ void load_both(const TmaDescriptor* map, uint64_t* barrier, uint64_t hint, void* to,
                                                 int column, int row) {
  const uint16_t mask = 3;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(cast_smem_ptr_to_uint(to)),
      "l"(reinterpret_cast<uint64_t>(map)), "r"(cast_smem_ptr_to_uint(barrier)), "h"(mask), "r"(column), "r"(row),
      "l"(hint)
      : "memory");
}

static __device__ __forceinline__ void both_blocks_sync() {
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

static __device__ __forceinline__ uint32_t pack_pair(float low, float high) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

static __device__ __forceinline__ void store_matrices(uint32_t to, uint32_t x0, uint32_t x1, uint32_t x2,
                                                      uint32_t x3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x0), "r"(x1),
               "r"(x2), "r"(x3)
               : "memory");
}

struct Place {
  int row, column;  // counted in tiles of a cluster
};

static __device__ __forceinline__ Place place_of(int tile, int tiles_m, int tiles_n) {
  const int a_group = kGroupRows * tiles_n, group = tile / a_group, first = group * kGroupRows;
  const int left_over = tiles_m - first, height = left_over < kGroupRows ? left_over : kGroupRows, rest = tile - group * a_group;
  return {first + rest % height, rest / height};
}

template <int BN, int BK, int STAGES, bool STREAM_A>
static __device__ __forceinline__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                                int m, int n, int k, float* maps) {
  using Storage = TileStorage<BN, BK, STAGES>;
  using LayoutA = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<bfloat16_t>{},
                                         Shape<Int<kRows>, Int<BK>, Int<STAGES>>{}));
  using LayoutB = decltype(tile_to_shape(GMMA::Layout_MN_SW128_Atom<bfloat16_t>{},
                                         Shape<Int<BN>, Int<BK>, Int<STAGES>>{}, Step<_2, _1, _3>{}));
  static_assert(sizeof(Storage) + 1024 <= 231424, "shared memory of the launch lines");
  constexpr int kStageBytes = (kRows + BN) * BK * 2;
  constexpr int kBoxesOfB = BN * BK / kBoxNumbers / 2;  // that this block sends to both

  extern __shared__ unsigned char raw[];
  const uint32_t raw_at = cast_smem_ptr_to_uint(raw);
  Storage& s = *reinterpret_cast<Storage*>(raw + ((1024u - (raw_at & 1023u)) & 1023u));

  const int warp = __shfl_sync(0xffffffffu, int(threadIdx.x) / 32, 0), lane = int(threadIdx.x) % 32;
  const int group = warp / 4;
  const int rank = int(blockIdx.x) & 1, clusters = int(gridDim.x) / 2;
  const int tiles_m = (m + kClusterRows - 1) / kClusterRows, tiles_n = (n + BN - 1) / BN;
  const int tiles = tiles_m * tiles_n, steps = (k + BK - 1) / BK;
  unsigned char* mine_maps = reinterpret_cast<unsigned char*>(maps + 96 * blockIdx.x);

  if (warp == 0) {
    write_map(s.maps[0], mine_maps, a, unsigned(k), unsigned(m), kRows);
  } else if (warp == 1) {
    write_map(s.maps[1], mine_maps + 128, b, unsigned(n), unsigned(k), 64);
  } else if (warp == 2) {
    write_map(s.maps[2], mine_maps + 256, c, unsigned(n), unsigned(m), 16);
  } else if (warp == 3) {
    if (lane == 0) {
      for (int i = 0; i < STAGES; ++i) {
        Full::init(&s.full[i], 1);
        Empty::init(&s.empty[i], 16);  // eight warps of each of the two blocks
      }
      cutlass::arch::fence_barrier_init();
    }
    __syncwarp();
  }
  __syncthreads();
  both_blocks_sync();
  const TmaDescriptor* map_a = reinterpret_cast<const TmaDescriptor*>(mine_maps);
  const TmaDescriptor* map_b = map_a + 1;
  const TmaDescriptor* map_c = map_a + 2;

  if (group == 2) {  // loads
    cutlass::arch::warpgroup_reg_dealloc<40>();
    if (warp == 8 && lane == 0) {
      tma_descriptor_fence_acquire(map_a);
      tma_descriptor_fence_acquire(map_b);
      const uint64_t hint_a =
          static_cast<uint64_t>(STREAM_A ? TMA::CacheHintSm90::EVICT_FIRST : TMA::CacheHintSm90::EVICT_NORMAL);
      const uint64_t hint_b =
          static_cast<uint64_t>(STREAM_A ? TMA::CacheHintSm90::EVICT_LAST : TMA::CacheHintSm90::EVICT_NORMAL);
      int stage = 0;
      uint32_t phase = 0;
      for (int tile = int(blockIdx.x) / 2; tile < tiles; tile += clusters) {
        const Place place = place_of(tile, tiles_m, tiles_n);
        const int row = place.row * kClusterRows + rank * kRows, column = place.column * BN;
        for (int step = 0; step < steps; ++step) {
          Empty::wait(&s.empty[stage], phase ^ 1);  // both blocks have freed it
          Full::arrive_and_expect_tx(&s.full[stage], kStageBytes);
          CUTE_UNROLL
          for (int i = 0; i < BK / kBox; ++i)
            SM90_TMA_LOAD_2D::copy(map_a, &s.full[stage], hint_a, s.a[stage] + i * kRows * kBox, step * BK + i * kBox,
                                   row);
          CUTE_UNROLL
          for (int i = 0; i < kBoxesOfB; ++i) {
            const int box = rank * kBoxesOfB + i, down = box % (BK / 64), right = box / (BK / 64);
            load_both(map_b, &s.full[stage], hint_b, s.b[stage] + box * kBoxNumbers, column + right * kBox,
                      step * BK + down * 64);
          }
          if (++stage == STAGES) stage = 0, phase ^= 1;
        }
      }
    }
    __syncwarp();
  } else {  // two groups multiply
    cutlass::arch::warpgroup_reg_alloc<232>();
    if (lane == 0) tma_descriptor_fence_acquire(map_c);
    __syncwarp();
    auto mma = make_tiled_mma(typename AtomOf<BN>::Type{}, Layout<Shape<_2, _1, _1>>{});
    Tensor sa = make_tensor(make_smem_ptr(reinterpret_cast<bfloat16_t*>(&s.a[0][0])), LayoutA{});
    Tensor sb = make_tensor(make_smem_ptr(reinterpret_cast<bfloat16_t*>(&s.b[0][0])), LayoutB{});
    auto mine = mma.get_slice(group * 128);
    Tensor fa = mine.make_fragment_A(mine.partition_A(sa));
    Tensor fb = mine.make_fragment_B(mine.partition_B(sb));
    Tensor sums = partition_fragment_C(mma, Shape<Int<kRows>, Int<BN>>{});

    // Lane l gives the address of row l % 16 in the 16-byte column 2 * j + l / 16, swizzled.
    const uint32_t line = cast_smem_ptr_to_uint(&s.c[warp][0][0]) + (lane % 16) * 128;
    int stage = 0, buffer = 0;
    uint32_t phase = 0;
    for (int tile = int(blockIdx.x) / 2; tile < tiles; tile += clusters) {
      Full::wait(&s.full[stage], phase);
      warpgroup_fence_operand(sums);
      warpgroup_arrive();
      mma.accumulate_ = GMMA::ScaleOut::Zero;
      CUTE_UNROLL
      for (int i = 0; i < size<2>(fa); ++i) {
        gemm(mma, fa(_, _, i, stage), fb(_, _, i, stage), sums);
        mma.accumulate_ = GMMA::ScaleOut::One;
      }
      warpgroup_commit_batch();
      warpgroup_fence_operand(sums);
      int before = stage;
      if (++stage == STAGES) stage = 0, phase ^= 1;

      for (int step = 1; step < steps; ++step) {
        Full::wait(&s.full[stage], phase);
        warpgroup_fence_operand(sums);
        warpgroup_arrive();
        CUTE_UNROLL
        for (int i = 0; i < size<2>(fa); ++i) gemm(mma, fa(_, _, i, stage), fb(_, _, i, stage), sums);
        warpgroup_commit_batch();
        warpgroup_wait<1>();
        warpgroup_fence_operand(sums);
        if (lane < 2) Empty::arrive(&s.empty[before], uint32_t(lane), 1u);  // in both blocks
        before = stage;
        if (++stage == STAGES) stage = 0, phase ^= 1;
      }
      warpgroup_wait<0>();
      warpgroup_fence_operand(sums);
      if (lane < 2) Empty::arrive(&s.empty[before], uint32_t(lane), 1u);

      const Place place = place_of(tile, tiles_m, tiles_n);
      const int row = place.row * kClusterRows + rank * kRows + warp * 16, column = place.column * BN;
      CUTE_UNROLL
      for (int p = 0; p < BN / kBox; ++p) {
        if (lane == 0) tma_store_wait<1>();  // the store before the last one has read its piece
        __syncwarp();
        const uint32_t to = line + buffer * 2048;
        CUTE_UNROLL
        for (int j = 0; j < 4; ++j) {
          const int v = p * 32 + j * 8;
          store_matrices(to + (((j * 2 + lane / 16) ^ (lane % 8)) * 16), pack_pair(sums(v + 0), sums(v + 1)),
                         pack_pair(sums(v + 2), sums(v + 3)), pack_pair(sums(v + 4), sums(v + 5)),
                         pack_pair(sums(v + 6), sums(v + 7)));
        }
        tma_store_fence();
        __syncwarp();
        if (lane == 0) {
          if (row < m && column + p * kBox < n)
            SM90_TMA_STORE_2D::copy(map_c, &s.c[warp][buffer][0], column + p * kBox, row);
          tma_store_arrive();  // a group even if nothing was sent: the count stays right
        }
        buffer ^= 1;
      }
    }
    if (lane == 0) tma_store_wait<0>();
    __syncwarp();
  }
  both_blocks_sync();  // no block ends while the other one still sends to it
}

extern "C" __global__ __launch_bounds__(384, 1) void __cluster_dims__(2, 1, 1)
    gemm_big(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n, long long k,
             float* maps) {
  multiply<256, 64, 4, false>(a, b, c, int(m), int(n), int(k), maps);
}

extern "C" __global__ __launch_bounds__(384, 1) void __cluster_dims__(2, 1, 1)
    gemm_skinny(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n,
                long long k, float* maps) {
  multiply<64, 128, 4, true>(a, b, c, int(m), int(n), int(k), maps);
}

// Any size: tiles of 64 x 64, four warps of 32 x 32 each, steps of 32 in k, single numbers from memory.
extern "C" __global__ void __launch_bounds__(128) gemm_rest(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                                            __nv_bfloat16* c, long long m, long long n, long long k,
                                                            float*) {
  __shared__ __align__(16) unsigned short left[64][40];
  __shared__ __align__(16) unsigned short right[32][72];
  const unsigned short* from_a = reinterpret_cast<const unsigned short*>(a);
  const unsigned short* from_b = reinterpret_cast<const unsigned short*>(b);
  const long long tiles_n = (n + 63) / 64, block = blockIdx.x;
  const long long row0 = block / tiles_n * 64, column0 = block % tiles_n * 64;
  const int x = int(threadIdx.x), warp = x / 32, lane = x % 32;
  const int down = warp / 2 * 32, across = warp % 2 * 32;
  const int a_row = x / 32, a_column = x % 32, b_row = x / 64, b_column = x % 64;

  float sums[2][4][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = 0.0f;

  unsigned short next_a[16], next_b[16];
  auto load = [&](long long t) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const long long r = row0 + a_row + i * 4, q = t + a_column;
      next_a[i] = r < m && q < k ? from_a[r * k + q] : static_cast<unsigned short>(0);
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const long long r = t + b_row + i * 2, q = column0 + b_column;
      next_b[i] = r < k && q < n ? from_b[r * n + q] : static_cast<unsigned short>(0);
    }
  };

  if (k > 0) load(0);
  for (long long t = 0; t < k; t += 32) {
#pragma unroll
    for (int i = 0; i < 16; ++i) left[a_row + i * 4][a_column] = next_a[i];
#pragma unroll
    for (int i = 0; i < 16; ++i) right[b_row + i * 2][b_column] = next_b[i];
    __syncthreads();
    if (t + 32 < k) load(t + 32);
#pragma unroll
    for (int u = 0; u < 32; u += 16) {
      uint32_t ra[2][4], rb[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(ra[i][0]), "=r"(ra[i][1]), "=r"(ra[i][2]), "=r"(ra[i][3])
                     : "r"(cast_smem_ptr_to_uint(&left[down + i * 16 + lane % 16][u + lane / 16 * 8]))
                     : "memory");
#pragma unroll
      for (int j = 0; j < 2; ++j)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(rb[j][0]), "=r"(rb[j][1]), "=r"(rb[j][2]), "=r"(rb[j][3])
                     : "r"(cast_smem_ptr_to_uint(&right[u + lane % 16][across + j * 16 + lane / 16 * 8]))
                     : "memory");
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
              : "r"(ra[i][0]), "r"(ra[i][1]), "r"(ra[i][2]), "r"(ra[i][3]), "r"(rb[j / 2][j % 2 * 2]),
                "r"(rb[j / 2][j % 2 * 2 + 1]));
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const long long r = row0 + down + i * 16 + lane / 4 + e / 2 * 8;
        const long long q = column0 + across + j * 8 + lane % 4 * 2 + e % 2;
        if (r < m && q < n) c[r * n + q] = __float2bfloat16(sums[i][j][e]);
      }
}
