// store/checksums.cpp - see checksums.h.
#include "store/checksums.h"

#include <oneapi/tbb/parallel_for_each.h>

#include <string>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {

std::uint64_t bytes_of_files(const StoreManifest& manifest) {
  std::uint64_t total = 0;
  for (const auto& [name, digest] : manifest.files) total += digest.bytes;
  return total;
}

void check_checksums(const std::filesystem::path& directory, const StoreManifest& manifest, Progress* progress) {
  oneapi::tbb::parallel_for_each(manifest.files, [&](const auto& entry) {
    const auto& [name, stored] = entry;
    const FileDigest computed = digest_file(directory / name, stored.bytes);
    if (computed.bytes != stored.bytes)
      fail(ErrorKind::kBadData, (directory / name).string() + ": " + std::to_string(computed.bytes) + " bytes, " +
                                    kManifestName + " says " + std::to_string(stored.bytes));
    if (computed.xxh3 != stored.xxh3)
      fail(ErrorKind::kBadData, (directory / name).string() + ": XXH3 checksum " + to_hex(computed.xxh3) + ", " +
                                    kManifestName + " says " + to_hex(stored.xxh3));
    if (progress != nullptr) progress->add(stored.bytes);
  });
}

void check_checksums_of_short_store(const std::filesystem::path& directory, std::uint64_t max_bytes,
                                    FeatureFile needed) {
  const std::filesystem::path file = directory / kManifestName;
  StoreManifest manifest = parse_manifest(read_text_file(file), file.string());
  leave_out_features(directory, needed, manifest);
  if (bytes_of_files(manifest) <= max_bytes) check_checksums(directory, manifest, nullptr);
}

}  // namespace salient
