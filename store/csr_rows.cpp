// store/csr_rows.cpp - see csr_rows.h. Blocks of rows are tidied and packed in parallel, then moved together in order.
#include "store/csr_rows.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::size_t kBlockEntries = std::size_t{1} << 18;

struct Block {
  std::size_t first_row = 0, end_row = 0;
  std::size_t num_entries = 0;  ///< once packed
  std::uint64_t self_loops = 0, duplicates = 0;
};

std::vector<Block> blocks_of(const UnsetHugeVector<EdgeOffset>& indptr) {
  std::vector<Block> blocks;
  const std::size_t num_rows = indptr.size() - 1;
  for (std::size_t first = 0; first < num_rows;) {  // a block has at least one row, however long
    const EdgeOffset limit = indptr[first] + static_cast<EdgeOffset>(kBlockEntries);
    const auto from = indptr.begin() + static_cast<std::ptrdiff_t>(first);
    const auto past = std::upper_bound(from + 1, indptr.end(), limit) - indptr.begin() - 1;
    const std::size_t end = std::clamp(static_cast<std::size_t>(past), first + 1, num_rows);
    blocks.push_back({.first_row = first, .end_row = end});
    first = end;
  }
  return blocks;
}

void pack(Block& block, CsrArrays& graph, UnsetHugeVector<NodeId>& filled, NodeId first_row) {
  NodeId* const start = graph.indices.data() + graph.indptr[block.first_row];
  NodeId* out = start;
  for (std::size_t v = block.first_row; v < block.end_row; ++v) {
    NodeId* const begin = graph.indices.data() + graph.indptr[v];
    NodeId* const end = begin + filled[v];
    std::sort(begin, end);
    NodeId* const unique_end = std::unique(begin, end);
    block.duplicates += static_cast<std::uint64_t>(end - unique_end);
    block.self_loops += std::binary_search(begin, unique_end, static_cast<NodeId>(first_row + v));
    filled[v] = static_cast<NodeId>(unique_end - begin);
    if (out != begin) std::memmove(out, begin, filled[v] * sizeof(NodeId));
    out += filled[v];
  }
  block.num_entries = static_cast<std::size_t>(out - start);
}

}  // namespace

void tidy_rows(CsrArrays& graph, UnsetHugeVector<NodeId>& filled) {
  Progress progress("sorting rows", graph.indices.size(), "entries");
  tidy_rows(graph, filled, 0, progress);
}

void tidy_rows(CsrArrays& graph, UnsetHugeVector<NodeId>& filled, NodeId first_row, Progress& progress) {
  require(filled.size() + 1 == graph.indptr.size(), "every row has a length");
  std::vector<Block> blocks = blocks_of(graph.indptr);
  oneapi::tbb::parallel_for(std::size_t{0}, blocks.size(), [&](std::size_t b) {
    const EdgeOffset begin = graph.indptr[blocks[b].first_row], end = graph.indptr[blocks[b].end_row];
    pack(blocks[b], graph, filled, first_row);
    progress.add(static_cast<std::uint64_t>(end - begin));
  });
  EdgeOffset out = 0;
  for (const Block& block : blocks) {
    const EdgeOffset from = graph.indptr[block.first_row];
    if (out != from)
      std::memmove(graph.indices.data() + out, graph.indices.data() + from, block.num_entries * sizeof(NodeId));
    for (std::size_t v = block.first_row; v < block.end_row; ++v) {
      graph.indptr[v] = out;
      out += static_cast<EdgeOffset>(filled[v]);
    }
    graph.self_loops += block.self_loops;
    graph.duplicates += block.duplicates;
  }
  graph.indptr.back() = out;
  graph.indices.resize(static_cast<std::size_t>(out));
}

}  // namespace salient
