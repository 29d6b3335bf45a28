// apps/program.cpp - see program.h.
#include "apps/program.h"

#include "apps/versions.h"
#include "core/console/log.h"
#include "core/number_text.h"
#include "core/version.h"
#include "engine/comm/stale_segments.h"

namespace salient {

void print_versions(const char* program) {
  std::cout << program << ' ' << kVersion << '\n';
  for (const auto& [library, version] : library_versions()) std::cout << library << ' ' << version << '\n';
  std::cout << std::flush;
}

void warn_of_stale_segments(const Launch& launch) {
  for (const StaleSegments& segments : stale_segments(launch.host)) {
    const bool is_one = segments.count == 1;
    log_warning(std::to_string(segments.count) + (is_one ? " segment" : " segments") + " of shared memory, " +
                fixed(static_cast<double>(segments.bytes) / 1e6, 1) + " MB, " + (is_one ? "is" : "are") +
                " left of an MPI run that was killed; rm " + segments.pattern + " frees them");
  }
}

}  // namespace salient
