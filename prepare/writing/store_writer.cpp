// prepare/writing/store_writer.cpp - see store_writer.h.
#include "prepare/writing/store_writer.h"

#include <utility>

#include "core/version.h"

namespace salient {
namespace {

ReplaceExisting replacement(const WriteStoreOptions& options) {
  return options.force ? ReplaceExisting::kReplace : ReplaceExisting::kRefuse;
}

}  // namespace

void check_can_write(const WriteStoreOptions& options, const std::filesystem::path& marker) {
  const StagedDirectory probe(options.out, replacement(options), marker.empty() ? kManifestName : marker);
}

StoreWriter::StoreWriter(const WriteStoreOptions& options)
    : staged_(options.out, replacement(options), kManifestName) {}

void StoreWriter::write_lines(const std::string& name, std::span<const std::string> lines) {
  if (lines.empty()) return;
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  add_file(name, write_text_file(folder() / name, text));
}

void StoreWriter::add_file(const std::string& name, FileDigest digest) {
  const std::lock_guard lock(mutex_);
  files_[name] = digest;
}

std::uint64_t StoreWriter::publish(StoreManifest manifest) {
  manifest.created_by = std::string("salient-prepare ") + kVersion;
  manifest.files = std::move(files_);
  std::uint64_t bytes = write_text_file(folder() / kManifestName, manifest_text(manifest)).bytes;
  for (const auto& [name, digest] : manifest.files) bytes += digest.bytes;
  staged_.publish();
  return bytes;
}

}  // namespace salient
