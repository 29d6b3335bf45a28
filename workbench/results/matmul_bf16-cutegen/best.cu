// matmul_bf16 for Hopper: persistent, warp-specialised TMA + wgmma pipeline, B multicast inside a cluster.
// param WIDE_CLUSTER=1 values=1
// param NARROW_CLUSTER=1 values=1
// param GROUP_ROWS=8 values=4,8,16
// scratch maps f32 32768
// launch matmul_wide block=384 grid=max(0,min(sm-sm%WIDE_CLUSTER,WIDE_CLUSTER*ceil(m,128*WIDE_CLUSTER)*ceil(n,256))-1000000*min(1,k%8+n%8)-1000000*max(0,min(1,65-n))) smem=230848
// launch matmul_narrow block=384 grid=max(0,min(sm-sm%NARROW_CLUSTER,NARROW_CLUSTER*ceil(m,128*NARROW_CLUSTER)*ceil(n,64))-1000000*min(1,k%8+n%8)-1000000*max(0,min(1,n-64))) smem=230848
// launch matmul_odd block=256 grid=ceil(m,128)*ceil(n,128)*min(1,k%8+n%8)
//
// Exactly one of the three kernels has a non-empty grid:
//   wide    n > 64,  k and n multiples of 8: tile 128 x 256, depth 64, two warpgroups of m64n256k16
//   narrow  n <= 64, k and n multiples of 8: tile 128 x 64, depth 128, streams A from memory
//   odd     everything else: tile 128 x 128 with warp-level matrix instructions and guarded scalar loads
// The tensor maps are built on the device by every block (tensormap.replace) in its own part of the scratch memory.
#include <cuda_bf16.h>
#include <mma.h>

#ifndef WIDE_CLUSTER
#define WIDE_CLUSTER 1
#endif
#ifndef NARROW_CLUSTER
#define NARROW_CLUSTER 1
#endif
#ifndef GROUP_ROWS
#define GROUP_ROWS 8
#endif

using u32 = unsigned int;
using u64 = unsigned long long;
using bf16 = __nv_bfloat16;

// ---------------------------------------------------------------------------------------------------------------
// General tile of 128 x 128 for any size and alignment. The first 256 threads work, all threads synchronise.
// Needs 29184 bytes of shared memory aligned to 32 bytes.
__device__ __forceinline__ void general_tile(const bf16* a, const bf16* b, bf16* c, long long m, long long n,
                                             long long k, long long row0, long long col0, unsigned char* smem) {
  using namespace nvcuda;
  constexpr int kLda = 40, kLdb = 136, kLdc = 20;
  bf16* as = reinterpret_cast<bf16*>(smem);
  bf16* bs = as + 128 * kLda;
  float* cs = reinterpret_cast<float*>(bs + 32 * kLdb);
  const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31;
  const int wm = (warp & 3) * 32, wn = ((warp >> 2) & 1) * 64;
  const bool active = tid < 256;
  const bf16 zero = __float2bfloat16(0.0f);

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) wmma::fill_fragment(acc[i][j], 0.0f);

  bf16 ra[16], rb[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    ra[i] = zero;
    rb[i] = zero;
  }
  if (active) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int e = tid + i * 256;
      const long long gi = row0 + (e >> 5), ta = (e & 31), tb = (e >> 7), gj = col0 + (e & 127);
      if (gi < m && ta < k) ra[i] = a[gi * k + ta];
      if (gj < n && tb < k) rb[i] = b[tb * n + gj];
    }
  }
  for (long long t = 0; t < k; t += 32) {
    if (active) {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const int e = tid + i * 256;
        as[(e >> 5) * kLda + (e & 31)] = ra[i];
        bs[(e >> 7) * kLdb + (e & 127)] = rb[i];
      }
    }
    __syncthreads();
    if (active) {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const int e = tid + i * 256;
        const long long gi = row0 + (e >> 5), ta = t + 32 + (e & 31), tb = t + 32 + (e >> 7), gj = col0 + (e & 127);
        ra[i] = zero;
        rb[i] = zero;
        if (gi < m && ta < k) ra[i] = a[gi * k + ta];
        if (gj < n && tb < k) rb[i] = b[tb * n + gj];
      }
#pragma unroll
      for (int u = 0; u < 32; u += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> fb[4];
#pragma unroll
        for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], as + (wm + i * 16) * kLda + u, kLda);
