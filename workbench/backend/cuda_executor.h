// workbench/backend/cuda_executor.h - runs cubins on the first GPU, and says what it is. In worker processes only.
#pragma once

#include <memory>
#include <vector>

#include "workbench/backend/backend.h"

namespace salient::workbench {

/// Takes device memory for the whole arena. @throws Error{kNoDevice}, Error{kDeviceMemory}
std::unique_ptr<Executor> make_cuda_executor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes);

/// What the first GPU is.
struct CudaFacts {
  char name[128] = {};
  int driver = 0, major = 0, minor = 0, sm = 0, clock_kilohertz = 0, cache_bytes = 0;
  bool counts_energy = false;
};
CudaFacts query_cuda();  ///< @throws Error{kNoDevice}

}  // namespace salient::workbench
