// prepare/importers/ogb_importer.h - node sets of the Open Graph Benchmark, from the files its downloads hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/label_choice.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

struct OgbOptions {
  std::filesystem::path raw{};         ///< the data set's folder, or raw/ in it
  std::string name{};                  ///< "" = by the folder's name
  std::vector<std::string> targets{};  ///< columns of the labels that are values, as read_targets() takes them
  LabelChoice label_choice{};
  FeatureType feature_type = FeatureType::kF16;
  bool keeps_edge_features = false;        ///< those of raw/edge-feat.csv.gz; of the CSV layout alone
  Symmetric symmetric = Symmetric::kAuto;  ///< as OGB's own users do
  int num_threads = 0;                     ///< 0 = all cores
  std::string source_options{};            ///< for the store's records
  MemoryLimit memory{};                    ///< of the layouts that are held in memory
};

/// Options that contradict each other.
std::vector<FieldProblem> problems(const OgbOptions& options);

/// Reads the CSV layout (raw/edge.csv.gz and so on) or the binary one (raw/data.npz), whichever is there, the split and
/// the class names. Node ids stay OGB's.
///
/// @throws Error{kNoInput} naming the files that are missing; Error{kBadData} naming file and line, or array and item:
///         a line that is no number, ids of no node, counts that contradict num-node-list or num-edge-list, unequal
///         columns, a node twice in the split, an unlabelled training node.
/// Determinism: a function of the files, whatever num_threads is.
/// Oracle:      of stream_ogb(), which takes the binary layout in bounded memory.
RawGraph import_ogb(const OgbOptions& options);

/// About what import_ogb() and write_store() take, computed from headers and counts alone.
/// @throws as import_ogb()
std::uint64_t ogb_memory_bytes(const OgbOptions& options);

}  // namespace salient
