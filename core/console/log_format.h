// core/console/log_format.h - the log of a program that runs for days: lines with their time, or JSON for collectors.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/enum_names.h"

namespace salient {

enum class LogFormat : std::uint8_t {
  kText,  ///< the local time before each line
  kJson,  ///< an object a line: time (UTC), level, message, and fields of an event
};

constexpr auto names_of(LogFormat) {
  return std::to_array<EnumName<LogFormat>>({{LogFormat::kText, "text"}, {LogFormat::kJson, "json"}});
}

/// Of the lines on standard error, which have no time until it is called. Results on standard output, and the log file,
/// stay as they are.
void set_log_format(LogFormat format);

/// An event, as log_info(text). @param fields  a JSON object on one line; a log in JSON has its fields beside the text
void log_event(std::string_view text, std::string_view fields);

}  // namespace salient
