// engine/apps/versions.h - the versions of this program and of the libraries it found at run time.
#pragma once

#include <map>
#include <string>

namespace salient {

inline constexpr const char* kVersion = "0.1.0";

/// Library -> version, of those that salient-train uses.
std::map<std::string, std::string> library_versions();

}  // namespace salient
