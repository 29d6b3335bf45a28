// apps/cuda_versions.cpp - see cuda_versions.h.
#include "apps/cuda_versions.h"

#include <cuda_runtime_api.h>

namespace salient {
namespace {

std::string to_text(int version) {
  return version == 0 ? "none" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::map<std::string, std::string> cuda_versions() {
  int runtime = 0, driver = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaDriverGetVersion(&driver);
  return {{"CUDA runtime", to_text(runtime)}, {"CUDA driver", to_text(driver)}};
}

}  // namespace salient
