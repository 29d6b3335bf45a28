// matmul_bf16 for Hopper with CuTe: persistent, warp-specialised, tensor copies into a ring of stages, wgmma.
// param GROUP_ROWS=16 values=8,16,32
// scratch maps f32 sm*96
// launch matmul_wide block=384 grid=min(sm,ceil(m,128)*ceil(n,256))*min(1,k)*max(0,1-k%8-n%8)*min(1,max(0,n-64)) smem=231424
// launch matmul_narrow block=384 grid=min(sm,ceil(m,128))*min(1,n)*min(1,k)*max(0,1-k%8-n%8)*min(1,max(0,65-n)) smem=231424
// launch matmul_odd block=256 grid=ceil(m,64)*ceil(n,64)*min(1,k%8+n%8+max(0,1-k))
//
// Exactly one of the three has a grid: wide for n > 64, narrow for n <= 64 (both need rows of 16-byte multiples, as
// the tensor copies do), odd for everything else. Each block writes its own three tensor maps to scratch memory.
#include <cuda_bf16.h>

#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

#ifndef GROUP_ROWS
#define GROUP_ROWS 16
#endif

using namespace cute;
using bf16 = cute::bfloat16_t;
using Full = cutlass::arch::ClusterTransactionBarrier;
using Empty = cutlass::arch::ClusterBarrier;

// ---- the plan of a tile: 128 rows of A, kColumns columns of B, 64 deep ---------------------------------------
template <int kColumns, int kStages>
struct Plan {
  static constexpr int kRows = 128, kDepth = 64, kBoxes = kColumns / 64;
  static constexpr unsigned kBytes = (kRows + kColumns) * kDepth * sizeof(bf16);
  using LayoutA = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<bf16>{},
                                         Shape<Int<kRows>, Int<kDepth>, Int<kStages>>{}));
  using LayoutB = decltype(tile_to_shape(GMMA::Layout_MN_SW128_Atom<bf16>{},
                                         Shape<Int<kColumns>, Int<kDepth>, Int<kStages>>{}, Step<_2, _1, _3>{}));
  using LayoutC = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<bf16>{}, Shape<_64, _64, _4>{}));
  using Atom = std::conditional_t<kColumns == 256, SM90_64x256x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>,
                                  SM90_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>>;
  using Mma = decltype(make_tiled_mma(Atom{}, Layout<Shape<_2, _1, _1>>{}));
  struct alignas(1024) Storage {
    bf16 a[cosize_v<LayoutA>];
    bf16 b[cosize_v<LayoutB>];
    bf16 c[cosize_v<LayoutC>];  // two boxes of 64 by 64 for each of the two warp groups that multiply
    alignas(128) unsigned char maps[3][128];
    uint64_t full[kStages], empty[kStages];
  };
};

// One warp writes the map of a row-major matrix (outer rows of inner elements), with boxes of 128-byte swizzle.
__device__ void write_map(unsigned char* local, unsigned char* target, const void* matrix, unsigned inner,
                          unsigned outer, unsigned box_inner, unsigned box_outer) {
  const int lane = threadIdx.x % 32;
  reinterpret_cast<unsigned*>(local)[lane] = 0;
  __syncwarp();
  TmaDescriptor& map = *reinterpret_cast<TmaDescriptor*>(local);
  if (lane == 0) {
    tma_descriptor_replace_addr_in_shared_mem(map, matrix);
    const unsigned at = cast_smem_ptr_to_uint(local);
    const unsigned long long stride = 2ull * inner;
    const unsigned one = 1;
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"r"(at), "r"(one) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(box_inner)
                 : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(box_outer)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(inner)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(outer)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at), "l"(stride)
                 : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(one) : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(one) : "memory");
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 10;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
  }
  __syncwarp();
  tma_descriptor_cp_fence_release(reinterpret_cast<TmaDescriptor*>(target), map);
}

// Tiles in groups of GROUP_ROWS tile rows, down the rows first, so that blocks that run at once share A and B in L2.
__device__ __forceinline__ void tile_at(int tile, int rows, int columns, int& row, int& column) {
  const int in_group = GROUP_ROWS * columns, group = tile / in_group;
  const int first = group * GROUP_ROWS, height = rows - first < GROUP_ROWS ? rows - first : GROUP_ROWS, rest = tile - group * in_group;
  row = first + rest % height;
  column = rest / height;
}

__device__ __forceinline__ uint32_t packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(pair);
}