#pragma unroll
        for (int j = 0; j < 4; ++j) wmma::load_matrix_sync(fb[j], bs + u * kLdb + wn + j * 16, kLdb);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
      }
    }
    __syncthreads();
  }
  if (active) {
    float* mine = cs + warp * 16 * kLdc;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        wmma::store_matrix_sync(mine, acc[i][j], kLdc, wmma::mem_row_major);
        __syncwarp();
#pragma unroll
        for (int e = lane; e < 256; e += 32) {
          const long long gi = row0 + wm + i * 16 + (e >> 4), gj = col0 + wn + j * 16 + (e & 15);
          if (gi < m && gj < n) c[gi * n + gj] = __float2bfloat16(mine[(e >> 4) * kLdc + (e & 15)]);
        }
        __syncwarp();
      }
  }
}

extern "C" __global__ void __launch_bounds__(256)
matmul_odd(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n, long long k,
           float* maps) {
  __shared__ __align__(128) unsigned char space[29184];
  const long long columns = (n + 127) / 128;
  const long long tile = blockIdx.x;
  general_tile(a, b, c, m, n, k, (tile / columns) * 128, (tile % columns) * 128, space);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// ---------------------------------------------------------------------------------------------------------------
// Plain loop, only for k = 0 or for base addresses that the tensor maps cannot describe.
__device__ __forceinline__ void plain_all(const bf16* a, const bf16* b, bf16* c, long long m, long long n,
                                          long long k) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long e = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; e < m * n; e += stride) {
    const long long i = e / n, j = e - i * n;
    float sum = 0.0f;
#pragma unroll 1
    for (long long t = 0; t < k; ++t) sum += __bfloat162float(a[i * k + t]) * __bfloat162float(b[t * n + j]);
    c[e] = __float2bfloat16(sum);
  }
}

__device__ __forceinline__ u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}

// ---- barriers -------------------------------------------------------------------------------------------------
__device__ __forceinline__ void barrier_init(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ __forceinline__ void barrier_expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ bool barrier_try(u32 bar, u32 parity) {
  u32 done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ __forceinline__ void barrier_wait(u32 bar, u32 parity) {
  while (!barrier_try(bar, parity)) {
  }
}
// Arrive at the barrier of the block number cta of the cluster, if on is not 0.
__device__ __forceinline__ void barrier_arrive_at(u32 bar, u32 cta, u32 on) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b32 r;\n"
      "setp.ne.u32 p, %2, 0;\n"
      "@p mapa.shared::cluster.u32 r, %0, %1;\n"
      "@p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r];\n"
      "}\n" ::"r"(bar),
      "r"(cta), "r"(on)
      : "memory");
}
__device__ __forceinline__ void cluster_synchronise() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ void named_barrier(int id) {
  asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory");
}

// ---- tensor maps ----------------------------------------------------------------------------------------------
// One warp builds a map of a row-major bf16 matrix (inner x outer) with 128-byte swizzle in shared memory and copies
// it to global memory.
__device__ __forceinline__ void build_map(unsigned char* local, u64 target, const void* address, u32 inner, u32 outer,
                                          u64 stride_bytes, u32 box_inner, u32 box_outer, int lane) {
  reinterpret_cast<u32*>(local)[lane] = 0;
  __syncwarp();
  const u32 local32 = shared_address(local);
  const u64 s = local32;
  if (lane == 0) {
    const u64 global = reinterpret_cast<u64>(address);
    const u32 one = 1;
#if (__CUDACC_VER_MAJOR__ > 12) || ((__CUDACC_VER_MAJOR__ == 12) && (__CUDACC_VER_MINOR__ >= 5))
    const u64 stride = stride_bytes;
#else
    const u64 stride = stride_bytes >> 4;
#endif
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"l"(s), "l"(global)
                 : "memory");
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"l"(s), "r"(one) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"l"(s), "r"(box_inner)
                 : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"l"(s), "r"(box_outer)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"l"(s), "r"(inner)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"l"(s), "r"(outer)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"l"(s), "l"(stride)
                 : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, %1;" ::"l"(s), "r"(one)
                 : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" ::"l"(s), "r"(one)
                 : "memory");
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 10;" ::"l"(s) : "memory");
    asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"l"(s) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" ::"l"(s) : "memory");
    asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"l"(s) : "memory");
  }
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
          target),
      "r"(local32)
      : "memory");
}
__device__ __forceinline__ void acquire_map(u64 map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
}

// ---- copies ---------------------------------------------------------------------------------------------------
__device__ __forceinline__ void load_box(u32 to, u64 map, u32 bar, int x, int y, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(map), "r"(bar), "r"(x), "r"(y), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void load_box_all(u32 to, u64 map, u32 bar, unsigned short mask, int x, int y, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(to),
      "l"(map), "r"(bar), "h"(mask), "r"(x), "r"(y), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void store_box(u32 from, u64 map, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from),
               "r"(x), "r"(y)
               : "memory");
}

