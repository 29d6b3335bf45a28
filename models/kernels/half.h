// models/kernels/half.h - a 16-bit float as it lies in memory; torch-free.
#pragma once

#include <cstdint>

namespace salient {

/// IEEE 754 binary16, as in feature files, at::Half and __half.
struct Half {
  std::uint16_t bits;
};

}  // namespace salient