template <int kColumns, int kStages>
__device__ __forceinline__ void multiply(const bf16* a, const bf16* b, bf16* c, long long m, long long n, long long k,
                                         float* scratch, TMA::CacheHintSm90 hint_a, TMA::CacheHintSm90 hint_b) {
  using P = Plan<kColumns, kStages>;
  extern __shared__ unsigned char raw[];
  auto& s = *reinterpret_cast<typename P::Storage*>((reinterpret_cast<uintptr_t>(raw) + 1023) / 1024 * 1024);
  unsigned char* maps = reinterpret_cast<unsigned char*>(scratch) + 384 * static_cast<long long>(blockIdx.x);
  const int warp = threadIdx.x / 32, role = threadIdx.x / 128;

  if (warp == 0) write_map(s.maps[0], maps, a, unsigned(k), unsigned(m), 64, P::kRows);
  if (warp == 1) write_map(s.maps[1], maps + 128, b, unsigned(n), unsigned(k), 64, P::kDepth);
  if (warp == 2) write_map(s.maps[2], maps + 256, c, unsigned(n), unsigned(m), 64, 64);
  if (threadIdx.x == 96) {
    for (int i = 0; i < kStages; ++i) {
      Full::init(&s.full[i], 1);
      Empty::init(&s.empty[i], 8);  // one arrival of each warp that multiplies
    }
    cutlass::arch::fence_barrier_init();
  }
  __syncthreads();

  const int tile_rows = int((m + P::kRows - 1) / P::kRows), tile_columns = int((n + kColumns - 1) / kColumns);
  const int tiles = tile_rows * tile_columns, steps = int((k + P::kDepth - 1) / P::kDepth);
  int stage = 0;
  uint32_t phase = 0;
  const auto next = [&] {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  };

  if (role == 0) {  // ---- loads
    cutlass::arch::warpgroup_reg_dealloc<40>();
    if (threadIdx.x != 0) return;
    const TmaDescriptor* const map_a = reinterpret_cast<const TmaDescriptor*>(maps);
    const TmaDescriptor* const map_b = reinterpret_cast<const TmaDescriptor*>(maps + 128);
    tma_descriptor_fence_acquire(map_a);
    tma_descriptor_fence_acquire(map_b);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int row, column;
      tile_at(tile, tile_rows, tile_columns, row, column);
      for (int step = 0; step < steps; ++step) {
        Empty::wait(&s.empty[stage], phase ^ 1);
        Full::arrive_and_expect_tx(&s.full[stage], P::kBytes);
        SM90_TMA_LOAD_2D::copy(map_a, &s.full[stage], static_cast<uint64_t>(hint_a),
                               s.a + stage * P::kRows * P::kDepth, step * P::kDepth, row * P::kRows);
        for (int box = 0; box < P::kBoxes; ++box)
          SM90_TMA_LOAD_2D::copy(map_b, &s.full[stage], static_cast<uint64_t>(hint_b),
                                 s.b + stage * kColumns * P::kDepth + box * 64 * P::kDepth,
                                 column * kColumns + box * 64, step * P::kDepth);
        next();
      }
    }
    return;
  }

  // ---- multiplies: two warp groups, 64 rows each
  cutlass::arch::warpgroup_reg_alloc<232>();
  const int thread = threadIdx.x - 128, group = role - 1, in_group = thread % 128, lane = thread % 32;
  typename P::Mma mma;
  const auto mine = mma.get_slice(thread);
  Tensor sa = make_tensor(make_smem_ptr(s.a), typename P::LayoutA{});
  Tensor sb = make_tensor(make_smem_ptr(s.b), typename P::LayoutB{});
  Tensor fa = mine.make_fragment_A(mine.partition_A(sa));  // (MMA, rows, depth, stage)
  Tensor fb = mine.make_fragment_B(mine.partition_B(sb));
  Tensor sums = partition_fragment_C(mma, Shape<Int<P::kRows>, Int<kColumns>>{});
  const TmaDescriptor* const map_c = reinterpret_cast<const TmaDescriptor*>(maps + 256);
  if (in_group == 0) tma_descriptor_fence_acquire(map_c);
  bf16* const staging = s.c + group * 2 * 64 * 64;
  int buffer = 0;

  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int before = 0;
    mma.accumulate_ = GMMA::ScaleOut::Zero;
    for (int step = 0; step < steps; ++step) {
      Full::wait(&s.full[stage], phase);
      warpgroup_fence_operand(sums);
      warpgroup_arrive();
      CUTE_UNROLL
      for (int part = 0; part < size<2>(fa); ++part) {
        gemm(mma, fa(_, _, part, stage), fb(_, _, part, stage), sums);
        mma.accumulate_ = GMMA::ScaleOut::One;
      }
      warpgroup_commit_batch();
      warpgroup_wait<1>();  // the step before is complete, and its stage free
      warpgroup_fence_operand(sums);
      if (step > 0 && lane == 0) Empty::arrive(&s.empty[before]);
      before = stage;
      next();
    }
    warpgroup_wait<0>();
    warpgroup_fence_operand(sums);
    if (lane == 0) Empty::arrive(&s.empty[before]);

    int row, column;
    tile_at(tile, tile_rows, tile_columns, row, column);
    const long long first_row = row * static_cast<long long>(P::kRows) + group * 64;
    CUTE_UNROLL
    for (int box = 0; box < P::kBoxes; ++box) {
      bf16* const to = staging + buffer * 64 * 64;
      buffer ^= 1;
      if (in_group == 0) tma_store_wait<1>();  // the store that read this buffer last has read it
      cutlass::arch::NamedBarrier::sync(128, group);
      const int line = in_group / 32 * 16 + lane % 16;
      CUTE_UNROLL
      for (int pair = 0; pair < 4; ++pair) {
        const int j = (box * 8 + pair * 2) * 4, chunk = (pair * 2 + lane / 16) ^ (line % 8);
        SM90_U32x4_STSM_N::copy(packed(sums(j), sums(j + 1)), packed(sums(j + 2), sums(j + 3)),
                                packed(sums(j + 4), sums(j + 5)), packed(sums(j + 6), sums(j + 7)),
                                *reinterpret_cast<uint128_t*>(to + line * 64 + chunk * 8));
      }
      tma_store_fence();
      cutlass::arch::NamedBarrier::sync(128, group);
      if (in_group == 0) {
        const long long first_column = column * static_cast<long long>(kColumns) + box * 64;
        if (first_row < m && first_column < n)
          SM90_TMA_STORE_2D::copy(map_c, to, int(first_column), int(first_row));
        tma_store_arrive();
      }
    }
  }
  if (in_group == 0) tma_store_wait<0>();
}

