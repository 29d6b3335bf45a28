// apps/versions.cpp - see versions.h. Asks the loaded library where it can be asked, else says "built with".
#include "apps/versions.h"

#include <oneapi/tbb/version.h>
#include <torch/version.h>
#include <xxhash.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#if SALIENT_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace salient {
namespace {

#if SALIENT_HAS_CUDA
std::string cuda_version(int number) {
  return number == 0 ? "none" : std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}
#endif

}  // namespace

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
#if SALIENT_HAS_CUDA
  int runtime = 0, driver = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaDriverGetVersion(&driver);
  versions["CUDA runtime"] = cuda_version(runtime);
  versions["CUDA driver"] = cuda_version(driver);
#else
  versions["CUDA"] = "CPU build";
#endif
  return versions;
}

}  // namespace salient
