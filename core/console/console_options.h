// core/console/console_options.h - what a run shows on the terminal, as a user may choose it.
#pragma once

#include <array>

#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/enum_names.h"

namespace salient {

constexpr auto names_of(ProgressMode) {
  return std::to_array<EnumName<ProgressMode>>(
      {{ProgressMode::kAuto, "auto"}, {ProgressMode::kPlain, "plain"}, {ProgressMode::kNone, "none"}});
}

constexpr auto names_of(LogLevel) {
  return std::to_array<EnumName<LogLevel>>({{LogLevel::kDebug, "debug"},
                                            {LogLevel::kInfo, "info"},
                                            {LogLevel::kWarning, "warning"},
                                            {LogLevel::kOff, "off"}});
}

struct ConsoleOptions {
  ProgressMode progress = ProgressMode::kAuto;
  LogLevel log_level = LogLevel::kInfo;

  bool operator==(const ConsoleOptions&) const = default;
};

}  // namespace salient