// ---- warpgroup matrix instructions ----------------------------------------------------------------------------
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define ACC8(i)                                                                                             \
  "+f"(d[(i)]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3]), "+f"(d[(i) + 4]), "+f"(d[(i) + 5]), \
      "+f"(d[(i) + 6]), "+f"(d[(i) + 7])

template <int kColumns>
struct Wgmma;

template <>
struct Wgmma<64> {
  static __device__ __forceinline__ void run(float (&d)[32], u64 da, u64 db, int add) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1, 0, 1;\n"
        "}\n"
        : ACC8(0), ACC8(8), ACC8(16), ACC8(24)
        : "l"(da), "l"(db), "r"(add)
        : "memory");
  }
};

template <>
struct Wgmma<256> {
  static __device__ __forceinline__ void run(float (&d)[128], u64 da, u64 db, int add) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, "
        "%72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, "
        "%88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, "
        "%104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, "
        "%120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, p, 1, 1, 0, 1;\n"
        "}\n"
        : ACC8(0), ACC8(8), ACC8(16), ACC8(24), ACC8(32), ACC8(40), ACC8(48), ACC8(56), ACC8(64), ACC8(72), ACC8(80),
          ACC8(88), ACC8(96), ACC8(104), ACC8(112), ACC8(120)
        : "l"(da), "l"(db), "r"(add)
        : "memory");
  }
};

