// models/exact/neighbor_tiles.cuh - sums over neighbours by tensor cores: of rows of f16, of at most 256 columns.
//
// The entries of a run of eight rows, one behind the other, are the terms of a product, 16 in a step:
//   sums [column, row] = sum over entries of table[entry, column] * (is the entry one of the row? 1 : 0)
// A sum's terms are exact; the sum is f32, which tensor cores cut off and do not round: some 1e-6 of it for 512
// entries. Where in a step a row's entries begin depends on the rows before it in its run.
//
// Work split  a warp for each run; the tiles of a step are 16 columns of 16 entries.
// Access      rows in random order, 16 bytes a lane, copied asynchronously into a ring in shared memory, kSteps steps
//             ahead of the sums. Pieces of 16 bytes are exchanged as in wgmma.cuh, so that reading a tile meets every
//             bank once. Ids are loaded 32 entries ahead.
// Limit       memory: one row read per entry.
#pragma once

#include <cstdint>

#include "models/exact/row_pieces.cuh"

namespace salient {

constexpr int kTileRun = 8, kStepEntries = 16, kTileWarps = 12;
constexpr int kTileRingBytes = 16384, kStagedPitch = 68;  // floats of a row: lanes that write meet in no bank
constexpr int kTileWarpBytes = kTileRingBytes + kTileRun * kStagedPitch * 4;

/// The ids of a run's entries, in order.
class RunEntries {
 public:
  __device__ RunEntries(const NodeId* indices, const Run& run, int lane) : indices_(indices), lane_(lane) {
    const int count = lane < run.count ? max(run.degree, 0) : 0;
    int end = count;
#pragma unroll
    for (int step = 1; step < kTileRun; step *= 2) {
      const int before = __shfl_up_sync(~0U, end, step);
      if (lane >= step) end += before;
    }
    start_ = end - count;
    shift_ = run.begin - start_;
    total_ = __shfl_sync(~0U, end, kTileRun - 1);
    row_start_ = __shfl_sync(~0U, start_, lane / 4);
    row_count_ = __shfl_sync(~0U, count, lane / 4);
    coming_ = load(0);
  }
  __device__ int total() const { return total_; }
  /// Before a step is asked for, in order.
  __device__ void next(int step) {
    if (step % 2 != 0) return;
    at_hand_ = coming_;
    coming_ = load((step + 2) * kStepEntries);
  }
  __device__ NodeId id(int position) const { return __shfl_sync(~0U, at_hand_, position & 31); }

  /// Which of the entries `first` and the one behind it are of row lane / 4: f16 ones or zeros.
  __device__ std::uint32_t ones(int first) const {
    constexpr std::uint32_t kOne = 0x3C00;
    const auto count = static_cast<unsigned>(row_count_);
    return (static_cast<unsigned>(first - row_start_) < count ? kOne : 0) |
           (static_cast<unsigned>(first + 1 - row_start_) < count ? kOne << 16 : 0);
  }

 private:
  __device__ NodeId load(int first) const {
    const int position = first + lane_;
    int row = 0;
#pragma unroll
    for (int r = 1; r < kTileRun; ++r) row += static_cast<int>(position >= __shfl_sync(~0U, start_, r));
    const EdgeOffset shift = __shfl_sync(~0U, shift_, row);
    return position < total_ ? __ldg(indices_ + shift + position) : 0;
  }

  const NodeId* const indices_;
  const int lane_;
  int start_, total_, row_start_, row_count_;  // of row `lane`; all; of row lane / 4
  EdgeOffset shift_;                           // from a position to an index
  NodeId at_hand_ = 0, coming_;
};

/// A warp's part of the shared memory. kTiles * 16 columns.
template <int kTiles>
class TileSums {
 public:
  static constexpr int kPitch = kTiles * 32, kStepBytes = kStepEntries * kPitch, kSteps = kTileRingBytes / kStepBytes;
  static constexpr int kLanesOfRow = 2 * kTiles, kParts = 32 / kLanesOfRow;

  __device__ TileSums(char* memory, int warp, int warps, int lane)
      : ring_(static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) +
              static_cast<std::uint32_t>(warp * kTileRingBytes)),
        staged_(reinterpret_cast<float*>(memory + warps * kTileRingBytes) + warp * kTileRun * kStagedPitch),
        lane_(lane) {
    uint4* const zeros = reinterpret_cast<uint4*>(memory + warp * kTileRingBytes);
    for (int i = lane; i < kTileRingBytes / 16; i += 32)
      zeros[i] = make_uint4(0, 0, 0, 0);  // what no entry fills, times zero, is zero
    __syncwarp();
  }

