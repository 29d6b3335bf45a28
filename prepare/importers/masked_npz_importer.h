// prepare/importers/masked_npz_importer.h - graphs as one .npz with a choice of splits, as the heterophilous benchmarks
// (tolokers, minesweeper, ...) are published.
#pragma once

#include <filesystem>
#include <string>

#include "prepare/importers/raw_graph.h"

namespace salient {

struct MaskedNpzOptions {
  std::filesystem::path file{};
  std::string name{};  ///< "" = the file's name without .npz
  int mask = 0;        ///< which row of train_masks, val_masks and test_masks
  FeatureType feature_type = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;  ///< the files list each edge once
  std::string source_options{};            ///< for the store's records
};

/// Reads node_features [V, F] floats, node_labels [V], edges [E, 2] integers, and train_masks, val_masks, test_masks
/// [K, V] bools, of which row `mask` becomes the split, in ascending order.
///
/// @throws Error{kBadData} naming array and item; Error{kNoInput}; Error{kUsage} for `mask`.
RawGraph import_masked_npz(const MaskedNpzOptions& options);

}  // namespace salient
