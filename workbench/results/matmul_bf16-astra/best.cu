// matmul_bf16: wgmma fed by a ring of cp.async stages in 128-byte-swizzled shared memory.
// launch mm_wide block=256 grid=min(1,max(n,64)-64)*max(1-min(1,k%8+n%8),0)*ceil(n,256)*ceil(m,128) smem=197632
// launch mm_narrow block=256 grid=max(1-min(1,max(n,64)-64),0)*max(1-min(1,k%8+n%8),0)*min(1,n)*ceil(m,128) smem=NSTAGES*24576+1024
// launch mm_any block=16 block_y=16 grid=min(1,k%8+n%8)*ceil(n,16) grid_y=ceil(m,16)
// param NSTAGES=8 values=5,6,8,9
// param GROUP=16 values=8,16,32
// param ROTATE=1 values=0,1
#include <cuda_bf16.h>

#ifndef NSTAGES
#define NSTAGES 8
#endif
#ifndef GROUP
#define GROUP 16
#endif
#ifndef ROTATE
#define ROTATE 1
#endif

typedef unsigned int u32;
typedef unsigned long long u64;

// ---------------------------------------------------------------- instructions

template <int PENDING>
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
__device__ __forceinline__ void copies_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
__device__ __forceinline__ void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING>
__device__ __forceinline__ void mma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// 16 bytes, only if go is not 0. No branch: the copies stand between wgmma instructions.
template <bool L2_256>
__device__ __forceinline__ void copy_plain(u32 dst, u64 src, u32 go) {
  if constexpr (L2_256) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %2, 0;\n"
        "@p cp.async.cg.shared.global.L2::256B [%0], [%1], 16;\n"
        "}\n" ::"r"(dst), "l"(src), "r"(go)
        : "memory");
  } else {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %2, 0;\n"
        "@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n"
        "}\n" ::"r"(dst), "l"(src), "r"(go)
        : "memory");
  }
}

// The same with bytes = 16, or 0: then 16 zero bytes are written and nothing is read.
__device__ __forceinline__ void copy_checked(u32 dst, u64 src, u32 bytes, u32 go) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %3, 0;\n"
      "@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n"
      "}\n" ::"r"(dst), "l"(src), "r"(bytes), "r"(go)
      : "memory");
}

// d += A (K-major, shared) * B (MN-major, shared), one step of 16 values of k.
__device__ __forceinline__ void mma(float (&d)[128], u64 desc_a, u64 desc_b) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, "
      " %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, "
      " %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, "
      " %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, "
      " %56, %57, %58, %59, %60, %61, %62, %63, "
      " %64, %65, %66, %67, %68, %69, %70, %71, "
      " %72, %73, %74, %75, %76, %77, %78, %79, "
      " %80, %81, %82, %83, %84, %85, %86, %87, "
      " %88, %89, %90, %91, %92, %93, %94, %95, "
      " %96, %97, %98, %99, %100, %101, %102, %103, "
      " %104, %105, %106, %107, %108, %109, %110, %111, "
      " %112, %113, %114, %115, %116, %117, %118, %119, "
      " %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 1;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
        "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
        "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
        "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]),
        "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]),
        "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
        "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
        "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]),
        "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
        "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]),
        "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),
        "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
        "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
        "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]),
        "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(desc_a), "l"(desc_b), "r"(1)
      : "memory");
}

__device__ __forceinline__ void mma(float (&d)[32], u64 desc_a, u64 desc_b) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, "
      " %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, "
      " %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 1;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(desc_a), "l"(desc_b), "r"(1)
      : "memory");
}

