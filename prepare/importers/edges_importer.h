// prepare/importers/edges_importer.h - a graph from an edge list and, if there are any, files about its nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/label_choice.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Empty paths: not given. Files that end in .npy are arrays, edges and features in .npz a sparse matrix, all others
/// text.
struct EdgesOptions {
  std::filesystem::path edges{};
  std::filesystem::path features{}, labels{};
  std::filesystem::path train{}, valid{}, test{};
  int mask = 0;                             ///< which column or row of masks in these files
  std::vector<double> split{};              ///< three fractions instead of the three files
  std::vector<std::string> columns{};       ///< of a text file with more than two: names, or numbers from 0
  std::string id_column{}, label_column{};  ///< of tables of nodes, see NodeTableOptions
  std::vector<std::string> unlabelled{};    ///< words of a table of labels that are none
  IdKind ids = IdKind::kAuto;
  LabelChoice label_choice{};
  std::string name{};  ///< of the data set
  FeatureType feature_type = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;
  std::uint32_t rng_seed = 0;  ///< of the split
  int num_threads = 0;         ///< 0 = all cores
  MemoryLimit memory{};
};

/// What makes no graph: {"columns", "two different columns, ..."}, and so on. Reads no file.
std::vector<FieldProblem> problems(const EdgesOptions& options);

/// Which nodes there are, and how they are numbered:
///
///   an array of features or labels, or labels one a line   its rows; numbers are row numbers. Ids that are text are in
///                                                          the order of the table that has them: features or labels
///   else a table of features                               its ids and no others
///   else a sparse matrix of edges                          its rows, of a Matrix Market file from 1 on; tables have no
///                                                          others
///   else                                                   the ids of labels and edges
///
/// Without arrays numbers that do not fill 0 .. max are renumbered in ascending order, and original_ids keeps
/// them; text is numbered by first appearance in features, labels and edges, and node_names keeps it.
/// A split by fractions is drawn from the labelled nodes.
///
/// There are no problems(options).
/// @throws Error{kNoInput}; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming the user's file and the record.
RawGraph import_edges(const EdgesOptions& options);

}  // namespace salient
