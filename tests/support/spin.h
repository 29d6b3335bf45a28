// tests/support/spin.h - a kernel that only takes time.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace salient {

/// Occupies `stream` for about `cycles` GPU clock cycles, one thread.
void spin(std::int64_t cycles, CUstream_st* stream);

}  // namespace salient
