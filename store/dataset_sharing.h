// store/dataset_sharing.h - a generated data set, described so that other processes of the host can map it.
#pragma once

#include <string>

#include "core/host/shared_memory.h"
#include "store/dataset.h"

namespace salient {

/// @param dataset  whose arrays all lie in `memory`, which both stay where they are until the others have mapped them.
/// @return text for map_described(), in processes of this host.
std::string describe_shared(const Dataset& dataset, const SharedMemory& memory);

/// The same data set, its arrays read-only in the same memory. They stay when the process that made them is gone.
/// @throws Error{kIo} when they cannot be mapped.
Dataset map_described(const std::string& description);

}  // namespace salient
