// workbench/backend/host_executor.h - runs compiled candidates of the host back end, and measures the host.
#pragma once

#include <memory>
#include <vector>

#include "workbench/backend/backend.h"

namespace salient::workbench {

/// Loads the libraries. In a worker process. @throws Error{kInternal} if one cannot be loaded
std::unique_ptr<Executor> make_host_executor(const std::vector<Artifact>& artifacts);

/// The processor's name and the cache of one core.
Machine measure_host();

}  // namespace salient::workbench
