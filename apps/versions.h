// apps/versions.h - the versions of the libraries this program found at run time.
#pragma once

#include <map>
#include <string>

namespace salient {

/// Library -> version, of those that salient-train uses.
std::map<std::string, std::string> library_versions();

}  // namespace salient
