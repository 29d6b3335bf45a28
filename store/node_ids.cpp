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

NodeIds NodeIds::of(const Dataset& dataset) { return dataset.directory.empty() ? NodeIds() : open(dataset.directory); }

NodeIds NodeIds::of_numbers(std::vector<std::uint64_t> numbers) {
  const auto kept = std::make_shared<const std::vector<std::uint64_t>>(std::move(numbers));
  NodeIds ids;
  ids.numbers_ = *kept;
  ids.storage_ = kept;
  return ids;
}

NodeIds NodeIds::of_names(const std::vector<std::string>& names) {
  const auto kept = std::make_shared<std::pair<std::vector<std::int64_t>, std::vector<std::uint8_t>>>();
  auto& [begin, text] = *kept;
  for (const std::string& name : names) {
    begin.push_back(std::ssize(text));
    text.insert(text.end(), name.begin(), name.end());
  }
  begin.push_back(std::ssize(text));
  NodeIds ids;
  ids.begin_ = begin;
  ids.text_ = text;
  ids.storage_ = kept;
  return ids;
}

NodeIds NodeIds::part(NodeId first, std::size_t count) const {
  NodeIds ids = *this;
  if (!numbers_.empty()) ids.numbers_ = numbers_.subspan(first, count);
  if (!begin_.empty()) ids.begin_ = begin_.subspan(first, count + 1);
  return ids;
}

std::string NodeIds::operator[](NodeId node) const {
  return numbers_.empty() ? std::string(name(node)) : std::to_string(numbers_[node]);
}

std::string_view NodeIds::name(NodeId node) const {
  const auto from = static_cast<std::size_t>(begin_[node]),
             to = static_cast<std::size_t>(begin_[node + std::size_t{1}]);
  return {reinterpret_cast<const char*>(text_.data()) + from, to - from};
}

}  // namespace salient
