// engine/plan/time_options.h - which edges batches see, as options say it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/enum_names.h"
#include "core/time_text.h"
#include "core/value_text.h"
#include "sampler/time_rule.h"

namespace salient {

enum class SeenEdges : std::uint8_t {
  kAll,     ///< of all times
  kBefore,  ///< as TimeOrder
  kUpTo,
};

constexpr auto names_of(SeenEdges) {
  return std::to_array<EnumName<SeenEdges>>(
      {{SeenEdges::kAll, "none"}, {SeenEdges::kBefore, "lt"}, {SeenEdges::kUpTo, "le"}});
}

/// How far back they may be.
struct TimeWindow {
  std::optional<std::int64_t> length{};  ///< at least 1; none: all of the past

  bool operator==(const TimeWindow&) const = default;
};

inline constexpr std::string_view kWholePast = "all";

inline std::string to_text(const TimeWindow& window) {
  return window.length ? to_text(*window.length) : std::string(kWholePast);
}
inline std::string to_text(const std::optional<TimeWindow>& window) {
  return window ? to_text(*window) : std::string(kAutoWord);
}
inline bool from_text(std::string_view text, TimeWindow& window) {
  window.length.reset();
  return text == kWholePast || from_text(text, window.length.emplace());
}

/// When nodes are asked for, instead of their own times: in the unit of the edges' times, or as a date.
struct AskedTime {
  std::int64_t value = 0;

  bool operator==(const AskedTime&) const = default;
};

inline std::string to_text(const AskedTime& time) { return to_text(time.value); }
inline std::string to_text(const std::optional<AskedTime>& time) {
  return time ? to_text(*time) : std::string(kAutoWord);
}
inline bool from_text(std::string_view text, AskedTime& time) {
  return parse_time(text, time.value) != TimeForm::kNone;
}

struct TimeOptions {
  SeenEdges seen = SeenEdges::kAll;
  TimeWindow window{};
  TimeStrategy strategy = TimeStrategy::kUniform;

  /// None of all edges.
  std::optional<TimeRule> rule() const {
    if (seen == SeenEdges::kAll) return std::nullopt;
    const TimeOrder order = seen == SeenEdges::kBefore ? TimeOrder::kBefore : TimeOrder::kUpTo;
    return TimeRule{.order = order, .window = window.length, .strategy = strategy};
  }

  bool operator==(const TimeOptions&) const = default;
};

}  // namespace salient
