// apps/new_node_table.h - nodes that the data set lacks, from tables: a row each, and their edges by own ids.
#pragma once

#include <string>
#include <vector>

#include "apps/new_nodes.h"
#include "store/dataset.h"
#include "store/node_ids.h"

namespace salient {

struct NewNodeFiles {
  std::string nodes{};      ///< a table in text, whose columns have the names that the data set's table had
  std::string edges{};      ///< a list of edges in text; "" = the new nodes have none
  std::string id_column{};  ///< of `nodes`; "" = the first, or one with a usual name
};

struct NewNodeTable {
  NewNodes nodes{};
  NodeIds ids{};  ///< of the new nodes: numbers if all are and the data set's ids are, too
};

/// A row is coded as the rows of the data set's table were (store/table_coding.h); columns that are no features of it
/// are left out. An edge is of a new node and a known one, or of two new ones: of a data set with edges in both
/// directions each end sees the other, else the second the first. No known node sees a new one; edges of two known
/// nodes, and those that no new node sees, are counted and left out, as the log says.
///
/// @param dataset  in the run's columns
/// @throws Error{kBadData} naming file, line, column and rule: for features that do not come from a table, an id that
///         the data set has or that is there twice, and an edge of a node that neither has; Error{kNoInput}; Error{kIo}
NewNodeTable read_new_nodes(const Dataset& dataset, const NewNodeFiles& files);

/// The same of a typed graph: a table for each type that has new nodes, and a list of edges for each relation.
struct TypedNewNodeFiles {
  std::vector<std::string> nodes{};  ///< "paper=papers.csv"
  std::vector<std::string> edges{};  ///< "paper:written_by:author=written_by.csv", as they were prepared
  std::string id_column{};           ///< of each table
};

/// New nodes of the target type come first, and `ids` are theirs. Rows of the target type are coded as those of its
/// table were; where the data set keeps no such coding, and of other types, columns are numbers, as many as the type
/// has features, in their order. Of types without features the ids count alone.
///
/// Each end is a known node or a new one, by the ids of its type. The destination sees the source, and by the
/// relation's reverse, if the graph has it, the source the destination.
///
/// @throws Error{kUsage} for a type or relation that is not there, and without new nodes of the target type; else as
///         read_new_nodes()
NewNodeTable read_new_typed_nodes(const Dataset& dataset, const TypedNewNodeFiles& files);

/// As many nodes without any known label, of a data set's task and classes. It has no graph and no features.
Dataset unlabelled_nodes(const DatasetFacts& facts, std::size_t num_nodes);

}  // namespace salient
