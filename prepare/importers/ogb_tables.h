// prepare/importers/ogb_tables.h - the parts of OGB's raw files, for those who put them together.
#pragma once

#include <cstdint>

#include "prepare/formats/zip_archive.h"
#include "prepare/importers/ogb_importer.h"
#include "prepare/importers/ogb_layout.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

struct OgbSize {
  std::uint64_t num_nodes = 0, num_edges = 0, feature_dim = 0;
  std::uint64_t edge_feature_dim = 0;  ///< of those that are kept
  bool features_are_columns = false;   ///< Fortran order
  std::uint64_t label_bytes = 0;       ///< of a node's labels in the store
};

/// A column is a class, several are a label each, unless the options choose values among them.
inline std::uint64_t label_bytes_of(std::uint64_t num_columns, const OgbOptions& options) {
  if (!options.targets.empty()) return num_columns * sizeof(float);  // at most
  return num_columns > 1 ? num_columns * sizeof(std::int8_t) : sizeof(std::int32_t);
}

/// Where the files are. @throws as find_ogb_layout()
OgbLayout layout_of(const OgbOptions& options);

/// Name, source and options; no tables yet.
RawGraph start_ogb(const OgbOptions& options, const OgbLayout& layout);

/// Fill num_nodes, sources, destinations, features.dim and .rows, and what read_labels() or read_targets() sets.
/// features.type is set.
/// @throws as import_ogb()
void read_ogb_csv(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph);
void read_ogb_binary(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph);

/// From the counts and the first line or the headers. @throws as import_ogb()
OgbSize size_of_ogb_csv(const OgbLayout& layout, const OgbOptions& options);
OgbSize size_of_ogb_binary(const OgbLayout& layout, const OgbOptions& options);
OgbSize size_of_ogb_binary(const ZipArchive& archive);  ///< of data.npz

/// Fills the labels, which the binary layout keeps apart. num_nodes is set.
void read_ogb_binary_labels(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph);

/// Sets num_classes and class_names, then applies the choice to them and to the labels, which are set.
/// @throws as import_ogb() and apply()
void read_ogb_classes(const OgbLayout& layout, const LabelChoice& choice, RawGraph& graph);

/// Fills train, valid and test; num_nodes and the labels are set. @throws as import_ogb()
void read_ogb_split(const OgbLayout& layout, RawGraph& graph);

}  // namespace salient
