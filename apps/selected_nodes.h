// apps/selected_nodes.h - which nodes --nodes of salient-infer means: a split, all, ids, or a file with a list.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/dataset.h"
#include "store/node_lookup.h"

namespace salient {

struct NodeSelection {
  std::string what = "test";    ///< train | valid | test | all | ids, parted by commas | a file
  std::optional<NodesBy> by{};  ///< none: ids, and the words above; ids: what else would be a word is an id
  std::string id_column{};      ///< of a table; "" = one with a usual name, or the only one
};

/// How many nodes can be predicted: of a typed graph those of the target type.
std::size_t num_targets(const Dataset& dataset);

/// Which of them is meant: rows from 0, and ids, are those of the target type, where the graph has types.
NodeLookup lookup_of_targets(const Dataset& dataset);

/// Of each type of a typed graph, by rows and ids of its own.
std::vector<NodeLookup> lookups_of_types(const Dataset& dataset);

/// By its end: .npy, or a table .txt, .csv or .tsv, plain or .gz.
bool is_node_file(const std::string& what);

/// A short name for what is selected: a split's, a file's without its end, or "nodes".
std::string short_name_of(const NodeSelection& selection);

struct SelectedNodes {
  std::vector<NodeId> nodes{};
  bool are_rows_of_others = false;  ///< numbers were taken as ids without being asked for, and are all rows, too, of
                                    ///< other nodes: who gave them may have meant those
};

/// Of a typed graph nodes are those of the target type, by their ids and rows there.
///
/// The nodes of a split in its order, of "all" from 0 on, of a list in its order, of a mask ascending.
///
/// A list is text: ids on the command line, which may be in double quotes, or a table with an id a row; or a .npy with
/// integers, or a bool for each row of the store.
///
/// @throws Error{kUsage} for a split without nodes, and what is no node of a data set without ids; Error{kNoInput},
///         Error{kIo}; Error{kBadData} naming the file, the place and the rule, for a node that is not there or that is
///         listed twice.
SelectedNodes select_nodes(const Dataset& dataset, const NodeSelection& selection);

}  // namespace salient
