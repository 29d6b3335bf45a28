// core/time_gap.h - how long before a seed's time an entry was, in the form that models read.
#pragma once

#include <cmath>
#include <cstdint>

namespace salient {

/// ln(1 + seed - entry), of times in any unit: 0 to 44. @param entry  not later than `seed`
inline float log_gap(std::int64_t seed, std::int64_t entry) {
  const std::uint64_t gap = static_cast<std::uint64_t>(seed) - static_cast<std::uint64_t>(entry);  // of any two times
  return static_cast<float>(std::log1p(static_cast<double>(gap)));
}

}  // namespace salient
