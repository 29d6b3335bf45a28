// loaders/prepare/ogb_binary.cpp - OGB's binary layout: data.npz and node-label.npz, streamed
#include <array>

#include "engine/core/error.h"
#include "loaders/prepare/npz_tables.h"
#include "loaders/prepare/ogb_tables.h"

namespace salient {

namespace {

std::uint64_t read_count(const ZipArchive& archive, const char* key) {
  NpzArray array(archive, key);
  array.expect(NpzKind::kInteger);
  std::array<std::int64_t, 1> count{};
  if (array.header().num_items() != 1)
    fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", one count is expected");
  array.read(std::span<std::int64_t>(count));
  return static_cast<std::uint64_t>(count[0]);  // a negative one is refused as too large
}

}  // namespace

void read_ogb_binary(const OgbLayout& layout, RawGraph& graph) {
  const ZipArchive archive(layout.raw("data.npz"));
  graph.num_nodes = read_count(archive, "num_nodes_list");
  if (!is_node_count(graph.num_nodes))
    fail(ErrorKind::kBadData, archive.file().path().string() +
                                  ": num_nodes_list: a graph has 1 to 2^32 - 2 nodes, not " +
                                  std::to_string(graph.num_nodes));

  const ZipArchive label_archive(layout.raw("node-label.npz"));
  NpzArray labels(label_archive, "node_label");
  read_labels(labels, graph);
  NpzArray edges(archive, "edge_index");
  edges.expect_shape(std::array<std::uint64_t, 2>{2, read_count(archive, "num_edges_list")});
  read_edges(edges, EdgeLayout::kRows, graph);
  NpzArray features(archive, "node_feat");
  read_features(features, graph);
}

}  // namespace salient
