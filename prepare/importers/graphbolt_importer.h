// prepare/importers/graphbolt_importer.h - DGL's OnDiskDataset: metadata.yaml, and the files that it names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "prepare/importers/memory_limit.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/typed_graph.h"

namespace salient {

struct GraphBoltOptions {
  std::filesystem::path dir{};  ///< with metadata.yaml
  std::string name{};           ///< "" = dataset_name
  std::string task{};           ///< "" = the first
  std::string feature{};        ///< of the nodes; "" = feat where there are several
  FeatureType feature_type = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;  ///< of several types: whether relations get reverses
  int num_threads = 0;                     ///< 0 = all cores
  std::string source_options{};            ///< for the store's records
  MemoryLimit memory{};
};

/// Whether the folder's graph has several types of nodes or relations. @throws as import_graphbolt()
bool is_typed_graphbolt(const GraphBoltOptions& options);

/// Nodes, edges as numpy [2, E] or CSV of two columns, features as numpy, and seeds and labels of a task's three sets.
/// What is not used, such as features of edges, one line names.
///
/// @throws Error{kNoInput} for files that are missing; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming file and
///         line or item: a description that breaks its rules, .pt files, which are pickles, sets of edges, labels that
///         are no classes, and what read_features() and read_edge_file() refuse
/// Memory: all of it is held, and options.memory is asked before each table.
RawGraph import_graphbolt(const GraphBoltOptions& options);
TypedGraph import_typed_graphbolt(const GraphBoltOptions& options);

}  // namespace salient
