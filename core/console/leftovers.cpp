// core/console/leftovers.cpp - see leftovers.h.
#include "core/console/leftovers.h"

#include "core/console/log.h"
#include "core/files/staged_directory.h"

namespace salient {

void warn_of_leftovers(const std::filesystem::path& out) {
  for (const std::filesystem::path& leftover : leftovers_of(out))
    log_warning(leftover.string() + " is what an interrupted run left; remove it when no other run works on it");
}

}  // namespace salient
