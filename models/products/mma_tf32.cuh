// models/products/mma_tf32.cuh - as PTX: a warp's product of tf32 tiles, and copies that a thread waits for in groups.
#pragma once

#include <cstdint>

namespace salient {

/// d [16, 8] += a [16, 8] * b [8, 8] by a warp. Of the factors, which have the bits of floats, the last 13 bits do not
/// count. With g = lane / 4 and q = lane % 4 a lane has of
///   a  (g, q), (g + 8, q), (g, q + 4), (g + 8, q + 4)
///   b  (q, g), (q + 4, g)
///   d  (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1)
__device__ __forceinline__ void add_product(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Copies 16 bytes to shared memory, of which those behind the first `bytes` are zeros.
__device__ __forceinline__ void start_copy(float* to, const float* from, std::uint32_t bytes) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
}

/// The copies that this thread started since the last group are one group.
__device__ __forceinline__ void close_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for this thread's groups but the last `kPending`.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace salient
