// prepare/importers/ogb_csv.cpp - OGB's CSV layout: one file per table
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "prepare/formats/line_reader.h"
#include "prepare/importers/ogb_csv_tables.h"
#include "prepare/importers/ogb_tables.h"

namespace salient {

namespace {

namespace fs = std::filesystem;

Promise read_num_nodes(const OgbLayout& layout) {
  Promise promise = read_promise(layout.raw("num-node-list.csv.gz"));
  if (!is_node_count(promise.num_lines))
    fail(ErrorKind::kBadData,
         promise.said_by.string() + ": a graph has 1 to 2^32 - 2 nodes, not " + std::to_string(promise.num_lines));
  return promise;
}

void read_edges(const OgbLayout& layout, int num_threads, RawGraph& graph) {
  const EndNodes all{.count = graph.num_nodes};
  NodePairs edges = read_csv_edges(layout.raw("edge.csv.gz"), read_promise(layout.raw("num-edge-list.csv.gz")),
                                   {all, all}, num_threads);
  graph.sources = std::move(edges.sources);
  graph.destinations = std::move(edges.destinations);
}

void require_finite(const double* row, std::size_t dim, const fs::path& path, std::size_t edge) {
  const auto bad = std::find_if(row, row + dim, [](double value) { return !std::isfinite(value); });
  if (bad != row + dim)
    fail(ErrorKind::kBadData, path.string() + ": line " + std::to_string(edge + 1) + ": column " +
                                  std::to_string(bad - row + 1) + " is " + std::to_string(*bad) +
                                  "; features are finite");
}

/// Features of a node: the mean of those of its edges, as in OGB's own examples for ogbn-proteins; 0 without edges.
class MeanOfEdges {
 public:
  explicit MeanOfEdges(RawGraph& graph) : graph_(graph), num_edges_of_(graph.num_nodes) {}

  void add(std::size_t edge, const double* row, std::size_t dim) {
    sums_.resize(graph_.num_nodes * dim);
    const NodeId source = graph_.sources[edge], destination = graph_.destinations[edge];
    add_to(destination, row, dim);
    if (graph_.symmetrise && source != destination) add_to(source, row, dim);
  }

  void write(std::size_t dim, const fs::path& path) {
    graph_.features.dim = static_cast<int>(dim);
    std::vector<float> mean(dim);
    for (std::size_t v = 0; v < graph_.num_nodes; ++v) {
      for (std::size_t c = 0; c < dim; ++c)
        mean[c] = static_cast<float>(sums_[v * dim + c] / std::max<std::uint32_t>(1, num_edges_of_[v]));
      append_feature_rows(graph_.features, mean.data(), dim, path.string());
    }
  }

 private:
  void add_to(NodeId node, const double* row, std::size_t dim) {
    for (std::size_t c = 0; c < dim; ++c) sums_[node * dim + c] += static_cast<float>(row[c]);
    ++num_edges_of_[node];
  }

  RawGraph& graph_;
  std::vector<double> sums_;
  std::vector<std::uint32_t> num_edges_of_;
};

/// For the nodes, which have none of their own, and of the edges where they are kept. The edges are read.
void read_edge_features(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph) {
  const fs::path path = layout.raw("edge-feat.csv.gz");
  const Promise promise = read_promise(layout.raw("num-edge-list.csv.gz"));
  MeanOfEdges mean(graph);
  RawFeatures& kept = graph.edge_values.features;
  kept.type = options.feature_type;
  std::size_t edge = 0, dim = 0;
  read_csv_rows(path, promise, options.num_threads, [&](const std::vector<double>& values, std::size_t num_columns) {
    dim = num_columns;
    for (const double* row = values.data(); row < values.data() + values.size(); row += dim, ++edge) {
      require_finite(row, dim, path, edge);
      if (!layout.has_node_features) mean.add(edge, row, dim);
    }
    if (!options.keeps_edge_features) return;
    kept.dim = static_cast<int>(dim);
    append_feature_rows(kept, values.data(), values.size(), path.string());
  });
  if (!layout.has_node_features) mean.write(dim, path);
}

}  // namespace

OgbSize size_of_ogb_csv(const OgbLayout& layout, const OgbOptions& options) {
  OgbSize size{.num_nodes = read_num_nodes(layout).num_lines,
               .num_edges = read_promise(layout.raw("num-edge-list.csv.gz")).num_lines};
  LineReader labels(layout.raw("node-label.csv.gz"));
  if (std::string_view line; labels.next(line)) size.label_bytes = label_bytes_of(num_columns_of(line), options);
  LineReader features(layout.features());
  if (std::string_view line; features.next(line)) size.feature_dim = num_columns_of(line);
  if (!options.keeps_edge_features) return size;
  LineReader of_edges(layout.raw("edge-feat.csv.gz"));
  if (std::string_view line; of_edges.next(line)) size.edge_feature_dim = num_columns_of(line);
  return size;
}

void read_ogb_csv(const OgbLayout& layout, const OgbOptions& options, RawGraph& graph) {
  const int num_threads = options.num_threads;
  const Promise promise = read_num_nodes(layout);
  graph.num_nodes = promise.num_lines;
  read_csv_labels(layout.raw("node-label.csv.gz"), promise, options, graph);
  if (layout.has_node_features) read_csv_features(layout.features(), promise, num_threads, graph.features);
  read_edges(layout, num_threads, graph);
  if (!layout.has_node_features || options.keeps_edge_features) read_edge_features(layout, options, graph);
}

}  // namespace salient
