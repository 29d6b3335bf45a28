// prepare/importers/masked_npz_importer.h - graphs as one .npz, as PyG, DGL and the heterophilous benchmarks (tolokers,
// minesweeper, ...) name their arrays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/label_choice.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

struct MaskedNpzOptions {
  std::filesystem::path file{};
  std::string name{};                  ///< of the data set
  int mask = 0;                        ///< which of the file's splits
  std::vector<double> split{};         ///< three fractions instead of the file's splits
  std::vector<std::string> targets{};  ///< columns of the labels that are values, as read_targets() takes them
  LabelChoice label_choice{};
  FeatureType feature_type = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;  ///< the files list each edge once
  std::uint32_t rng_seed = 0;              ///< of the split
  std::string source_options{};            ///< for the store's records
  MemoryLimit memory{};
};

/// What makes no graph: {"split", "three fractions, ..."}, and so on. Reads no file.
std::vector<FieldProblem> problems(const MaskedNpzOptions& options);

/// The first array that is there of each row, in C or Fortran order:
///
///   features  node_features, x, features, feat, node_feat,
///             feature, feats                                          numbers [V, F] or [V]; may be missing
///   labels    node_labels, y, labels, label, node_label               as read_labels() takes them
///             or attr_data, attr_shape, ...: a sparse matrix          as read_sparse_matrix() takes them
///   edges     edges, edge_index, edge_list                            whole numbers [2, E] or [E, 2]; 2 x 2 is [2, E],
///                                                                     of `edges` [E, 2]
///             or src and dst, or row and col                          whole numbers [E] each
///             or adj_data, adj_shape, ...: a sparse matrix            i -> j for each value in row i, column j
///   split     train_mask, valid_mask or val_mask, test_mask, also with an s: bools [V], [K, V] or [V, K]
///             train_idx, valid_idx or val_idx, test_idx               ids [n]
///             node_types, if there is nothing else                    1, 2, 3, or 0 for none [V]
///   nodes     num_nodes                                               one number, for a graph without features
///
/// Of several masks number `mask` becomes the split, in ascending order; K = V is read as [K, V]. Lines name the
/// arrays that are read and those that are not.
/// @throws Error{kBadData} naming array and item; Error{kNoInput}; Error{kUsage} for `mask`; Error{kHostMemory}
RawGraph import_masked_npz(const MaskedNpzOptions& options);

}  // namespace salient
