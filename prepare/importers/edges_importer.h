// prepare/importers/edges_importer.h - a graph from an edge list and, if there are any, NumPy files about its nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Empty paths: not given.
struct EdgesOptions {
  std::filesystem::path edges{};
  std::filesystem::path features{}, labels{};
  std::filesystem::path train{}, valid{}, test{};
  std::vector<double> split{};  ///< three fractions instead of the three files
  std::vector<int> columns{};   ///< of a text file with more than two
  std::string name{};           ///< of the data set
  FeatureType feature_type = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;
  std::uint32_t rng_seed = 0;  ///< of the split
  int num_threads = 0;         ///< 0 = all cores
};

/// What makes no graph: {"columns", "two different columns, counted from 0"}, and so on. Reads no file.
std::vector<FieldProblem> problems(const EdgesOptions& options);

/// With features or labels, ids are their row numbers. Without, ids that do not fill 0 .. max are renumbered in
/// ascending order, and original_ids keeps the old ones. A split by fractions is drawn from the labelled nodes.
///
/// There are no problems(options).
/// @throws Error{kNoInput}; Error{kIo}; Error{kBadData} naming the user's file and the record.
RawGraph import_edges(const EdgesOptions& options);

}  // namespace salient
