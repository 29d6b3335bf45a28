// apps/program.cpp - see program.h.
#include "apps/program.h"

#include "apps/versions.h"
#include "core/version.h"

namespace salient {

void print_versions(const char* program) {
  std::cout << program << ' ' << kVersion << '\n';
  for (const auto& [library, version] : library_versions()) std::cout << library << ' ' << version << '\n';
  std::cout << std::flush;
}

}  // namespace salient
