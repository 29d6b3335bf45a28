// apps/cuda_versions.h - CUDA's part of library_versions().
#pragma once

#include <map>
#include <string>

namespace salient {

/// {"CUDA runtime": "13.0", "CUDA driver": "none"} as the loaded libraries say; {"CUDA": "CPU build"} without CUDA.
std::map<std::string, std::string> cuda_versions();

}  // namespace salient
