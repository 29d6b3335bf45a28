// apps/options/thread_note.h - more threads than cores, as in a configuration that comes from a larger machine.
#pragma once

#include <string>

#include "core/console/log.h"

namespace salient {

/// Warns where an option asks for more threads than this process may use cores.
/// @param wanted  0 = the option was not given
inline void warn_of_threads(const std::string& option, int wanted, int cores) {
  if (wanted <= cores) return;
  log_warning(option + " " + std::to_string(wanted) + ": this process may use " + std::to_string(cores) +
              (cores == 1 ? " core" : " cores") + "; more threads take turns on them, and take long to start");
}

}  // namespace salient
