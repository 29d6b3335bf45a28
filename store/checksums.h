// store/checksums.h - whether the files of a store are still those that were written.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/console/progress.h"
#include "store/open_store.h"
#include "store/store_manifest.h"

namespace salient {

/// Bytes of all files that the manifest lists.
std::uint64_t bytes_of_files(const StoreManifest& manifest);

/// Reads every file and compares its checksum with the manifest's. @param progress  null = none
/// @throws Error{kBadData}, Error{kNoInput}, Error{kIo}. Cost: every byte once, 0.1 s per GB and core from memory.
void check_checksums(const std::filesystem::path& directory, const StoreManifest& manifest, Progress* progress);

/// The same for a store of at most `max_bytes`; does nothing for a longer one. @throws also as parse_manifest().
void check_checksums_of_short_store(const std::filesystem::path& directory, std::uint64_t max_bytes,
                                    FeatureFile needed = FeatureFile::kNeeded);

}  // namespace salient
