// prepare/importers/ogb_binary.cpp - OGB's binary layout: data.npz and node-label.npz, streamed
#include <array>

#include "core/error.h"
#include "prepare/importers/npz_tables.h"
#include "prepare/importers/ogb_tables.h"

namespace salient {

OgbSize size_of_ogb_binary(const ZipArchive& archive) {
  const auto count_of = [&](const char* name) {
    NpzArray array(archive, name);
    return read_count(array);
  };
  OgbSize size{.num_nodes = count_of("num_nodes_list"), .num_edges = count_of("num_edges_list")};
  if (!is_node_count(size.num_nodes))
    fail(ErrorKind::kBadData, archive.file().path().string() +
                                  ": num_nodes_list: a graph has 1 to 2^32 - 2 nodes, not " +
                                  std::to_string(size.num_nodes));
  const NpzArray edges(archive, "edge_index");
  edges.expect(NpzKind::kInteger);
  edges.expect_shape(std::array<std::uint64_t, 2>{2, size.num_edges});
  const NpzArray features(archive, "node_feat");
  features.expect(NpzKind::kFloat);
  size.feature_dim = static_cast<std::uint64_t>(feature_dim_of(features, size.num_nodes));
  size.features_are_columns = features.header().is_fortran_order;
  return size;
}

OgbSize size_of_ogb_binary(const OgbLayout& layout, const OgbOptions& options) {
  OgbSize size = size_of_ogb_binary(ZipArchive(layout.raw("data.npz")));
  const ZipArchive labels(layout.raw("node-label.npz"));
  const NpzArray array(labels, "node_label");
  size.label_bytes = label_bytes_of(array.header().shape.size() == 2 ? array.header().shape[1] : 1, options);
  return size;
}

void read_ogb_binary_labels(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph) {
  const ZipArchive archive(layout.raw("node-label.npz"));
  NpzArray labels(archive, "node_label");
  if (options.targets.empty())
    read_labels(labels, graph);
  else
    read_targets(labels, options.targets, graph);
}

void read_ogb_binary(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph) {
  const ZipArchive archive(layout.raw("data.npz"));
  graph.num_nodes = size_of_ogb_binary(archive).num_nodes;
  read_ogb_binary_labels(layout, options, graph);
  NpzArray edges(archive, "edge_index");
  read_edges(edges, EdgeLayout::kRows, graph);
  NpzArray features(archive, "node_feat");
  read_features(features, graph);
}

}  // namespace salient
