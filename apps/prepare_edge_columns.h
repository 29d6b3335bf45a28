// apps/prepare_edge_columns.h - the options of salient-prepare edges that say what the columns of the edges are.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "prepare/importers/edge_values.h"
#include "prepare/importers/raw_graph.h"

namespace salient::prepare {

struct EdgeColumnOptions {
  std::vector<std::string> columns{};
  std::string weight_column{}, time_column{};
  WeightMap weight_map = WeightMap::kNone;
  std::optional<Repeats> repeats{};
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
  field("repeats", self.repeats,
        "of an edge that is given again; auto: keep where edges have times, sum where they have weights, else first");
}

}  // namespace salient::prepare
