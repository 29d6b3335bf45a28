// core/growth.h - how much more than asked for a buffer takes when it grows.
#pragma once

#include <concepts>

namespace salient {

/// A quarter more than `needed`, so that buffers of sizes that vary soon stop growing. The one definition: host slabs,
/// device buffers and every plan of memory use it, and a plan is right only while they agree.
template <std::integral T>
constexpr T with_growth(T needed) {
  return needed + needed / 4;
}

}  // namespace salient
