// prepare/importers/ogb_links.cpp - see ogb_links.h; of pairs. ogb_triples.cpp has those of relations.
#include "prepare/importers/ogb_links.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/edge_split.h"
#include "prepare/importers/link_files.h"
#include "prepare/importers/npz_tables.h"
#include "prepare/importers/ogb_csv_tables.h"
#include "prepare/importers/ogb_link_files.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Nodes, with features if there are any. @return how many edges raw/ has
std::uint64_t read_raw(const OgbLinkLayout& layout, const OgbOptions& options, RawGraph& graph) {
  if (fs::exists(layout.raw("data.npz"))) {
    const ZipArchive archive(layout.raw("data.npz"));
    NpzArray nodes(archive, "num_nodes_list"), edges(archive, "num_edges_list");
    graph.num_nodes = read_count(nodes);
    if (archive.find("node_feat.npy") != nullptr) {
      NpzArray features(archive, "node_feat");
      read_features(features, graph);
    }
    return read_count(edges);
  }
  const Promise nodes = read_promise(layout.raw("num-node-list.csv.gz"));
  graph.num_nodes = nodes.num_lines;
  if (fs::exists(layout.raw("node-feat.csv.gz")))
    read_csv_features(layout.raw("node-feat.csv.gz"), nodes, options.num_threads, graph.features);
  return read_promise(layout.raw("num-edge-list.csv.gz")).num_lines;
}

/// [n, 2]
std::vector<NodeId> read_ends(const ArrayDict& split, const RawGraph& graph) {
  std::vector<NodeId> ends;
  if (split.has("source_node")) {
    const std::vector<NodeId> sources = read_numbers(split, "source_node", graph.num_nodes, "node"),
                              destinations = read_numbers(split, "target_node", graph.num_nodes, "node");
    if (sources.size() != destinations.size())
      fail(ErrorKind::kBadData, split.file() + ": " + std::to_string(sources.size()) + " sources, " +
                                    std::to_string(destinations.size()) + " targets");
    set_ends(sources, destinations, ends);
    return ends;
  }
  const NpyHeader& header = split.header("edge");
  if (header.shape.size() != 2 || header.shape[1] != 2)
    fail(ErrorKind::kBadData, split.file() + ": 'edge' has shape " + header.shape_text() + ", expected (n, 2)");
  graph.memory.check(header.num_items() * sizeof(NodeId), split.file());
  ends.reserve(header.num_items());
  split.read("edge", [&](std::span<const std::int64_t> values, std::uint64_t first) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0 || static_cast<std::uint64_t>(values[i]) >= graph.num_nodes)
        fail(ErrorKind::kBadData, split.file() + ": 'edge': record " + std::to_string((first + i) / 2) + " has node " +
                                      std::to_string(values[i]) + ", there are 0 to " +
                                      std::to_string(graph.num_nodes - 1));
      ends.push_back(static_cast<NodeId>(values[i]));
    }
  });
  return ends;
}

void set_edges(const std::vector<NodeId>& ends, RawGraph& graph) {
  graph.sources.resize(ends.size() / 2);
  graph.destinations.resize(ends.size() / 2);
  for (std::size_t i = 0; i < graph.sources.size(); ++i) {
    graph.sources[i] = ends[2 * i];
    graph.destinations[i] = ends[2 * i + 1];
  }
}

SplitNegatives negatives_of(const fs::path& file, std::uint64_t num_nodes, std::vector<std::uint64_t> kept) {
  const auto rows = std::make_shared<const std::vector<std::uint64_t>>(std::move(kept));
  const auto all = [num_nodes](std::uint64_t) { return IdRange{num_nodes, 0}; };
  return {.destinations = negatives_in(file, "target_node_neg", rows, all),
          .sources = negatives_in(file, "source_node_neg", rows, all),
          .pairs = negatives_in(file, "edge_neg", nullptr, all)};
}

}  // namespace

OgbLinks links_of_ogb(const OgbOptions& options) {
  const std::optional<OgbLinkLayout> layout = find_ogb_links(options);
  if (!layout) return OgbLinks::kNone;
  return ArrayDict(layout->splits[1]).has("relation") ? OgbLinks::kTriples : OgbLinks::kPairs;
}

RawGraph import_ogb_pairs(const OgbOptions& options, RepeatsBetween between) {
  const OgbLinkLayout layout = find_ogb_links(options).value();
  RawGraph graph{.name = layout.name,
                 .source_kind = "ogb",
                 .source_path = options.raw.string(),
                 .source_options = options.source_options,
                 .symmetrise = options.symmetric != Symmetric::kNo,
                 .memory = options.memory};
  graph.features.type = options.feature_type;
  const std::uint64_t num_raw = read_raw(layout, options, graph);
  if (!is_node_count(graph.num_nodes))
    fail(ErrorKind::kBadData,
         layout.root.string() + ": a graph has 1 to 2^32 - 2 nodes, not " + std::to_string(graph.num_nodes));
  set_edges(read_ends(ArrayDict(layout.splits[0]), graph), graph);
  if (num_raw != graph.sources.size())
    log_warning(layout.root.string() + ": raw/ has " + std::to_string(num_raw) + " edges and " +
                layout.splits[0].filename().string() + " " + std::to_string(graph.sources.size()) +
                ": the training links are taken, and are all edges");
  GivenLinks given;
  for (std::size_t s = 0; s < given.ends.size(); ++s) {
    given.files[s] = layout.splits[s + 1].string();
    given.ends[s] = read_ends(ArrayDict(layout.splits[s + 1]), graph);
  }
  arena_of(options.num_threads).execute([&] { take_given_links(graph, given, between); });
  for (std::size_t s = 0; s < given.ends.size(); ++s)
    graph.negatives.of[s + 1] = negatives_of(layout.splits[s + 1], graph.num_nodes, std::move(given.kept[s]));
  graph.negatives.links = between == RepeatsBetween::kKeep ? NegativeLinks::kWarn : NegativeLinks::kRefuse;
  return graph;
}

}  // namespace salient
