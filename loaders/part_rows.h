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

/// In host memory. The graph, and so the ids of nodes, are the same on all ranks.
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

  const NodeSet& held() const { return held_; }  ///< nodes whose rows are in table(), by NodeSet::index_of()
  RowTable table() const { return {rows_.data(), held_.size(), row_bytes_, fp8_scale_}; }

 private:
  void read_rows(const Dataset& dataset, std::span<const NodeId> held);
  void read_own_rows(const Dataset& dataset);

  Parts parts_;
  int rank_;
  NodeSet held_{0, {}};
  std::size_t row_bytes_;
  float fp8_scale_;
  UnsetHugeVector<std::byte> rows_;
  std::vector<NodeId> missing_;
};

/// A part for each rank. @throws as open_parts(); Error{kUsage} for another number of parts
Parts open_parts_of_ranks(const Dataset& dataset, int num_ranks);

/// The nodes of one part, ascending.
std::vector<NodeId> nodes_of_part(const Parts& parts, int part);

}  // namespace salient
