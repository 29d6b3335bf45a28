// models/products/wgmma.cuh - what Hopper's tensor cores and copy engine are told, as PTX: products of a warpgroup,
// barriers of shared memory that count bytes, copies of tiles. For kernels compiled for sm_90a alone.
//
// A product adds A [64, 16] * B [16, n] to accumulators. B is in shared memory in rows of 64 bf16 or f16, 128 bytes,
// whose 16-byte pieces are exchanged: piece p of row r lies at p ^ (r & 7), as the copy engine writes it. The rows are
// columns of B (kAlongK: their elements follow k) or rows of it (kAcrossK). A is in shared memory, too, or in
// registers.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "models/products/eight_columns.cuh"

namespace salient {

// ---- shared memory ---------------------------------------------------------------------------------------

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// What this thread wrote to shared memory is seen by the tensor cores and the copy engine after the next barrier.
__device__ inline void publish_to_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// A barrier in shared memory whose phases end when all have arrived and all announced bytes are there.
struct Barrier {
  std::uint32_t address;

  __device__ void init(std::uint32_t arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
  __device__ void arrive() const { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory"); }
  __device__ void arrive_and_expect(std::uint32_t bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  }
  /// @param phase  number of the phase to wait for, from 0
  __device__ void wait(std::uint32_t phase) const {
    asm volatile(
        "{\n.reg .pred done;\nwaiting%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra waiting%=;\n}" ::"r"(address),
        "r"(phase & 1)
        : "memory");
  }
};

/// Of a ring of chunks in shared memory: which of them are full, and which are empty.
template <int kSlots>
struct RingBarriers {
  static constexpr int kCount = 2 * kSlots;
  std::uint32_t address;  ///< of kCount words of 8 bytes

  __device__ Barrier full(int slot) const { return {address + 8 * static_cast<std::uint32_t>(slot)}; }
  __device__ Barrier empty(int slot) const { return {address + 8 * static_cast<std::uint32_t>(kSlots + slot)}; }
  /// By one thread. @param writes, reads  arrivals that make a chunk full, and empty
  __device__ void init(std::uint32_t writes, std::uint32_t reads) const {
    for (int i = 0; i < kSlots; ++i) full(i).init(writes), empty(i).init(reads);
  }
};

/// A box of a matrix, from row and column on, to `to`; rows and columns outside of the matrix are zeros.
__device__ inline void copy_box(std::uint32_t to, const CUtensorMap& map, int column, int row, Barrier done) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(done.address)
      : "memory");
}

/// @param bytes  a multiple of 16, as both addresses
__device__ inline void copy_bytes(std::uint32_t to, const void* from, std::uint32_t bytes, Barrier done) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(done.address)
               : "memory");
}

/// 16 bytes by this thread, zeros behind the first `bytes`.
__device__ inline void copy_piece(std::uint32_t to, const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void copies_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Four numbers of memory that the kernel does not write, or zeros. The read starts here, whenever it is needed.
__device__ __forceinline__ void load_four(float (&to)[4], const float* from, bool is_there) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\nmov.b32 %3, 0;\n"
      "@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
      : "=&f"(to[0]), "=&f"(to[1]), "=&f"(to[2]), "=&f"(to[3])
      : "l"(from), "r"(static_cast<int>(is_there)));
}
__device__ __forceinline__ void load_two(float& first, float& second, const float* from, bool is_there) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\n"
      "@p ld.global.nc.v2.f32 {%0, %1}, [%2];\n}"
      : "=&f"(first), "=&f"(second)
      : "l"(from), "r"(static_cast<int>(is_there)));
}

/// Some of a block's warps wait for each other.
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Counts for those who wait there.
__device__ inline void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// A warpgroup of a block gives registers back, or takes those that others gave. Warpgroups have their roles in one
/// if-else, or the compiler ignores this.
template <int kRegisters>
__device__ __forceinline__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---- products --------------------------------------------------------------------------------------------

/// Names a factor in shared memory. Uniform over a warp.
struct Factor {
  std::uint64_t descriptor;

  /// @param across  bytes from one block of 64 elements to the next across the rows; of no meaning along k
  __device__ static Factor at(std::uint32_t address, std::uint32_t across) {
    constexpr std::uint64_t kEightRows = 1024 >> 4, kSwizzle128 = std::uint64_t{1} << 62;
    return {std::uint64_t{address >> 4 & 0x3FFF} | std::uint64_t{across >> 4} << 16 | kEightRows << 32 | kSwizzle128};
  }
  __device__ Factor plus(std::uint32_t bytes) const { return {descriptor + (bytes >> 4)}; }
};

enum class Rows : std::uint8_t { kAlongK = 0, kAcrossK = 1 };

