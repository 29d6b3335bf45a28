// apps/cuda_versions_absent.cpp - replaces cuda_versions.cpp in a build without CUDA.
#include "apps/cuda_versions.h"

namespace salient {

std::map<std::string, std::string> cuda_versions() { return {{"CUDA", "CPU build"}}; }

}  // namespace salient