__device__ __forceinline__ u32 pack(float low, float high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

// Tile number t to tile coordinates: groups of GROUP_ROWS tile rows, walked column by column.
__device__ __forceinline__ void tile_at(u32 t, u32 tile_rows, u32 tile_columns, u32& tr, u32& tc) {
  const u32 width = GROUP_ROWS * tile_columns;
  const u32 group = t / width, first = group * GROUP_ROWS, rest = t - group * width;
  const u32 left = tile_rows - first;
  const u32 height = left < GROUP_ROWS ? left : GROUP_ROWS;
  tc = rest / height;
  tr = first + rest - tc * height;
}

// ---------------------------------------------------------------------------------------------------------------
// Warpgroup 0 loads (one thread), warpgroups 1 and 2 multiply 64 rows each. Four stages of 48 KiB. The blocks of a
// cluster work on tiles below each other, each loads 1 / kCluster of the tile of B for all of them.
template <int kColumns, int kDepth, int kCluster, u64 kPolicyA, u64 kPolicyB>
__device__ __forceinline__ void pipeline(const bf16* a, const bf16* b, bf16* c, long long m, long long n, long long k,
                                         float* maps, unsigned char* raw) {
  constexpr int kStages = 4;
  constexpr u32 kBytesA = 128 * kDepth * 2, kBytesB = kColumns * kDepth * 2, kStage = kBytesA + kBytesB;
  constexpr int kBoxes = kColumns / 64;
  constexpr bool kSplitColumns = kBoxes % kCluster == 0;
  constexpr u32 kBoxRows = kSplitColumns ? kDepth : kDepth / kCluster;
  static_assert(kStage == 49152, "the shared memory of the launch is for stages of 48 KiB");
  static_assert(kBoxRows % 8 == 0, "a box must be whole swizzle atoms");

  unsigned char* base = raw + ((1024u - (shared_address(raw) & 1023u)) & 1023u);
  const u32 stages = shared_address(base);
  const u32 staging = stages + kStages * kStage;
  unsigned char* local_maps = base + kStages * kStage + 32768;
  const u32 full = staging + 32768 + 384;
  const u32 empty = full + 8 * kStages;

  const int tid = threadIdx.x, lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);
  const int group = warp >> 2;
  const u32 rank = blockIdx.x % kCluster;
  const u32 first_tile = blockIdx.x / kCluster, tile_step = gridDim.x / kCluster;
  const u32 tile_rows = static_cast<u32>((m + 128 * kCluster - 1) / (128 * kCluster));
  const u32 tile_columns = static_cast<u32>((n + kColumns - 1) / kColumns);
  const u32 tiles = tile_rows * tile_columns;
  const u32 steps = static_cast<u32>((k + kDepth - 1) / kDepth);

  const u64 map_a = ((reinterpret_cast<u64>(maps) + 127ull) & ~127ull) + 384ull * blockIdx.x;
  const u64 map_b = map_a + 128, map_c = map_a + 256;

  if (warp == 0) {
    build_map(local_maps, map_a, a, static_cast<u32>(k), static_cast<u32>(m), static_cast<u64>(k) * 2, 64, 128, lane);
  } else if (warp == 1) {
    build_map(local_maps + 128, map_b, b, static_cast<u32>(n), static_cast<u32>(k), static_cast<u64>(n) * 2, 64,
              kBoxRows, lane);
  } else if (warp == 2) {
    build_map(local_maps + 256, map_c, c, static_cast<u32>(n), static_cast<u32>(m), static_cast<u64>(n) * 2, 64, 64,
              lane);
  } else if (warp == 3) {
    if (lane == 0) {
      for (int i = 0; i < kStages; ++i) {
        barrier_init(full + 8 * i, 1);
        barrier_init(empty + 8 * i, 8 * kCluster);  // one arrival from each consumer warp of each block
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async;" ::: "memory");
    }
  } else if (kColumns == 64 && group == 1) {
    // Start the stream from memory while the maps are built: the part of A that the first stages need, into L2.
    if (first_tile < tiles) {
      u32 tr, tc;
      tile_at(first_tile, tile_rows, tile_columns, tr, tc);
      const long long row = static_cast<long long>(tr * kCluster + rank) * 128 + (tid & 127);
      const long long wanted = kStages * kDepth < k ? kStages * kDepth : k;
      if (row < m) {
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(
                         static_cast<u64>(__cvta_generic_to_global(a + row * k))),
                     "r"(static_cast<u32>(wanted * 2))
                     : "memory");
      }
    }
  }
  __syncwarp();
  cluster_synchronise();

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 0 && lane == 0) {
      acquire_map(map_a);
      acquire_map(map_b);
      u32 stage = 0, phase = 0;
      for (u32 t = first_tile; t < tiles; t += tile_step) {
        u32 tr, tc;
        tile_at(t, tile_rows, tile_columns, tr, tc);
        const int row = static_cast<int>((tr * kCluster + rank) * 128);
        const int column = static_cast<int>(tc * kColumns);
        for (u32 step = 0; step < steps; ++step) {
          const int depth = static_cast<int>(step * kDepth);
          const u32 bar = full + 8 * stage;
          const u32 to_a = stages + stage * kStage, to_b = to_a + kBytesA;
          barrier_wait(empty + 8 * stage, phase ^ 1);
          barrier_expect(bar, kStage);
#pragma unroll
          for (int s = 0; s < kDepth / 64; ++s) load_box(to_a + s * 16384, map_a, bar, depth + s * 64, row, kPolicyA);
          if constexpr (kCluster == 1) {
#pragma unroll
            for (int i = 0; i < kBoxes; ++i)
              load_box(to_b + i * (kDepth * 128), map_b, bar, column + i * 64, depth, kPolicyB);
          } else if constexpr (kSplitColumns) {
            constexpr int kMine = kBoxes / kCluster;
#pragma unroll
            for (int i = 0; i < kMine; ++i) {
              const int box = static_cast<int>(rank) * kMine + i;
              load_box_all(to_b + box * (kDepth * 128), map_b, bar, static_cast<unsigned short>((1 << kCluster) - 1),
                           column + box * 64, depth, kPolicyB);
            }
          } else {
            load_box_all(to_b + rank * (kBoxRows * 128), map_b, bar,
                         static_cast<unsigned short>((1 << kCluster) - 1), column,
                         depth + static_cast<int>(rank * kBoxRows), kPolicyB);
          }
          if (++stage == kStages) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
    }
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int part = group - 1;
    const int ctid = tid & 127;
    const int cwarp = warp & 3;
    if (ctid == 0) acquire_map(map_c);
    __syncwarp();

    float d[kColumns / 2];
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) d[i] = 0.0f;

    // Matrix descriptors: 128-byte swizzle. A is depth-major (8 rows are 1024 bytes), B is column-major in the sense
    // of the instruction: 64 columns by 8 depths are 1024 bytes, the next 64 columns are kDepth * 128 bytes away.
    const u64 desc_a0 = (static_cast<u64>((stages + part * 8192) >> 4)) | (1ull << 16) | (64ull << 32) | (1ull << 62);
    const u64 desc_b0 = (static_cast<u64>((stages + kBytesA) >> 4)) | (static_cast<u64>(kDepth * 8) << 16) |
                        (64ull << 32) | (1ull << 62);
    const u32 signals = lane < kCluster ? 1u : 0u;  // in every warp: lane i signals block i

    u32 stage = 0, phase = 0, buffer = 0;
    for (u32 t = first_tile; t < tiles; t += tile_step) {
      for (u32 step = 0; step < steps; ++step) {
        barrier_wait(full + 8 * stage, phase);
        const u64 da = desc_a0 + static_cast<u64>(stage * (kStage >> 4));
        const u64 db = desc_b0 + static_cast<u64>(stage * (kStage >> 4));
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kColumns / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
        wgmma_fence();
#pragma unroll
        for (int q = 0; q < kDepth / 16; ++q)
          Wgmma<kColumns>::run(d, da + (q >> 2) * (16384 >> 4) + (q & 3) * (32 >> 4), db + q * (2048 >> 4),
                               q > 0 ? 1 : static_cast<int>(step));
        wgmma_commit();
        wgmma_wait<0>();
#pragma unroll
        for (int i = 0; i < kColumns / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
        barrier_arrive_at(empty + 8 * stage, static_cast<u32>(lane), signals);
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
      // All sums of the tile are complete here and all its stages are released.

      u32 tr, tc;
      tile_at(t, tile_rows, tile_columns, tr, tc);
      const long long row = static_cast<long long>(tr * kCluster + rank) * 128 + part * 64;
#pragma unroll
      for (int box = 0; box < kBoxes; ++box) {
        const u32 target = staging + part * 16384 + buffer * 8192;
        buffer ^= 1;
        if (ctid == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        __syncwarp();
        named_barrier(1 + part);
        const u32 line = target + (cwarp * 16 + (lane & 15)) * 128;
#pragma unroll
        for (int p = 0; p < 4; ++p) {
          const int j = (box * 8 + p * 2) * 4;
          const u32 to = line + (((p * 2 + (lane >> 4)) ^ (lane & 7)) << 4);
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                       "r"(pack(d[j], d[j + 1])), "r"(pack(d[j + 2], d[j + 3])), "r"(pack(d[j + 4], d[j + 5])),
                       "r"(pack(d[j + 6], d[j + 7]))
                       : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        named_barrier(1 + part);
        if (ctid == 0) {
          const long long column = static_cast<long long>(tc) * kColumns + box * 64;
          if (row < m && column < n) store_box(target, map_c, static_cast<int>(column), static_cast<int>(row));
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
        __syncwarp();
      }
    }
    if (ctid == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    __syncwarp();
  }
  // No block may leave while another one of its cluster can still write to its shared memory.
  cluster_synchronise();
}
#endif

// Compiled for sm_90a: the pipeline. Compiled for anything else: general tiles, correct and slower.
template <int kColumns, int kDepth, int kCluster, u64 kPolicyA, u64 kPolicyB>
__device__ __forceinline__ void multiply(const bf16* a, const bf16* b, bf16* c, long long m, long long n, long long k,
                                         float* maps, unsigned char* raw) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  const u64 addresses = reinterpret_cast<u64>(a) | reinterpret_cast<u64>(b) | reinterpret_cast<u64>(c);
  if (k <= 0 || (addresses & 15ull) != 0) {
    plain_all(a, b, c, m, n, k);
    return;
  }
  pipeline<kColumns, kDepth, kCluster, kPolicyA, kPolicyB>(a, b, c, m, n, k, maps, raw);
#else
  const long long columns = (n + 127) / 128, tiles = ((m + 127) / 128) * columns;
  for (long long t = blockIdx.x; t < tiles; t += gridDim.x)
    general_tile(a, b, c, m, n, k, (t / columns) * 128, (t % columns) * 128, raw);
#endif
}

extern "C" __global__ void __launch_bounds__(384, 1) __cluster_dims__(WIDE_CLUSTER, 1, 1)
matmul_wide(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n, long long k,
            float* maps) {
  extern __shared__ __align__(1024) unsigned char dynamic_space[];
  // A and B: normal eviction.
  multiply<256, 64, WIDE_CLUSTER, 0x1000000000000000ull, 0x1000000000000000ull>(a, b, c, m, n, k, maps,
                                                                                 dynamic_space);
}

extern "C" __global__ void __launch_bounds__(384, 1) __cluster_dims__(NARROW_CLUSTER, 1, 1)
matmul_narrow(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n, long long k,
              float* maps) {
  extern __shared__ __align__(1024) unsigned char dynamic_space[];
  // A is read once: evict first. B is read by all clusters: evict last.
  multiply<64, 128, NARROW_CLUSTER, 0x12F0000000000000ull, 0x14F0000000000000ull>(a, b, c, m, n, k, maps,
                                                                                   dynamic_space);
}
