// prepare/importers/labelled_split.cpp - see labelled_split.h.
#include "prepare/importers/labelled_split.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/split.h"

namespace salient {

namespace {

std::vector<NodeId> labelled_nodes(const RawGraph& graph) {
  const LabelTable labels = graph.label_table();
  std::vector<NodeId> labelled;
  for (NodeId v = 0; v < labels.num_nodes(); ++v)
    if (labels.num_known(v) > 0) labelled.push_back(v);
  return labelled;
}

std::array<double, 3> three(const std::vector<double>& fractions) {
  require(fractions.size() == 3, "a split has three parts");
  return {fractions[0], fractions[1], fractions[2]};
}

void set_split(RawGraph& graph, Split parts, const std::array<double, 3>& fractions, std::size_t num_labelled) {
  const std::array<std::pair<const char*, std::size_t>, 3> sizes = {{{"to train on", parts.train.size()},
                                                                     {"for validation", parts.valid.size()},
                                                                     {"for the test", parts.test.size()}}};
  for (std::size_t p = 0; p < sizes.size(); ++p)
    if (fractions[p] > 0 && sizes[p].second == 0)
      log_warning("the split of " + std::to_string(num_labelled) + " labelled nodes leaves none " + sizes[p].first);
  graph.train = std::move(parts.train);
  graph.valid = std::move(parts.valid);
  graph.test = std::move(parts.test);
}

}  // namespace

void check_split(std::vector<FieldProblem>& found, const std::vector<double>& fractions, const char* field) {
  if (fractions.empty()) return;
  const bool is_split = fractions.size() == 3 && are_fractions(std::span(fractions).first<3>());
  check_field(found, is_split, field, "three fractions, none negative, with a sum of at most 1, such as 0.6,0.2,0.2");
}

void draw_labelled_split(RawGraph& graph, const std::vector<double>& fractions, std::uint32_t rng_seed) {
  const std::vector<NodeId> labelled = labelled_nodes(graph);
  Split parts = split(labelled.size(), three(fractions), rng_seed);
  for (std::vector<NodeId>* part : {&parts.train, &parts.valid, &parts.test})
    for (NodeId& id : *part) id = labelled[id];
  set_split(graph, std::move(parts), three(fractions), labelled.size());
}

void split_labelled_by_time(RawGraph& graph, const std::vector<double>& fractions) {
  require(graph.node_times.size() == graph.num_nodes, "every node has a time");
  std::vector<NodeId> labelled = labelled_nodes(graph);
  const auto time_at = [&](std::size_t place) { return graph.node_times[labelled[place]]; };
  std::ranges::stable_sort(labelled, {}, [&](NodeId v) { return graph.node_times[v]; });
  std::array<std::size_t, 3> ends = part_ends(labelled.size(), three(fractions));
  for (std::size_t& end : ends)
    while (end > 0 && end < labelled.size() && time_at(end) == time_at(end - 1)) ++end;
  set_split(graph, parts_of(labelled, ends), three(fractions), labelled.size());
}

}  // namespace salient
