// prepare/importers/edge_splits.cpp - see edge_splits.h.
#include "prepare/importers/edge_splits.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arena_of.h"
#include "prepare/importers/labelled_split.h"
#include "prepare/importers/link_files.h"
#include "prepare/importers/node_arrays.h"
#include "prepare/importers/open_node_table.h"
#include "prepare/importers/timed_links.h"
#include "store/dataset_checks.h"

namespace salient {
namespace {

/// Files of training, validation and test nodes.
void read_splits(const EdgesOptions& options, const NodeTableOptions& table, const NodeIndex& index, RawGraph& graph) {
  const std::array paths = {options.train, options.valid, options.test};
  const std::array parts = {&graph.train, &graph.valid, &graph.test};
  for (std::size_t s = 0; s < paths.size(); ++s) {
    if (is_text_table(paths[s]))
      read_id_list(paths[s], table, [&](std::string_view id) -> const char* {
        const std::optional<NodeId> node = index.find(id);
        if (node) parts[s]->push_back(*node);
        return node ? nullptr : "no node has this id";
      });
    else if (!paths[s].empty())
      *parts[s] = read_split(paths[s], graph.num_nodes, options.mask);
  }
  const std::vector<std::int32_t> unlabelled(options.labels.empty() ? graph.num_nodes : 0, -1);
  const std::array names = {paths[0].string(), paths[1].string(), paths[2].string()};
  const std::array views = {SplitView{names[0].c_str(), graph.train}, SplitView{names[1].c_str(), graph.valid},
                            SplitView{names[2].c_str(), graph.test}};
  DatasetChecks({}).check_splits(views,
                                 options.labels.empty() ? LabelTable{.classes = unlabelled} : graph.label_table());
}

}  // namespace

bool makes_split(const EdgesOptions& options) { return !options.split.empty() || !options.split_by_time.empty(); }

void set_splits(const EdgesOptions& options, const NodeTableOptions& table, const NodeIndex& index, RawGraph& graph,
                GivenLinks& given) {
  if (options.links.have_times)
    take_timed_links(graph, given);
  else if (options.links.are_given())
    arena_of(options.num_threads).execute([&] { take_given_links(graph, given, options.links.between); });
  if (options.links.have_negatives()) graph.negatives = read_negatives(options.links, index, graph, given);
  if (!options.edge_split_by_time.empty()) split_edges_by_time(graph, options.edge_split_by_time);
  if (!options.edge_split.empty())
    arena_of(options.num_threads).execute([&] { split_edges(graph, options.edge_split); });
  if (!options.split.empty()) return draw_labelled_split(graph, options.split, options.rng_seed);
  if (!options.split_by_time.empty()) return split_labelled_by_time(graph, options.split_by_time);
  read_splits(options, table, index, graph);
}

}  // namespace salient
