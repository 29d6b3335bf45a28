// loaders/gather_labels.h - the labels of some nodes, in host memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "loaders/gather_rows.h"
#include "store/label_table.h"

namespace salient {

/// out[i] = the row of labels of nodes[i]; of labels of width 0 nothing.
/// @param nodes  that the table has   @param out  [nodes.size()] rows
/// Oracle: gather_rows_reference()
inline void gather_labels(const LabelTable& labels, std::span<const NodeId> nodes, std::byte* out) {
  if (labels.type.width == 0) return;
  const RowTable rows = labels.rows();
  if (labels.first == 0) return gather_rows(rows, nodes.data(), nodes.size(), out);
  std::array<NodeId, 1024> row_of;
  while (!nodes.empty()) {
    const auto some = nodes.first(std::min(nodes.size(), row_of.size()));
    std::ranges::transform(some, row_of.begin(), [&](NodeId node) { return node - labels.first; });
    gather_rows(rows, row_of.data(), some.size(), out);
    out += some.size() * rows.row_bytes;
    nodes = nodes.subspan(some.size());
  }
}

}  // namespace salient
