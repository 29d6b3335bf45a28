// models/exact/neighbor_runs.cuh - what the warps of all_neighbors.cu read of a graph: runs of rows, and their ids.
#pragma once

#include <cstdint>

#include "models/exact/all_neighbors.h"

namespace salient {

struct Rows {
  DeviceCsr graph;
  NodeBlock block;

  __device__ NodeId node_of(std::int64_t i) const {
    return block.nodes == nullptr ? block.first + static_cast<NodeId>(i) : block.nodes[i];
  }
};

/// Entries of a long row that are a piece: at least kLongRow, and so many that the pieces of all fit.
__device__ inline int piece_entries(const GatherScratch& scratch) {
  // A row of more than n entries has fewer than 2 / n of them as pieces.
  const unsigned long long least = (2 * scratch.counts->long_entries) / scratch.max_pieces + 1;
  return static_cast<int>(max(least, static_cast<unsigned long long>(kLongRow)));
}

/// Rows of a run, or one piece of a row: lane r < count has row r's. All lanes of a warp call the members that are
/// told.
struct Run {
  std::int64_t first = 0;
  int count = 0;
  NodeId node = 0;
  EdgeOffset begin = 0;
  int degree = kAbsent;  ///< of no row, or one that is added up in pieces: kAbsent

  static constexpr int kAbsent = -1;
  __device__ int degree_of(int row) const { return __shfl_sync(~0U, degree, row); }
  __device__ NodeId node_of(int row) const { return __shfl_sync(~0U, node, row); }
  __device__ EdgeOffset begin_of(int row) const { return __shfl_sync(~0U, begin, row); }
};

/// The run from row `first` on, of `most` rows if there are as many; false if there is none. Those with more than
/// `longest` entries are absent.
__device__ inline bool read_run(const Rows& rows, std::int64_t first, int most, int longest, int lane, Run& run) {
  run.first = first;
  if (run.first >= rows.block.count) return false;
  run.count = static_cast<int>(min(std::int64_t{most}, rows.block.count - run.first));
  run.degree = Run::kAbsent;
  if (lane >= run.count) return true;
  run.node = rows.node_of(run.first + lane);
  run.begin = rows.graph.begin(run.node);
  const std::uint32_t degree = rows.graph.degree(run.node);
  if (degree <= static_cast<std::uint32_t>(longest)) run.degree = static_cast<int>(degree);
  return true;
}

/// A piece as a run of one row.
__device__ inline Run run_of(const Rows& rows, RowPiece piece, int longest) {
  const NodeId node = rows.node_of(piece.row);
  const std::int64_t before = std::int64_t{piece.number} * longest, degree = rows.graph.degree(node);
  return {.first = piece.row,
          .count = 1,
          .node = node,
          .begin = rows.graph.begin(node) + before,
          .degree = static_cast<int>(min(std::int64_t{longest}, degree - before))};
}

/// The entries' ids, up to 32 of one row at a time, in the order of rows; the group behind the one at hand is on its
/// way.
class IdGroups {
 public:
  __device__ IdGroups(const NodeId* indices, const Run& run, int lane) : indices_(indices), run_(run), lane_(lane) {
    next();
  }
  __device__ void next() {
    at_hand_ = coming_;
    for (; row_ < run_.count; ++row_, position_ = 0) {
      const int degree = run_.degree_of(row_);
      if (position_ >= degree) continue;
      const EdgeOffset begin = run_.begin_of(row_);
      if (position_ + lane_ < degree) coming_ = __ldg(indices_ + begin + position_ + lane_);
      position_ += 32;
      return;
    }
  }
  __device__ NodeId id(int position) const { return __shfl_sync(~0U, at_hand_, position & 31); }

 private:
  const NodeId* const indices_;
  const Run& run_;
  const int lane_;
  int row_ = 0, position_ = 0;
  NodeId at_hand_ = 0, coming_ = 0;
};

}  // namespace salient
