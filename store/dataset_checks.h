// store/dataset_checks.h - the rules that the arrays of a store keep, each with its message.
//
// All throw Error{kBadData} that names the file, the first bad record and the rule.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/csr_graph.h"
#include "core/types.h"
#include "store/dataset.h"
#include "store/label_table.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"
#include "store/store_arrays.h"

namespace salient {

struct SplitView {
  const char* file;  ///< "train.npy", ...
  std::span<const NodeId> ids;
};

/// Of train.npy, valid.npy and test.npy.
inline std::array<SplitView, 3> splits_of(const Dataset& dataset) {
  return {SplitView{kTrainArray.file, dataset.train}, SplitView{kValidArray.file, dataset.valid},
          SplitView{kTestArray.file, dataset.test}};
}

/// Checks of one store; runs in the caller's oneTBB arena.
class DatasetChecks {
 public:
  explicit DatasetChecks(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// What open_dataset() checks. Cost: one pass over each array, at memory speed.
  void check_indptr(std::span<const EdgeOffset> indptr, std::uint64_t num_edges) const;
  void check_indices(CsrGraph graph) const;
  /// Weights are finite and at least 0, rows ascend by time; of a graph without either nothing.
  void check_entries(CsrGraph graph) const;
  void check_labels(const LabelTable& labels, int num_classes) const;
  void check_splits(std::span<const SplitView> splits, const LabelTable& labels) const;
  /// @param names  of the table's files, here and below
  void check_sparse_rows(const SparseRowTable& rows, int feature_dim, const FeatureNames& names = {}) const;
  void check_node_names(std::span<const std::int64_t> begin, std::uint64_t num_characters) const;

  /// What only verify_dataset() checks.
  /// Of entries with times those of equal times ascend, and no neighbour is asked to be there once.
  void check_rows_ascend(CsrGraph graph, bool is_deduplicated) const;
  void check_self_loops(CsrGraph graph, std::uint64_t stored) const;
  /// Of a graph whose rows ascend: every edge has a reverse of equal weight, time and features.
  void check_reverse_edges(CsrGraph graph, const RowTable& edge_features = {}) const;
  void check_finite(RowTable features, FeatureType type, const FeatureNames& names = {}) const;
  /// Finite, and not 0.
  void check_values(const SparseRowTable& rows, FeatureType type, const FeatureNames& names = {}) const;
  [[noreturn]] void refuse(const std::string& file, const std::string& what) const;

 private:
  void check_weights(CsrGraph graph) const;
  void check_times(CsrGraph graph) const;
  [[noreturn]] void refuse_lone_edge(CsrGraph graph) const;
  void check_flags(const LabelTable& labels) const;
  void check_targets(const LabelTable& labels) const;

  std::filesystem::path directory_;
};

}  // namespace salient
