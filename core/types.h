// core/types.h - the integer types that every module agrees on.
#pragma once

#include <cstdint>

namespace salient {

using NodeId = std::uint32_t;     ///< global node id; papers100M needs 27 bits
using EdgeOffset = std::int64_t;  ///< position in a graph's edge array; papers100M has 3.2e9 edges
using LocalId = std::int32_t;     ///< position inside one batch; signed, as CUDA and LibTorch index tensors are

}  // namespace salient
