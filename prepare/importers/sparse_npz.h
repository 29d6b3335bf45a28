// prepare/importers/sparse_npz.h - sparse matrices as scipy.sparse.save_npz() writes them.
//
// By hand: no library reads them; they are three or four arrays of an .npz file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/formats/zip_archive.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Row r has values[k] in columns[k], begin[r] <= k < begin[r + 1]. A column that is there twice means the sum.
struct SparseMatrix {
  std::uint64_t num_rows = 0, num_columns = 0;
  std::vector<std::int64_t> begin{};
  std::vector<std::uint32_t> columns{};
  std::vector<double> values{};  ///< empty if they are not wanted
  bool has_weights = false;      ///< where they are not wanted: they differ
};

enum class SparseValues { kRead, kNotWanted };

/// Whether there is a matrix whose arrays have these names behind `prefix`: data, shape and more.
bool has_sparse_matrix(const ZipArchive& archive, std::string_view prefix);

/// CSR and CSC (data, indices, indptr, shape) and COO (data, row, col, shape), by the array `format`, without it CSR or
/// COO. Of any type of numbers.
///
/// @param prefix  "" of scipy's files; "attr_" and "adj_" in those of Shchur et al., Pitfalls of GNN Evaluation
/// @throws Error{kBadData} naming array and item; Error{kIo}; Error{kHostMemory}
/// Memory: 4 bytes a value, 8 more where they are read, and 8 a row; while COO and CSC are sorted twice that
SparseMatrix read_sparse_matrix(const ZipArchive& archive, const std::string& prefix, const MemoryLimit& memory,
                                SparseValues wanted = SparseValues::kRead);

/// The rows as features of FeatureLayout::kCsr: columns ascend, sums are made, and what is 0 as `type` is left out.
/// @param file  named in errors   @throws as convert_features(); Error{kHostMemory}
RawFeatures sparse_features(const SparseMatrix& matrix, FeatureType type, const std::string& file,
                            const MemoryLimit& memory);

}  // namespace salient