template <int COUNT>
__device__ __forceinline__ void pin(float (&d)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// ---------------------------------------------------------------- loads

// The stream of k tiles (128 x 64 of a, 64 x BN of b) into the ring. FULL: nothing can be out of range.
template <int BN, int S, bool NARROW, bool FULL>
struct Loader {
  static constexpr u32 STAGE = 16384 + BN * 128;
  u64 safe;              // a valid address for copies of 0 bytes
  u64 pa0, pb0, pa, pb;  // this thread's first chunk in k tile 0 and in the current k tile (byte addresses)
  u64 sa, sb;            // bytes of 32 rows of a, of b
  long long k;
  u32 dst0, dst, dst_end;
  u32 mask_a, mask_b;  // bit i: row r + 32 i of a is inside; bit p: column q * 8 + 64 p of b is inside
  int kt, total;
  int q, r;

  __device__ __forceinline__ void init(u32 base, const __nv_bfloat16* a, const __nv_bfloat16* b, long long m,
                                       long long n, long long k_, long long tile_m, long long tile_n, int total_,
                                       int first) {
    q = static_cast<int>(threadIdx.x & 7);
    r = static_cast<int>(threadIdx.x >> 3);
    k = k_;
    total = total_;
    const u64 ga = static_cast<u64>(__cvta_generic_to_global(a));
    const u64 gb = static_cast<u64>(__cvta_generic_to_global(b));
    const long long row = tile_m * 128 + r, col = tile_n * BN + q * 8;
    safe = ga;
    pa0 = ga + 2ull * static_cast<u64>(row * k_ + q * 8);
    pb0 = gb + 2ull * static_cast<u64>(r * n + col);
    sa = 64ull * static_cast<u64>(k_);
    sb = 64ull * static_cast<u64>(n);
    kt = first;
    pa = pa0 + 128ull * static_cast<u64>(first);
    pb = pb0 + 2ull * sb * static_cast<u64>(first);
    dst0 = base + static_cast<u32>(r * 128 + ((q ^ (r & 7)) << 4));
    dst = dst0;
    dst_end = dst0 + S * STAGE;
    mask_a = 0;
    mask_b = 0;
    if constexpr (!FULL) {
#pragma unroll
      for (int i = 0; i < 4; ++i) mask_a |= (row + 32 * i < m ? 1u : 0u) << i;
#pragma unroll
      for (int p = 0; p < BN / 64; ++p) mask_b |= (col + 64 * p < n ? 1u : 0u) << p;
    }
  }

  __device__ __forceinline__ void put_a(int i, u32 go) const {
    const u64 src = pa + static_cast<u64>(i) * sa;
    const u32 to = dst + static_cast<u32>(i) * 4096u;
    if constexpr (FULL) {
      copy_plain<NARROW>(to, src, go);
    } else {
      const u32 in_k = static_cast<long long>(kt) * 64 + q * 8 < k ? 1u : 0u;
      const u32 ok = (mask_a >> i) & in_k & 1u;
      copy_checked(to, ok != 0 ? src : safe, ok * 16u, go);
    }
  }

  __device__ __forceinline__ void put_b(int h, int p, u32 go) const {
    const u64 src = pb + static_cast<u64>(h) * sb + static_cast<u64>(p) * 128ull;
    const u32 to = dst + 16384u + static_cast<u32>(p) * 8192u + static_cast<u32>(h) * 4096u;
    if constexpr (FULL) {
      copy_plain<false>(to, src, go);
    } else {
      const u32 in_k = static_cast<long long>(kt) * 64 + r + 32 * h < k ? 1u : 0u;
      const u32 ok = (mask_b >> p) & in_k & 1u;
      copy_checked(to, ok != 0 ? src : safe, ok * 16u, go);
    }
  }

  // Quarter u (0..3) of the current k tile.
  __device__ __forceinline__ void part(int u, u32 go) const {
    put_a(u, go);
    if constexpr (BN == 256) {
      put_b(0, u, go);
      put_b(1, u, go);
    } else {
      if (u < 2) put_b(u, 0, go);
    }
  }

  __device__ __forceinline__ void next() {
    dst += STAGE;
    dst = dst == dst_end ? dst0 : dst;
    kt += 1;
    pa += 128ull;
    pb += 2ull * sb;
    if constexpr (NARROW) {  // the rotated order goes on at k tile 0
      const bool wrap = kt == total;
      kt = wrap ? 0 : kt;
      pa = wrap ? pa0 : pa;
      pb = wrap ? pb0 : pb;
    }
  }
};

// ---------------------------------------------------------------- one tile of 128 x BN

template <int BN, int S, bool NARROW, bool FULL>
__device__ __forceinline__ void body(unsigned char* raw, const __nv_bfloat16* a, const __nv_bfloat16* b,
                                     __nv_bfloat16* c, long long m, long long n, long long k, long long tile_m,
                                     long long tile_n) {
  static_assert(BN == 256 || BN == 64, "tile width");
  static_assert(S >= 4, "the ring needs four stages");
  constexpr u32 STAGE = 16384 + BN * 128;
  constexpr int PITCH = BN * 2 + 16;

  const int tid = static_cast<int>(threadIdx.x);
  const u32 wg = __shfl_sync(0xffffffffu, threadIdx.x >> 7, 0);
  const u32 raw_address = static_cast<u32>(__cvta_generic_to_shared(raw));
  const u32 pad = (1024u - (raw_address & 1023u)) & 1023u;
  const u32 base = raw_address + pad;
  const int total = static_cast<int>((k + 63) / 64);

  int first = 0;
  if constexpr (NARROW && ROTATE != 0) {
    if (total > 0) first = static_cast<int>(blockIdx.x % static_cast<u32>(total));
  }
  Loader<BN, S, NARROW, FULL> load;
  load.init(base, a, b, m, n, k, tile_m, tile_n, total, first);

  // Prologue: k tiles 0..S-3; a group is committed even if it is empty.
#pragma unroll 1
  for (int i = 0; i < S - 2; ++i) {
    const u32 go = i < total ? 1u : 0u;
#pragma unroll
    for (int u = 0; u < 4; ++u) load.part(u, go);
    load.next();
    copies_commit();
  }

  // 128-byte swizzle; 1024 bytes from 8 rows to the next 8 rows; b: 8192 bytes from panel to panel.
  const u64 common = (1ull << 62) | (static_cast<u64>(1024 >> 4) << 32);
  const u64 desc_a = common | (1ull << 16) | static_cast<u64>(((base + wg * 8192u) & 0x3FFFFu) >> 4);
  const u64 desc_b =
      common | (static_cast<u64>(8192 >> 4) << 16) | static_cast<u64>(((base + 16384u) & 0x3FFFFu) >> 4);

  float d[BN / 2];
#pragma unroll
  for (int i = 0; i < BN / 2; ++i) d[i] = 0.0f;
  pin(d);

  u32 offset = 0;  // of the stage of k tile t, in units of 16 bytes
#pragma unroll 1
  for (int t = 0; t < total; ++t) {
    copies_wait<S - 3>();  // tile t: this thread's copies are done
    proxy_fence();         // and visible to wgmma
    __syncthreads();       // everyone's; and everyone's wgmma of t - 2 is done
    const u32 go = t + (S - 2) < total ? 1u : 0u;
    mma_fence();
    // Tile t + S - 2 goes into the stage of t - 2, which is free. Its copies are spread between the steps.
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      mma(d, desc_a + offset + static_cast<u64>(u * (32 >> 4)), desc_b + offset + static_cast<u64>(u * (2048 >> 4)));
      if (u == 3) mma_commit();
      load.part(u, go);
    }
    load.next();
    copies_commit();
    mma_wait<1>();  // wgmma of t - 1 is done, that of t runs on
    offset += STAGE >> 4;
    offset = offset == S * (STAGE >> 4) ? 0u : offset;
  }
  mma_wait<0>();
  pin(d);
  copies_wait_all();
  __syncthreads();  // the ring is free

  // Epilogue: each warp turns its 16 rows round in its own piece of shared memory.
  const int warp = tid >> 5, lane = tid & 31;
  unsigned char* const area = raw + pad + warp * (16 * PITCH);
  unsigned char* const put = area + (lane >> 2) * PITCH + (lane & 3) * 4;
#pragma unroll
  for (int j = 0; j < BN / 8; ++j) {
    *reinterpret_cast<__nv_bfloat162*>(put + j * 16) = __floats2bfloat162_rn(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<__nv_bfloat162*>(put + 8 * PITCH + j * 16) = __floats2bfloat162_rn(d[4 * j + 2], d[4 * j + 3]);
  }
  __syncwarp();

  constexpr int LANES = BN / 8;          // lanes (of 16 bytes) that make a row: 32 or 8
  constexpr int ROWS = 32 / LANES;       // rows per pass: 1 or 4
  const int sub = lane / LANES, chunk = lane % LANES;
  const long long row0 = tile_m * 128 + warp * 16 + sub;
  const long long col = tile_n * BN + chunk * 8;
  const unsigned char* const get = area + sub * PITCH + chunk * 16;
#pragma unroll
  for (int x = 0; x < 16 / ROWS; ++x) {
    const long long row = row0 + x * ROWS;
    const uint4 value = *reinterpret_cast<const uint4*>(get + x * (ROWS * PITCH));
    if (FULL || (row < m && col < n)) *reinterpret_cast<uint4*>(c + row * n + col) = value;
  }
}

// ---------------------------------------------------------------- kernels

extern "C" __global__ void __launch_bounds__(256, 1)
    mm_wide(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n, long long k) {
  extern __shared__ __align__(16) unsigned char raw[];
  // GROUP rows of tiles are walked together, column by column, so that neighbours in time share a and b in L2.
  const u32 tiles_m = static_cast<u32>((m + 127) / 128), tiles_n = static_cast<u32>((n + 255) / 256);
  const u32 per_group = static_cast<u32>(GROUP) * tiles_n;
  const u32 group = blockIdx.x / per_group, rest = blockIdx.x % per_group;
  const u32 first = group * static_cast<u32>(GROUP);
  const u32 left = tiles_m - first;
  const u32 rows = left < static_cast<u32>(GROUP) ? left : static_cast<u32>(GROUP);
  const long long tile_m = first + rest % rows, tile_n = rest / rows;
  const bool full = (tile_m + 1) * 128 <= m && (tile_n + 1) * 256 <= n && k % 64 == 0;
  if (full) {
    body<256, 4, false, true>(raw, a, b, c, m, n, k, tile_m, tile_n);
  } else {
    body<256, 4, false, false>(raw, a, b, c, m, n, k, tile_m, tile_n);
  }
}

extern "C" __global__ void __launch_bounds__(256, 1)
    mm_narrow(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n,
              long long k) {
  extern __shared__ __align__(16) unsigned char raw[];
  const long long tile_m = blockIdx.x;
  const bool full = (tile_m + 1) * 128 <= m && n >= 64 && k % 64 == 0;
  if (full) {
    body<64, NSTAGES, true, true>(raw, a, b, c, m, n, k, tile_m, 0);
  } else {
    body<64, NSTAGES, true, false>(raw, a, b, c, m, n, k, tile_m, 0);
  }
}

// Shapes whose rows are not multiples of 16 bytes.
extern "C" __global__ void mm_any(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m,
                                  long long n, long long k) {
  __shared__ float left[16][17], right[16][17];
  const long long i = blockIdx.y * 16LL + threadIdx.y, j = blockIdx.x * 16LL + threadIdx.x;
  float sum = 0.0f;
  for (long long t = 0; t < k; t += 16) {
    const long long ta = t + threadIdx.x, tb = t + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = i < m && ta < k ? __bfloat162float(a[i * k + ta]) : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < n && tb < k ? __bfloat162float(b[tb * n + j]) : 0.0f;
    __syncthreads();
    const int depth = static_cast<int>(k - t < 16 ? k - t : 16);
    for (int u = 0; u < depth; ++u) sum += left[threadIdx.y][u] * right[u][threadIdx.x];
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = __float2bfloat16(sum);
}