  /// The sums of a run's rows, or of a piece.
  template <class To>
  __device__ __forceinline__ void add_up(const Rows& rows, const Run& run, const Table<Half>& table,
                                         const Sink<Half, To>& to) {
    RunEntries entries(rows.graph.indices, run, lane_);
    float sums[kTiles][4] = {};
    const int steps = (entries.total() + kStepEntries - 1) / kStepEntries, tiles = (table.width + 15) / 16;
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) ask(step, entries, table);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      asm volatile("cp.async.wait_group %0;" ::"n"(kSteps - 1) : "memory");
      __syncwarp();
      multiply(step, entries, tiles, sums);
      __syncwarp();
      ask(step + kSteps, entries, table);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    store(run, table, to, sums);
  }

 private:
  /// Copies a step's rows.
  __device__ __forceinline__ void ask(int step, RunEntries& entries, const Table<Half>& table) const {
    if (step * kStepEntries < entries.total()) {
      entries.next(step);
      const int part = lane_ / kLanesOfRow, chunk = lane_ % kLanesOfRow;
      const std::uint32_t to = ring_ + static_cast<std::uint32_t>(step % kSteps * kStepBytes);
#pragma unroll
      for (int i = 0; i < kStepEntries; i += kParts) {
        const int entry = i + part, position = step * kStepEntries + entry;
        const NodeId id = entries.id(position);
        const std::uint32_t at = to + static_cast<std::uint32_t>(entry * kPitch + (chunk ^ (entry & 7)) * 16);
        if (position < entries.total() && chunk * 8 < table.width)
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(table.row(id) + chunk * 8)
                       : "memory");
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  __device__ __forceinline__ void multiply(int step, const RunEntries& entries, int tiles,
                                           float (&sums)[kTiles][4]) const {
    const int first = step * kStepEntries + lane_ % 4 * 2;
    const std::uint32_t ones[2] = {entries.ones(first), entries.ones(first + 8)};
    // a lane names 16 bytes: eight columns of an entry
    const int entry = lane_ % 8 + lane_ / 16 * 8, half = lane_ / 8 % 2;
    const std::uint32_t from = ring_ + static_cast<std::uint32_t>(step % kSteps * kStepBytes + entry * kPitch);
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      if (t >= tiles) break;
      std::uint32_t x[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(from + static_cast<std::uint32_t>(((2 * t + half) ^ (entry & 7)) * 16))
                   : "memory");
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sums[t][0]), "+f"(sums[t][1]), "+f"(sums[t][2]), "+f"(sums[t][3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(ones[0]), "r"(ones[1]));
    }
  }

  /// A lane has two columns of two rows of each tile; over shared memory it gets eight of one, 64 columns at a time.
  template <class To>
  __device__ __forceinline__ void store(const Run& run, const Table<Half>& table, const Sink<Half, To>& to,
                                        const float (&sums)[kTiles][4]) const {
    const int chunks = table.width / 8;
#pragma unroll
    for (int first = 0; first < kTiles; first += 4) {
      if (first * 2 >= chunks) break;
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        float* const at = staged_ + lane_ % 4 * 2 * kStagedPitch + t * 16 + lane_ / 4;
        at[0] = sums[first + t][0], at[kStagedPitch] = sums[first + t][1];
        at[8] = sums[first + t][2], at[kStagedPitch + 8] = sums[first + t][3];
      }
      __syncwarp();
#pragma unroll
      for (int row = lane_ / 8; row < kTileRun; row += 4) {
        const int degree = run.degree_of(row), chunk = first * 2 + lane_ % 8;
        const NodeId node = run.node_of(row);
        if (row >= run.count || degree == Run::kAbsent || chunk >= chunks) continue;
        float of_row[8], own[8] = {};
        load_eight(staged_ + row * kStagedPitch + lane_ % 8 * 8, of_row);
        const Half* const own_row = to.own_row(run.first + row, node);
        if (own_row != nullptr) Chunk<Half, 8>::load(own_row, table.width, chunk).add_to(own);
        to.store(run.first + row, chunk, chunks, scale_of(table, degree), of_row, own);
      }
      __syncwarp();
    }
  }

  const std::uint32_t ring_;
  float* const staged_;
  const int lane_;
};

template <int kTiles, class To>
__global__ void __launch_bounds__(kTileWarps * 32, 1)
    gather_tiles_kernel(Rows rows, Table<Half> table, GatherScratch scratch, To to, RowGroup group) {
  extern __shared__ uint4 memory[];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) & 31;
  TileSums<kTiles> sums(reinterpret_cast<char*>(memory), warp, kTileWarps, lane);
  const auto add_up = [&](const Run& run, const Sink<Half, To>& sink) { sums.add_up(rows, run, table, sink); };
  for_each_item<8, kTileRun>(rows, table, scratch, to, RowLanes(group), add_up);
}

}  // namespace salient
