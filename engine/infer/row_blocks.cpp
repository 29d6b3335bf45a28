// engine/infer/row_blocks.cpp - see row_blocks.h.
#include "engine/infer/row_blocks.h"

#include <algorithm>

namespace salient {
namespace {

std::size_t rows_for(const CsrGraph& graph, NodeId node) {
  return 1 + static_cast<std::size_t>(graph.indptr[node + std::size_t{1}] - graph.indptr[node]);
}

}  // namespace

std::vector<RowBlock> cut_blocks(const CsrGraph& graph, std::span<const NodeId> nodes, std::size_t max_rows) {
  std::vector<RowBlock> blocks;
  std::size_t num_rows = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t more = rows_for(graph, nodes[i]);
    if (blocks.empty() || num_rows + more > max_rows) {
      blocks.push_back({i, 0});
      num_rows = 0;
    }
    ++blocks.back().count;
    num_rows += more;
  }
  return blocks;
}

std::vector<RowBlock> cut_evenly(std::size_t num_nodes, std::size_t max_rows) {
  std::vector<RowBlock> blocks;
  for (std::size_t begin = 0; begin < num_nodes; begin += max_rows)
    blocks.push_back({begin, std::min(max_rows, num_nodes - begin)});
  return blocks;
}

std::size_t largest_block(const CsrGraph& graph, std::span<const NodeId> nodes, std::span<const RowBlock> blocks) {
  std::size_t most = 0;
  for (const RowBlock& block : blocks) {
    std::size_t num_rows = 0;
    for (const NodeId node : nodes.subspan(block.begin, block.count)) num_rows += rows_for(graph, node);
    most = std::max(most, num_rows);
  }
  return most;
}

}  // namespace salient
