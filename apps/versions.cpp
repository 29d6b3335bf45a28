// apps/versions.cpp - see versions.h. Asks the loaded library where it can be asked, else says "built with".
#include "apps/versions.h"

#include <oneapi/tbb/version.h>
#include <torch/version.h>
#include <xxhash.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include "apps/cuda_versions.h"

namespace salient {

std::map<std::string, std::string> library_versions() {
  std::map<std::string, std::string> versions;
  versions["LibTorch"] = std::string(TORCH_VERSION) + " (built with)";
  versions["oneTBB"] = TBB_runtime_version();
  versions["zlib"] = zlibVersion();
  const unsigned xxh = XXH_versionNumber();
  versions["xxHash"] =
      std::to_string(xxh / 10000) + "." + std::to_string(xxh / 100 % 100) + "." + std::to_string(xxh % 100);
  versions["nlohmann-json"] = std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + "." +
                              std::to_string(NLOHMANN_JSON_VERSION_MINOR) + "." +
                              std::to_string(NLOHMANN_JSON_VERSION_PATCH) + " (built with)";
  versions["compiler"] = __VERSION__;
  versions.merge(cuda_versions());
  return versions;
}

}  // namespace salient