extern "C" __global__ void __launch_bounds__(384, 1)
matmul_wide(const bf16* a, const bf16* b, bf16* c, long long m, long long n, long long k, float* maps) {
  multiply<256, 4>(a, b, c, m, n, k, maps, TMA::CacheHintSm90::EVICT_NORMAL, TMA::CacheHintSm90::EVICT_NORMAL);
}

// A is read once, B by every block.
extern "C" __global__ void __launch_bounds__(384, 1)
matmul_narrow(const bf16* a, const bf16* b, bf16* c, long long m, long long n, long long k, float* maps) {
  multiply<64, 8>(a, b, c, m, n, k, maps, TMA::CacheHintSm90::EVICT_FIRST, TMA::CacheHintSm90::EVICT_LAST);
}

// Any sizes, k = 0 too: tiles of 64 by 64 on the FMA units, 4 by 4 sums of a thread.
extern "C" __global__ void __launch_bounds__(256)
matmul_odd(const bf16* a, const bf16* b, bf16* c, long long m, long long n, long long k, float* maps) {
  __shared__ float left[16][68], right[16][68];
  Tensor ma = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, Int<1>{}));
  Tensor mb = make_tensor(make_gmem_ptr(b), make_shape(k, n), make_stride(n, Int<1>{}));
  Tensor mc = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, Int<1>{}));
  const long long columns = (n + 63) / 64, row0 = blockIdx.x / columns * 64, column0 = blockIdx.x % columns * 64;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sums[4][4] = {};
  for (long long t = 0; t < k; t += 16) {
    for (int e = threadIdx.x; e < 64 * 16; e += 256) {
      const long long i = row0 + e / 16, ta = t + e % 16, tb = t + e / 64, j = column0 + e % 64;
      left[e % 16][e / 16] = i < m && ta < k ? float(ma(i, ta)) : 0.0f;
      right[e / 64][e % 64] = j < n && tb < k ? float(mb(tb, j)) : 0.0f;
    }
    __syncthreads();
    const int depth = int(k - t < 16 ? k - t : 16);
    for (int u = 0; u < depth; ++u)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += left[u][y * 4 + i] * right[u][x * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row0 + y * 4 + i < m && column0 + x * 4 + j < n) mc(row0 + y * 4 + i, column0 + x * 4 + j) = bf16(sums[i][j]);
}
