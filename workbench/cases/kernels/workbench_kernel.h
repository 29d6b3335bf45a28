// workbench/cases/kernels/workbench_kernel.h - what a kernel of the host back end may use: its block, and short
// formats.
#pragma once

#include <cstdint>
#include <cstring>

/// One block of a launch, as on a GPU: the kernel is called once per block, in any order.
struct WorkbenchBlock {
  long long x, y, z;                 ///< which block
  long long grid_x, grid_y, grid_z;  ///< how many there are
  long long block_x, block_y;        ///< as declared
  void* shared;                      ///< smem bytes, dirty
};

using half = _Float16;  ///< IEEE half precision; arithmetic on it is done in float

struct bfloat16 {
  std::uint16_t bits;
};

inline float to_float(bfloat16 value) {
  const std::uint32_t wide = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &wide, sizeof result);
  return result;
}

/// Nearest, ties to even; a NaN stays one.
inline bfloat16 to_bfloat16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}

/// 128 random bits; Philox4x32-10 of Salmon et al. (SC 2011).
struct PhiloxWords {
  std::uint32_t word[4];
};
inline PhiloxWords philox(std::uint32_t key0, std::uint32_t key1, PhiloxWords counter) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter.word[0],
                        b = std::uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}
