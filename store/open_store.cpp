// store/open_store.cpp - opening a store: map every file, check every rule, hand out spans.
#include "store/open_store.h"

#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/arena_of.h"
#include "core/error.h"
#include "core/files/is_there.h"
#include "core/files/npy.h"
#include "core/files/open_to_read.h"
#include "core/files/staged_directory.h"
#include "store/dataset_arrays.h"
#include "store/dataset_checks.h"
#include "store/link_checks.h"
#include "store/name_list.h"
#include "store/parts.h"
#include "store/target_scales.h"
#include "store/typed_checks.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using Shape = std::vector<std::uint64_t>;

[[noreturn]] void fail_missing(const fs::path& missing, const fs::path& directory) {
  std::string text = missing.string() + " is missing";
  for (const fs::path& leftover : leftovers_of(directory))
    text.append("; ").append(leftover.string()).append(" is what an interrupted run left");
  fail(ErrorKind::kNoInput, text, Topic::kMissingDataset);
}

StoreManifest read_manifest(const fs::path& directory, std::string* fingerprint) {
  if (!is_there(directory)) fail_missing(directory, directory);
  const fs::path path = directory / kManifestName;
  if (!is_there(path)) fail_missing(path, directory);
  std::string text = read_text_file(path);
  *fingerprint = to_hex(digest_of(std::as_bytes(std::span(text))).xxh3);
  return parse_manifest(std::move(text), path.string());
}

/// The mappings behind a Dataset.
struct MappedStore {
  std::map<std::string, NpyFile> arrays;

  template <class T>
  std::span<const T> items(const char* name) const {
    return arrays.at(name).items<T>();
  }
};

/// Every file that the manifest lists is there and as long as it says; arrays are mapped, and their headers read.
MappedStore map_files(const fs::path& directory, const StoreManifest& manifest) {
  MappedStore store;
  for (const auto& [name, digest] : manifest.files) {
    const fs::path path = directory / name;
    if (!is_there(path)) fail_missing(path, directory);
    const std::uint64_t bytes = open_to_read(path).bytes;
    if (path.extension() == ".npy") store.arrays.emplace(name, NpyFile(path));  // its own size check says more
    if (bytes != digest.bytes)
      fail(ErrorKind::kBadData, path.string() + ": " + std::to_string(bytes) + " bytes, " + kManifestName + " says " +
                                    std::to_string(digest.bytes));
  }
  return store;
}

GraphSize size_said_by(const StoreManifest& manifest) { return {manifest.num_nodes, manifest.num_edges}; }

bool has_node_names(const MappedStore& store) { return store.arrays.contains(kNodeNamesArray.file); }

/// The shape that an array has to have; one of any length has its own, or that of the array that measures it.
Shape shape_to_have(const MappedStore& store, const DatasetArray& array) {
  Shape shape = array.shape;
  if (shape[0] != kAnyLength) return shape;
  const char* const measured = array.measured_by != nullptr ? array.measured_by : array.stored.file;
  const Shape& given = store.arrays.at(measured).header().shape;
  const bool has_rank = array.measured_by != nullptr || given.size() == shape.size();
  shape[0] = has_rank && !given.empty() ? given[0] : 0;
  return shape;
}

/// Features may be left out: they are those of parts.
bool is_left_out(const MappedStore& store, const DatasetArray& array) {
  return array.part == ArrayPart::kFeatures && !store.arrays.contains(array.stored.file);
}

void check_headers(const MappedStore& store, const StoreManifest& manifest) {
  const auto expect = [&](StoreArray array, const Shape& shape) {
    const NpyFile& file = store.arrays.at(array.file);
    expect_npy(file.header(), array.dtype, shape, file.name());
  };
  Dataset empty;
  empty.facts() = manifest.facts();
  visit_arrays(std::as_const(empty), size_said_by(manifest), [&](const DatasetArray& array, const auto&) {
    if (is_left_out(store, array)) return;
    expect(array.stored, shape_to_have(store, array));
  });
  const std::uint64_t num_nodes = manifest.num_nodes;
  if (store.arrays.contains(kOriginalIdsArray.file)) expect(kOriginalIdsArray, {num_nodes});
  if (has_node_names(store)) {
    const Shape& characters = store.arrays.at(kNodeNamesArray.file).header().shape;
    expect(kNodeNamesArray, characters.size() == 1 ? characters : Shape{0});  // any length
    expect(kNodeNamesBeginArray, {num_nodes + 1});
  }
}

