// apps/prepare_edge_columns.h - the options of salient-prepare edges that say what columns of edges are, and times.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "prepare/importers/edge_values.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/repeats_between.h"

namespace salient::prepare {

struct NodeTimeOptions {
  std::string node_times{}, node_time_column{};
  std::vector<double> split_by_time{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, NodeTimeOptions>
void visit_fields(Self& self, Visit&& field) {
  field("node-times", self.node_times, ".npy [nodes]: when each node came to be, whole numbers in the edges' unit");
  field("node-time-column", self.node_time_column,
        "instead: the column of the table of nodes that says so, as --time-column; it is no feature");
  field(
      "split-by-time", self.split_by_time,
      "instead of --split: the earliest labelled nodes are for training, the next for validation, the latest the test");
}

/// Links to be predicted that are files of their own.
struct GivenLinkOptions {
  std::string valid_edges{}, test_edges{};
  bool link_times = false;
  std::string train_negatives{}, valid_negatives{}, test_negatives{};
  RepeatsBetween repeats_between = RepeatsBetween::kRefuse;
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, GivenLinkOptions>
void visit_fields(Self& self, Visit&& field) {
  field("valid-edges", self.valid_edges,
        "instead of --edge-split: a file as --edges, whose edges are links of validation; those of --edges are for "
        "training");
  field("test-edges", self.test_edges, "likewise of the test");
  field(
      "link-times", self.link_times,
      "these two files have the column of times, too: each link is asked for at its time, and entries of the graph are "
      "the links of all splits");
  field("train-negatives", self.train_negatives,
        "pairs that are no links, for --negative-sampler given: text, a pair a line; or .npy, [m, 2] pairs or [n, K], "
        "K other destinations of each link");
  field("valid-negatives", self.valid_negatives, "likewise, what links of validation are compared with");
  field("test-negatives", self.test_negatives, "likewise of the test");
  field("repeats-between", self.repeats_between, "of a link that an earlier split has, in either direction");
}

struct EdgeColumnOptions {
  std::vector<std::string> columns{};
  std::string weight_column{}, time_column{};
  std::vector<std::string> edge_feature_columns{};
  std::string edge_features{};
  WeightMap weight_map = WeightMap::kNone;
  std::optional<Repeats> repeats{};
  std::vector<double> edge_split{}, edge_split_by_time{};
  GivenLinkOptions links{};
  NodeTimeOptions of_nodes{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, EdgeColumnOptions>
void visit_fields(Self& self, Visit&& field) {
  field("columns", self.columns, "of a text file with more than two: the two that hold the ids, by name or from 0");
  field("weight-column", self.weight_column,
        "of the edges: name or number of the column of their weights, 0 or more; of .npz data");
  field("weight-map", self.weight_map, "of weights below 0: their absolute value, all less the least, or 0");
  field("time-column", self.time_column,
        "of the edges: name or number of the column of their times, whole numbers or dates as 2004-04-15T12:30");
  field("edge-feature-columns", self.edge_feature_columns,
        "of the edges: names or numbers of the columns that are their features, finite numbers");
  field("edge-features", self.edge_features, "instead: .npy [edges, width], a row for each edge of the file");
  field("repeats", self.repeats,
        "of an edge that is given again; auto: keep where edges have times or features, sum where they have weights, "
        "else first");
  field("edge-split", self.edge_split,
        "links to be predicted: fractions of the edges for training, validation and test, such as 0.8,0.1,0.1, drawn "
        "by --rng-seed; entries of the graph are the training links alone");
  field(
      "edge-split-by-time", self.edge_split_by_time,
      "instead: the earliest edges are links for training, the next for validation, the latest the test; each is asked "
      "for at its time, and entries of the graph are the links of all splits");
  visit_fields(self.links, field);
  visit_fields(self.of_nodes, field);
}

}  // namespace salient::prepare