__device__ inline void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Keeps the compiler from moving accumulators over a fence or a wait.
template <int kCount>
__device__ __forceinline__ void pin(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

#define SALIENT_D4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define SALIENT_D16(i) SALIENT_D4(i), SALIENT_D4((i) + 4), SALIENT_D4((i) + 8), SALIENT_D4((i) + 12)
#define SALIENT_R16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define SALIENT_R32 SALIENT_R16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define SALIENT_R64                                                                                   \
  SALIENT_R32                                                                                         \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55," \
  "%56,%57,%58,%59,%60,%61,%62,%63"
#define SALIENT_PRODUCT_OF(n, type) "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " "
#define SALIENT_PRODUCT(n) SALIENT_PRODUCT_OF(n, bf16)

/// d [64, 128] = A B, or d += A B if `is_sum`; A along k.
template <Rows kRows = Rows::kAlongK>
__device__ __forceinline__ void product(float (&d)[64], Factor a, Factor b, bool is_sum) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n" SALIENT_PRODUCT(128) "{" SALIENT_R64
                                                                                 "}, %64, %65, p, 1, 1, 0, %67;\n}"
               : SALIENT_D16(0), SALIENT_D16(16), SALIENT_D16(32), SALIENT_D16(48)
               : "l"(a.descriptor), "l"(b.descriptor), "r"(static_cast<int>(is_sum)), "n"(static_cast<int>(kRows)));
}

/// Four registers of A are the rows g and g + 8 (g = lane / 4) at columns 2q, 2q + 1 (q = lane % 4), then at 2q + 8,
/// 2q + 9.
using Fragment = std::uint32_t[4];

/// d [64, 128] += A B, or d = A B if not `is_sum`.
template <Rows kRows>
__device__ __forceinline__ void product(float (&d)[64], const Fragment& a, Factor b, bool is_sum = true) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n" SALIENT_PRODUCT(
                   128) "{" SALIENT_R64 "}, {%64,%65,%66,%67}, %68, p, 1, 1, %70;\n}"
               : SALIENT_D16(0), SALIENT_D16(16), SALIENT_D16(32), SALIENT_D16(48)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor), "r"(static_cast<int>(is_sum)),
                 "n"(static_cast<int>(kRows)));
}

/// The same of f16, B along k.
__device__ __forceinline__ void product_f16(float (&d)[64], Factor a, Factor b, bool is_sum) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n" SALIENT_PRODUCT_OF(
                   128, f16) "{" SALIENT_R64 "}, %64, %65, p, 1, 1, 0, 0;\n}"
               : SALIENT_D16(0), SALIENT_D16(16), SALIENT_D16(32), SALIENT_D16(48)
               : "l"(a.descriptor), "l"(b.descriptor), "r"(static_cast<int>(is_sum)));
}
__device__ __forceinline__ void product_f16(float (&d)[64], const Fragment& a, Factor b, bool is_sum) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n" SALIENT_PRODUCT_OF(
                   128, f16) "{" SALIENT_R64 "}, {%64,%65,%66,%67}, %68, p, 1, 1, 0;\n}"
               : SALIENT_D16(0), SALIENT_D16(16), SALIENT_D16(32), SALIENT_D16(48)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor), "r"(static_cast<int>(is_sum)));
}

/// d [64, 64] = A B, or d += A B if `is_sum`.
template <Rows kRows>
__device__ __forceinline__ void product(float (&d)[32], const Fragment& a, Factor b, bool is_sum) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n" SALIENT_PRODUCT(
                   64) "{" SALIENT_R32 "}, {%32,%33,%34,%35}, %36, p, 1, 1, %38;\n}"
               : SALIENT_D16(0), SALIENT_D16(16)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor), "r"(static_cast<int>(is_sum)),
                 "n"(static_cast<int>(kRows)));
}

/// d [64, 32] = A B, or d += A B if `is_sum`.
template <Rows kRows>
__device__ __forceinline__ void product(float (&d)[16], const Fragment& a, Factor b, bool is_sum) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n" SALIENT_PRODUCT(
                   32) "{" SALIENT_R16 "}, {%16,%17,%18,%19}, %20, p, 1, 1, %22;\n}"
               : SALIENT_D16(0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor), "r"(static_cast<int>(is_sum)),
                 "n"(static_cast<int>(kRows)));
}

/// d [64, 16] = A B, or d += A B if `is_sum`.
template <Rows kRows>
__device__ __forceinline__ void product(float (&d)[8], const Fragment& a, Factor b, bool is_sum) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\n" SALIENT_PRODUCT(
                   16) "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, p, 1, 1, %14;\n}"
               : SALIENT_D4(0), SALIENT_D4(4)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor), "r"(static_cast<int>(is_sum)),
                 "n"(static_cast<int>(kRows)));
}

#undef SALIENT_PRODUCT
#undef SALIENT_PRODUCT_OF
#undef SALIENT_R64
#undef SALIENT_R32
#undef SALIENT_R16
#undef SALIENT_D16
#undef SALIENT_D4

/// Words of four lanes that belong together change places: word i of lane q becomes word q of lane i. Of a warpgroup's
/// accumulators a lane has two columns of each eight, and gets eight neighbouring ones of 32.
__device__ __forceinline__ void exchange_in_four(std::uint32_t (&words)[4], int lane) {
#pragma unroll
  for (int step = 1; step < 4; step *= 2)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & step) != 0) continue;
      const bool is_upper = (lane & step) != 0;
      const std::uint32_t got = __shfl_xor_sync(0xFFFFFFFF, is_upper ? words[i] : words[i + step], step);
      (is_upper ? words[i] : words[i + step]) = got;
    }
}

/// The value of the warp's first lane, so that the compiler knows it to be uniform.
__device__ inline int uniform(int value) { return __shfl_sync(0xFFFFFFFF, value, 0); }

}  // namespace salient
