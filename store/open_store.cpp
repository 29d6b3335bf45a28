// store/open_store.cpp - opening a store: map every file, check every rule, hand out spans.
#include "store/open_store.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "core/arena_of.h"
#include "core/error.h"
#include "core/files/is_there.h"
#include "core/files/npy.h"
#include "core/files/open_to_read.h"
#include "core/files/staged_directory.h"
#include "store/dataset_checks.h"
#include "store/name_list.h"
#include "store/parts.h"
#include "store/store_arrays.h"

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

bool has_dense_features(const MappedStore& store) {
  return store.arrays.contains(features_array(FeatureType::kF32).file);
}

bool has_node_names(const MappedStore& store) { return store.arrays.contains(kNodeNamesArray.file); }

void check_headers(const MappedStore& store, const StoreManifest& manifest) {
  const auto expect = [&](StoreArray array, const Shape& shape) {
    const NpyFile& file = store.arrays.at(array.file);
    expect_npy(file.header(), array.dtype, shape, file.name());
  };
  const std::uint64_t num_nodes = manifest.num_nodes;
  expect(kIndptrArray, {num_nodes + 1});
  expect(kIndicesArray, {manifest.num_edges});
  if (manifest.task == Task::kMultiLabel)
    expect(labels_array(manifest.task), {num_nodes, static_cast<std::uint64_t>(manifest.num_classes)});
  else
    expect(labels_array(manifest.task), {num_nodes});
  for (const StoreArray split : {kTrainArray, kValidArray, kTestArray}) {
    const NpyHeader& header = store.arrays.at(split.file).header();
    expect(split, header.shape.size() == 1 ? header.shape : Shape{0});  // any length
  }
  if (manifest.has_sparse_features()) {
    const StoreArray values = feature_values_array(manifest.feature_type);
    const Shape& shape = store.arrays.at(values.file).header().shape;
    const Shape any_length = shape.size() == 1 ? shape : Shape{0};
    expect(kFeatureBeginArray, {num_nodes + 1});
    expect(values, any_length);
    expect(kFeatureColumnsArray, any_length);
  } else if (has_dense_features(store)) {
    expect(features_array(manifest.feature_type), {num_nodes, static_cast<std::uint64_t>(manifest.feature_dim)});
  }
  if (store.arrays.contains(kOriginalIdsArray.file)) expect(kOriginalIdsArray, {num_nodes});
  if (has_node_names(store)) {
    const Shape& characters = store.arrays.at(kNodeNamesArray.file).header().shape;
    expect(kNodeNamesArray, characters.size() == 1 ? characters : Shape{0});  // any length
    expect(kNodeNamesBeginArray, {num_nodes + 1});
  }
}

/// The values of an array, whose place in memory is that of their type.
const std::byte* values_of(const NpyFile& file, FeatureType type) {
  if (type == FeatureType::kF16) (void)file.items<std::uint16_t>();  // for its alignment check
  if (type == FeatureType::kF32) (void)file.items<float>();
  return file.data().data();
}

void view_features(const MappedStore& store, const StoreManifest& manifest, Dataset& dataset) {
  const FeatureType type = manifest.feature_type;
  if (manifest.has_sparse_features())
    dataset.sparse_features = {.begin = store.items<std::int64_t>(kFeatureBeginArray.file),
                               .columns = store.items<std::uint32_t>(kFeatureColumnsArray.file),
                               .values = values_of(store.arrays.at(feature_values_array(type).file), type)};
  else if (manifest.feature_dim > 0)
    dataset.features = {
        has_dense_features(store) ? values_of(store.arrays.at(features_array(type).file), type) : nullptr,
        manifest.num_nodes, manifest.feature_row_bytes(), manifest.fp8_scale};
}

Dataset view_of(const MappedStore& store, const StoreManifest& manifest) {
  Dataset dataset;
  dataset.facts() = manifest.facts();
  dataset.graph = {store.items<EdgeOffset>("indptr.npy"), store.items<NodeId>("indices.npy")};
  if (manifest.task == Task::kMultiLabel)
    dataset.multi_labels = store.items<std::int8_t>("labels.npy");
  else
    dataset.labels = store.items<std::int32_t>("labels.npy");
  dataset.train = store.items<NodeId>("train.npy");
  dataset.valid = store.items<NodeId>("valid.npy");
  dataset.test = store.items<NodeId>("test.npy");
  view_features(store, manifest, dataset);
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
  checks.check_indices(dataset.graph);
  if (manifest.has_sparse_features()) checks.check_sparse_rows(dataset.sparse_features, manifest.feature_dim);
  checks.check_labels(dataset.label_table(), dataset.num_classes);
  const std::array splits = {SplitView{"train.npy", dataset.train}, SplitView{"valid.npy", dataset.valid},
                             SplitView{"test.npy", dataset.test}};
  checks.check_splits(splits, dataset.label_table());
}

}  // namespace

void leave_out_features(const fs::path& directory, FeatureFile needed, StoreManifest& manifest) {
  const char* const file = features_array(manifest.feature_type).file;
  if (needed == FeatureFile::kOrParts && has_parts(directory) && !is_there(directory / file))
    manifest.files.erase(file);
}

OpenedStore open_store(const fs::path& directory, int num_threads, FeatureFile needed) {
  std::string fingerprint;
  StoreManifest manifest = read_manifest(directory, &fingerprint);
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
  dataset.sparse_features.longest = LongestRows(dataset.sparse_features.begin);
  read_names_of(directory, dataset);
  dataset.directory = directory;
  dataset.fingerprint = std::move(fingerprint);
  dataset.storage = std::move(store);
  return {std::move(dataset), std::move(manifest)};
}

}  // namespace salient
