// store/open_store.h - the files of a store, mapped and checked: what open_dataset() and its kin are made of.
#pragma once

#include <cstdint>
#include <filesystem>

#include "store/dataset.h"
#include "store/store_manifest.h"

namespace salient {

/// Whether a store must have the rows of all nodes.
enum class FeatureFile : std::uint8_t {
  kNeeded,
  kOrParts,  ///< features.npy may be missing where the folder has parts (store/part_rows_file.h)
};

/// Whether a store may be one of a typed graph (store/graph_schema.h).
enum class GraphKind : std::uint8_t {
  kPlain,  ///< a typed one is refused: what is made of the data set cannot use one yet
  kAny,
};

struct OpenedStore {
  Dataset dataset;         ///< without features.npy, features.data is null
  StoreManifest manifest;  ///< lists the files that are there
};

/// @throws as open_dataset()
OpenedStore open_store(const std::filesystem::path& directory, int num_threads, FeatureFile needed,
                       GraphKind kind = GraphKind::kPlain);

/// @throws Error{kBadData} naming `dataset` when it is typed and may not be
void require_kind(GraphKind kind, const GraphSchema& types, const std::string& dataset);

/// Takes features.npy from the manifest where it may be missing, and is.
void leave_out_features(const std::filesystem::path& directory, FeatureFile needed, StoreManifest& manifest);

}  // namespace salient
