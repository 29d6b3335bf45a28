// engine/infer/node_rows.h - the rows of a graph node by node, whatever its types.
#pragma once

#include <vector>

#include "core/csr_graph.h"

namespace salient {

/// A graph whose row v has all entries of node v: a plain graph as it is, of a typed one the slots of a node, which
/// follow each other, as one row. For those to whom relations are all the same.
/// Memory: of a typed graph 8 bytes a node.
class NodeRows {
 public:
  /// @param graph  borrowed
  explicit NodeRows(const CsrGraph& graph);
  NodeRows(const NodeRows&) = delete;
  NodeRows& operator=(const NodeRows&) = delete;

  /// Without slots; lives as long as this and as the graph.
  const CsrGraph& graph() const { return rows_; }

 private:
  std::vector<EdgeOffset> indptr_;
  CsrGraph rows_;
};

}  // namespace salient
