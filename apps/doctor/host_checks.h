// apps/doctor/host_checks.h - processor, memory, limits and disk of this host, as far as training depends on them.
#pragma once

#include <cstdint>
#include <filesystem>

#include "apps/doctor/finding.h"

namespace salient::doctor {

// `root` is that of the file system; tests make up others.

Finding check_processor(const std::filesystem::path& root = "/");
Finding check_memory(const std::filesystem::path& root = "/");

/// `ulimit -l`, which bounds the memory that InfiniBand pins; CUDA's is bounded by the control group alone.
/// @param limit  bytes; the largest number = none
Finding check_pinned_limit(std::uint64_t limit, const std::filesystem::path& root = "/");
std::uint64_t pinned_limit();

/// NCCL and MPI keep buffers between the ranks of a host there.
Finding check_shared_memory(const std::filesystem::path& root = "/");

Finding check_huge_pages(const std::filesystem::path& root = "/");

/// Of run directories. @param folder  where they will be made
Finding check_disk(const std::filesystem::path& folder);

}  // namespace salient::doctor
