// prepare/importers/edge_values.h - weights and times of edges, and times of nodes, as files have them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "core/time_text.h"
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

/// How the times of a column are written: all as numbers, or all as dates.
struct TimeForms {
  std::uint64_t number_line = 0, date_line = 0;  ///< the first that has such a time; 0 = none

  /// The time of a field. @throws Error{kBadData} naming file and line
  std::int64_t parse(std::string_view field, const std::filesystem::path& file, std::uint64_t number,
                     std::string_view line);
  /// Those of the next lines. @throws Error{kBadData} for a column that has both, naming file and line
  void add(const TimeForms& next, const std::filesystem::path& file);
  /// Says where they are dates.
  void say(const std::filesystem::path& file) const;
};

}  // namespace salient
