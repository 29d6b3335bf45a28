// sampler/time_rule.h - which entries of a row a seed's time admits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "core/enum_names.h"

namespace salient {

/// Whether an entry of the seed's own time T is admitted.
enum class TimeOrder : std::uint8_t {
  kBefore,  ///< T - W <= t < T: only what was known before T
  kUpTo,    ///< T - W < t <= T
};

constexpr auto names_of(TimeOrder) {
  return std::to_array<EnumName<TimeOrder>>({{TimeOrder::kBefore, "lt"}, {TimeOrder::kUpTo, "le"}});
}

/// Which of the admitted entries are kept, where they are more than the fanout.
enum class TimeStrategy : std::uint8_t {
  kUniform,  ///< as SamplingRule::draw says
  kLast,     ///< the latest; of equal times those last in the row
};

constexpr auto names_of(TimeStrategy) {
  return std::to_array<EnumName<TimeStrategy>>({{TimeStrategy::kUniform, "uniform"}, {TimeStrategy::kLast, "last"}});
}

struct TimeRule {
  TimeOrder order = TimeOrder::kBefore;
  std::optional<std::int64_t> window{};  ///< W, at least 1; none: all of the past
  TimeStrategy strategy = TimeStrategy::kUniform;

  bool operator==(const TimeRule&) const = default;
};

/// Places [begin, end) of a row.
struct TimeRange {
  std::uint32_t begin = 0, end = 0;
  bool operator==(const TimeRange&) const = default;
};

/// The entries of a row that seed time T admits. @param times  of its entries, ascending    Cost: two binary searches
inline TimeRange admitted(std::span<const std::int64_t> times, std::int64_t seed_time, const TimeRule& rule) {
  const bool is_closed_below = rule.order == TimeOrder::kBefore;
  const auto place_of = [&](std::int64_t time) {
    const auto at = is_closed_below ? std::lower_bound(times.begin(), times.end(), time)
                                    : std::upper_bound(times.begin(), times.end(), time);
    return static_cast<std::uint32_t>(at - times.begin());
  };
  const std::uint32_t end = place_of(seed_time);
  if (!rule.window || seed_time < std::numeric_limits<std::int64_t>::min() + *rule.window) return {0, end};
  return {place_of(seed_time - *rule.window), end};
}

}  // namespace salient
