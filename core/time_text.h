// core/time_text.h - times as text.
#pragma once

#include <cstdint>
#include <string_view>

namespace salient {

/// How a time is written.
enum class TimeForm : std::uint8_t { kNone, kNumber, kDate };

/// A whole number, also as 3.0; or a date of ISO 8601, 2004-04-15, with a time of day 2004-04-15T12:30 or
/// 2004-04-15 12:30:59, of UTC or with Z or +02:00: seconds since 1970.
TimeForm parse_time(std::string_view text, std::int64_t& time);

}  // namespace salient
