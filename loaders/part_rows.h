// loaders/part_rows.h - the feature rows of one of several ranks: those of its part, and copies of some others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/host/huge_vector.h"
#include "loaders/node_set.h"
#include "store/parts.h"

namespace salient {

/// In host memory. The graph, and so the ids of nodes, are the same on all ranks. Of a typed graph the rows of each
/// type are a table; sparse rows, and types without features, are in none.
class PartRows {
 public:
  /// Reads the rows from the data set, and no others; without features.npy its own from their part's file, and then
  /// the copies are missing().
  /// @throws as open_part_rows() and verify_owners()
  /// @param parts   one for each rank of the run
  /// @param copied  nodes of other parts whose rows this rank holds too, ascending
  PartRows(const Dataset& dataset, Parts parts, int rank, std::span<const NodeId> copied);

  int rank() const { return rank_; }
  int num_ranks() const { return parts_.num_parts; }
  int owner_of(NodeId node) const { return parts_.owner[node]; }
  void prefetch(NodeId node) const {
    held_.prefetch(node);
    __builtin_prefetch(&parts_.owner[node]);
  }

  /// Copies that set_row() must bring before table() is read, ascending.
  const std::vector<NodeId>& missing() const { return missing_; }
  /// @param bytes  the row of a node of held()
  void set_row(NodeId node, std::span<const std::byte> bytes);

  const NodeSet& held() const { return held_; }  ///< nodes whose rows are here

  std::size_t num_tables() const { return tables_.size(); }
  RowTable table(std::size_t t = 0) const { return tables_[t].rows; }
  /// Where a node's row is in its table, or NodeSet::kAbsent. @param node  whose rows are in table t
  std::uint32_t row_of(std::size_t t, NodeId node) const {
    const std::uint32_t index = held_.index_of(node);
    return index == NodeSet::kAbsent ? index : index - tables_[t].first_held;
  }
  /// The end of each table's nodes in a list that goes table by table: [tables]
  std::vector<std::size_t> ends_of_tables(std::span<const NodeId> nodes) const;

 private:
  /// Nodes of one table have ids below `end_node`; those that are held have numbers from `first_held` on.
  struct Table {
    RowTable rows{};
    RowTable source{};  // the data set's
    std::uint64_t first_node = 0, end_node = 0;
    std::uint32_t first_held = 0;
  };
  void lay_out_tables(const Dataset& dataset, std::span<const NodeId> held);
  void read_rows(std::span<const NodeId> held);
  void read_own_rows(const Dataset& dataset);

  Parts parts_;
  int rank_;
  NodeSet held_{0, {}};
  std::vector<Table> tables_{};
  UnsetHugeVector<std::byte> rows_;
  std::vector<NodeId> missing_;
};

/// A part for each rank. @throws as open_parts(); Error{kUsage} for another number of parts
Parts open_parts_of_ranks(const Dataset& dataset, int num_ranks);

/// The nodes of one part, ascending.
std::vector<NodeId> nodes_of_part(const Parts& parts, int part);

}  // namespace salient
