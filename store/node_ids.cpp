// store/node_ids.cpp - see node_ids.h.
#include "store/node_ids.h"

#include <utility>

#include "core/files/file_io.h"
#include "core/files/npy.h"
#include "store/store_arrays.h"
#include "store/store_manifest.h"

namespace salient {
namespace {

/// A file that the manifest does not list is none of the store's.
bool has_file(const StoreManifest& manifest, StoreArray array) { return manifest.files.contains(array.file); }

}  // namespace

NodeIds NodeIds::open(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / kManifestName;
  const StoreManifest manifest = parse_manifest(read_text_file(path), path.string());
  NodeIds ids;
  if (has_file(manifest, kNodeNamesArray)) {
    const auto files = std::make_shared<const std::pair<NpyFile, NpyFile>>(
        NpyFile(directory / kNodeNamesBeginArray.file), NpyFile(directory / kNodeNamesArray.file));
    ids.begin_ = files->first.items<std::int64_t>();
    ids.text_ = files->second.items<std::uint8_t>();
    ids.storage_ = files;
  } else if (has_file(manifest, kOriginalIdsArray)) {
    const auto file = std::make_shared<const NpyFile>(directory / kOriginalIdsArray.file);
    ids.numbers_ = file->items<std::uint64_t>();
    ids.storage_ = file;
  }
  return ids;
}

std::string NodeIds::operator[](NodeId node) const {
  if (!numbers_.empty()) return std::to_string(numbers_[node]);
  const auto from = static_cast<std::size_t>(begin_[node]),
             to = static_cast<std::size_t>(begin_[node + std::size_t{1}]);
  return {reinterpret_cast<const char*>(text_.data()) + from, to - from};
}

}  // namespace salient