/// The values of an array of features, whose place in memory is that of their type.
std::span<const std::byte> values_of(const NpyFile& file, std::size_t item_bytes) {
  if (item_bytes == sizeof(std::uint16_t)) (void)file.items<std::uint16_t>();  // for its alignment check
  if (item_bytes == sizeof(float)) (void)file.items<float>();
  return file.data();
}

Dataset view_of(const MappedStore& store, const StoreManifest& manifest) {
  Dataset dataset;
  dataset.facts() = manifest.facts();
  visit_arrays(dataset, size_said_by(manifest), [&]<class T>(const DatasetArray& array, std::span<const T>& items) {
    if (is_left_out(store, array)) return;
    const NpyFile& file = store.arrays.at(array.stored.file);
    if constexpr (std::is_same_v<T, std::byte>)
      items = values_of(file, item_bytes(array.stored));
    else
      items = file.items<T>();
  });
  use_slots(dataset);
  return dataset;
}

void read_names_of(const fs::path& directory, Dataset& dataset) {
  const auto num_columns = static_cast<std::size_t>(dataset.feature_dim);
  dataset.class_names = read_names(directory / kClassNamesFile, static_cast<std::size_t>(dataset.num_classes));
  dataset.column_names = read_names(directory / kColumnNamesFile, num_columns);
  if (dataset.column_names.empty()) dataset.column_names = read_names(directory / kVocabularyFile, num_columns);
}

void check_values(const Dataset& dataset, const StoreManifest& manifest, const DatasetChecks& checks) {
  checks.check_indptr(dataset.graph.indptr, manifest.num_edges);
  checks.check_entries(dataset.graph);
  if (manifest.types.is_typed()) {
    check_typed(dataset, checks);
  } else {
    checks.check_indices(dataset.graph);
    if (manifest.has_sparse_features()) checks.check_sparse_rows(dataset.sparse_features, manifest.feature_dim);
  }
  if (manifest.has_links) check_links(dataset, checks);
  checks.check_labels(dataset.label_table(), dataset.num_classes);
  checks.check_splits(splits_of(dataset), dataset.label_table());
}

}  // namespace

void leave_out_features(const fs::path& directory, FeatureFile needed, StoreManifest& manifest) {
  const char* const file = features_array(manifest.feature_type).file;
  if (needed == FeatureFile::kOrParts && has_parts(directory) && !is_there(directory / file))
    manifest.files.erase(file);
}

void require_kind(GraphKind kind, const GraphSchema& types, const std::string& dataset) {
  if (!types.is_typed() || kind != GraphKind::kPlain) return;
  fail(ErrorKind::kBadData, dataset + ": a typed graph, of " + std::to_string(types.node_types.size()) +
                                " node types and " + std::to_string(types.relations.size()) +
                                " relations; it can be described, verified, partitioned, trained on and predicted, and "
                                "nothing else yet");
}

OpenedStore open_store(const fs::path& directory, int num_threads, FeatureFile needed, GraphKind kind) {
  std::string fingerprint;
  StoreManifest manifest = read_manifest(directory, &fingerprint);
  require_kind(kind, manifest.types, directory.string());
  leave_out_features(directory, needed, manifest);
  auto store = std::make_shared<const MappedStore>(map_files(directory, manifest));
  check_headers(*store, manifest);
  Dataset dataset = view_of(*store, manifest);
  arena_of(num_threads).execute([&] {
    const DatasetChecks checks(directory);
    check_values(dataset, manifest, checks);
    if (has_node_names(*store))
      checks.check_node_names(store->items<std::int64_t>(kNodeNamesBeginArray.file),
                              store->arrays.at(kNodeNamesArray.file).data().size());
  });
  complete(dataset);
  dataset.target_scales = target_scales_of(dataset);
  read_names_of(directory, dataset);
  dataset.directory = directory;
  dataset.fingerprint = std::move(fingerprint);
  dataset.storage = std::move(store);
  return {std::move(dataset), std::move(manifest)};
}

}  // namespace salient
