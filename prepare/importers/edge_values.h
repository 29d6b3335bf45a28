// prepare/importers/edge_values.h - weights and times of edges, as files have them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// What becomes of weights that may be below 0.
enum class WeightMap {
  kNone,   ///< they are refused
  kAbs,    ///< their absolute value
  kShift,  ///< less the least of all, which becomes 0 and so is never drawn
  kClip,   ///< those below 0 become 0
};

constexpr auto names_of(WeightMap) {
  return std::to_array<EnumName<WeightMap>>(
      {{WeightMap::kNone, "none"}, {WeightMap::kAbs, "abs"}, {WeightMap::kShift, "shift"}, {WeightMap::kClip, "clip"}});
}

/// @param text    a number
/// @param weight  as the file has it: before kShift
/// @return  null, or the rule that it breaks: finite, not below 0 by kNone, not beyond a float
const char* parse_weight(std::string_view text, WeightMap map, double& weight);

/// Maps all weights of a file. @throws Error{kBadData} naming the file, where a float does not hold one
std::vector<float> mapped_weights(const std::vector<double>& weights, WeightMap map, const std::string& file);

/// How a time is written.
enum class TimeForm : std::uint8_t { kNone, kNumber, kDate };

/// A whole number, also as 3.0; or a date of ISO 8601, 2004-04-15, with a time of day 2004-04-15T12:30 or
/// 2004-04-15 12:30:59, of UTC or with Z or +02:00: seconds since 1970.
TimeForm parse_time(std::string_view text, std::int64_t& time);

}  // namespace salient
