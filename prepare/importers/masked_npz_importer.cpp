// prepare/importers/masked_npz_importer.cpp - six arrays of one file
#include "prepare/importers/masked_npz_importer.h"

#include <vector>

#include "core/error.h"
#include "prepare/importers/npz_tables.h"

namespace salient {

namespace {

/// The nodes of one row. `taken` marks, over the three parts, the nodes that are already in one.
std::vector<NodeId> read_mask(const ZipArchive& archive, const char* key, int mask, const RawGraph& graph,
                              std::vector<std::uint8_t>& taken) {
  NpzArray array(archive, key);
  array.expect(NpzKind::kInteger);
  const auto& shape = array.header().shape;
  if (shape.size() != 2 || shape[1] != graph.num_nodes || array.header().is_fortran_order)
    fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", expected (K, " +
                                  std::to_string(graph.num_nodes) + ") in C order");
  if (mask < 0 || static_cast<std::uint64_t>(mask) >= shape[0])
    fail(ErrorKind::kUsage, archive.file().path().string() + ": has the masks 0 to " + std::to_string(shape[0] - 1) +
                                ", not " + std::to_string(mask));
  std::vector<NodeId> nodes;
  std::vector<std::int64_t> row(graph.num_nodes);
  array.skip(static_cast<std::uint64_t>(mask) * graph.num_nodes);
  array.read(std::span(row));
  array.skip(array.items_left());  // so that the checksum is tested
  for (NodeId node = 0; node < graph.num_nodes; ++node) {
    if (row[node] == 0) continue;
    const auto refuse = [&](const char* rule) {
      fail(ErrorKind::kBadData,
           array.name() + ": row " + std::to_string(mask) + ": node " + std::to_string(node) + rule);
    };
    if (taken[node] != 0) refuse(" is in another part of the split, too");
    if (graph.label_table().num_known(node) == 0 && std::string_view(key) == "train_masks")
      refuse(" is to be trained on without a label");
    taken[node] = 1;
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

RawGraph import_masked_npz(const MaskedNpzOptions& options) {
  const ZipArchive archive(options.file);
  RawGraph graph{.name = options.name.empty() ? options.file.stem().string() : options.name,
                 .source_kind = "npz",
                 .source_path = options.file.string(),
                 .source_options = options.source_options,
                 .symmetrise = options.symmetric != Symmetric::kNo};
  graph.features.type = options.feature_type;

  NpzArray features(archive, "node_features");
  graph.num_nodes = features.header().shape.empty() ? 0 : features.header().shape[0];
  if (!is_node_count(graph.num_nodes))
    fail(ErrorKind::kBadData,
         features.name() + ": a graph has 1 to 2^32 - 2 nodes, the shape is " + features.header().shape_text());
  read_features(features, graph);
  NpzArray labels(archive, "node_labels");
  read_labels(labels, graph);

  NpzArray edges(archive, "edges");
  read_edges(edges, EdgeLayout::kPairs, graph);

  std::vector<std::uint8_t> taken(graph.num_nodes, 0);
  graph.train = read_mask(archive, "train_masks", options.mask, graph, taken);
  graph.valid = read_mask(archive, "val_masks", options.mask, graph, taken);
  graph.test = read_mask(archive, "test_masks", options.mask, graph, taken);
  return graph;
}

}  // namespace salient
