// store/graph_copy.h - a stored graph in 2 MiB pages, which a sampler reads faster than a file mapping.
#pragma once

#include <memory>
#include <string>

#include "core/host/host_memory.h"
#include "core/host/shared_memory.h"
#include "store/csr_arrays.h"
#include "store/dataset.h"

namespace salient {

/// Copies a graph with all cores; shows progress. A file mapping has 4 KiB pages, and almost every random read of a
/// large one misses the TLB.
///
/// @param memory  where the copy will be; null = this process' own.
/// @throws Error{kHostMemory}, std::bad_alloc
std::shared_ptr<const CsrArrays> copy_graph(const CsrGraph& graph, HostMemory* memory = nullptr);

/// A graph in `memory`, described so that other processes of the host can map it, as describe_shared().
std::string describe_graph(const CsrGraph& graph, const SharedMemory& memory);

/// Replaces the data set's graph by the equal one that describe_graph() described.
/// @throws Error{kIo} when it cannot be mapped.
void map_graph(const std::string& description, Dataset& dataset);

}  // namespace salient
