// core/memory_size.h - amounts of memory as a user may choose them, in units of 10^9 bytes.
#pragma once

#include <cmath>
#include <cstdint>

namespace salient {

inline constexpr const char* kGigabytesRule = "0, or 1e-9 (a byte) to 1000000";

/// Whether the rule holds. 0 stands for a default, hence nothing else may become 0 bytes.
constexpr bool are_gigabytes(double gb) { return gb == 0 || (gb >= 1e-9 && gb <= 1e6); }

/// The nearest number of bytes; of 0 alone it is 0.
inline std::int64_t bytes_of(double gigabytes) { return std::llround(gigabytes * 1e9); }

}  // namespace salient
