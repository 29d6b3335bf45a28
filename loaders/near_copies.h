// loaders/near_copies.h - copies of other GPUs' rows in the memory of the GPU that reads them. Needs no CUDA toolkit to
// include.
#pragma once

#include <memory>
#include <vector>

#include "core/types.h"
#include "loaders/node_set.h"
#include "loaders/shards.h"

namespace salient {

/// Says on the GPU which rows have a copy behind the table.
class NearCopies {
 public:
  /// Copies rows to where `shards` has room for them. All rows of the table are written. Blocks until done.
  /// @param nodes  of [0, V), ascending, no more than there is room for
  NearCopies(const Shards& shards, const std::vector<NodeId>& nodes);

  /// For the shards' table. This outlives what reads it.
  NearRows rows() const { return {words_.get(), first_}; }

  const NodeSet& nodes() const { return nodes_; }

 private:
  struct Free {
    void operator()(NodeSetWord* memory) const noexcept;
  };
  NodeSet nodes_;
  NodeId first_;
  std::unique_ptr<NodeSetWord, Free> words_;
};

}  // namespace salient
