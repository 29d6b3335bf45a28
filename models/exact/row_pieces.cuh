// models/exact/row_pieces.cuh - what the warps of a gather take: pieces of long rows, then runs of rows.
#pragma once

#include <cstdint>

#include "models/exact/neighbor_results.cuh"
#include "models/exact/neighbor_runs.cuh"
#include "models/exact/row_ring.cuh"
#include "models/resident/row_chunk.cuh"

namespace salient {

constexpr int kPiecesInFlight = 4;

/// A row all of whose pieces are added up.
struct PiecedRow {
  const float* pieces;  ///< sums
  int count;
  std::int64_t i;
  NodeId node;
  std::int64_t degree;
};

/// Adds up a row's pieces, in an order that their number and the row's width give.
template <class T, int kPack, class To>
__device__ void add_pieces(const Table<T>& table, const PiecedRow& row, const To& to, RowLanes lanes) {
  const int chunks = (table.width + 7) / 8;
  for (lanes.chunk = lanes.index; (lanes.chunk - lanes.index) < chunks; lanes.chunk += 32 / lanes.parts) {
    float sums[8] = {}, own[8] = {};
    if (lanes.chunk < chunks) {
#pragma unroll kPiecesInFlight
      for (int k = lanes.part; k < row.count; k += lanes.parts) {
        const auto* const from =
            reinterpret_cast<const float4*>(row.pieces + (std::int64_t{k} * chunks + lanes.chunk) * 8);
        const float4 low = __ldcg(from), high = __ldcg(from + 1);  // other multiprocessors wrote them
        const float values[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int c = 0; c < 8; ++c) sums[c] += values[c];
      }
    }
    lanes.add_parts(sums);
    if (lanes.part != 0 || lanes.chunk >= chunks) continue;
    if constexpr (To::kHasOwn) Chunk<T, kPack>::load(to.own_row(row.i, row.node), table.width, lanes.chunk).add_to(own);
    Sink<T, To>{to, nullptr}.store(row.i, lanes.chunk, chunks, scale_of(table, row.degree), sums, own);
  }
}

/// Whether this warp is the last to end a piece of the row whose first piece is at `first`. It sees the others' sums.
__device__ inline bool ends_row(const GatherScratch& scratch, int first, int count, int lane) {
  __syncwarp();
  bool is_last = false;
  if (lane == 0) {
    __threadfence();
    is_last = atomicAdd(&scratch.num_added[first], 1) + 1 == count;
    if (is_last) scratch.num_added[first] = 0;
    __threadfence();
  }
  __syncwarp();
  return __shfl_sync(~0U, is_last, 0);
}

/// Until none is left. `add_up(run, sink)` adds up the rows of a run of at most kRunRows, or a piece.
template <int kPack, int kRunRows, class T, class To, class AddUp>
__device__ __forceinline__ void for_each_item(const Rows& rows, const Table<T>& table, const GatherScratch& scratch,
                                              const To& to, RowLanes lanes, const AddUp& add_up) {
  const int chunks = (table.width + 7) / 8, num_pieces = scratch.counts->num_pieces, longest = piece_entries(scratch);
  for (;;) {
    int item = 0;
    if (lanes.in_warp == 0) item = atomicAdd(&scratch.counts->taken, 1);
    item = __shfl_sync(~0U, item, 0);
    const bool is_piece = item < num_pieces;
    const RowPiece piece = is_piece ? scratch.pieces[item] : RowPiece{};
    Run run;
    if (is_piece)
      run = run_of(rows, piece, longest);
    else if (!read_run(rows, std::int64_t{item - num_pieces} * kRunRows, kRunRows, longest, lanes.in_warp, run))
      return;
    add_up(run, Sink<T, To>{to, is_piece ? scratch.sums + std::int64_t{item} * chunks * 8 : nullptr});
    if (!is_piece) continue;
    const std::int64_t degree = rows.graph.degree(run.node);
    const int first = item - piece.number, count = static_cast<int>((degree + longest - 1) / longest);
    if (ends_row(scratch, first, count, lanes.in_warp))
      add_pieces<T, kPack>(table, {scratch.sums + std::int64_t{first} * chunks * 8, count, piece.row, run.node, degree},
                           to, lanes);
  }
}

}  // namespace salient
