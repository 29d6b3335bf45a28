// loaders/held_rows.h - which rows of a batch a rank holds, and who has the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "loaders/batch.h"
#include "loaders/part_rows.h"

namespace salient {

/// One worker's memory to write what its rank holds of the rows of kPartitioned, and to list the rest.
class HeldRowWriter {
 public:
  /// @param part  outlives the writer
  explicit HeldRowWriter(const PartRows& part) : part_(&part) {}

  /// Begins a batch, of which nothing is listed yet.
  void start(Batch& batch);

  /// Writes those rows that are here, and notes the others. Table by table, in the order of their numbers.
  /// @param nodes  global ids, whose rows are in this table
  /// @param x      [nodes] rows as models read them; those of other ranks hold anything
  void write(std::size_t table, std::span<const NodeId> nodes, std::byte* x, Batch& batch);

  /// Sets batch.remote and its bounds.
  void finish(Batch& batch);

 private:
  struct Missing {
    LocalId row = 0;         // of x of its table
    std::uint32_t list = 0;  // rank * tables + table
  };
  const PartRows* part_;
  std::vector<Missing> missing_{};
  std::vector<NodeId> rows_{};  // scratch, as the next
  std::vector<std::size_t> cursor_{};
};

}  // namespace salient
