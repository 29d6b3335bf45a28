// models/resident/all_neighbors.cu - see all_neighbors.h.
//
// Work split  short rows: a block on each multiprocessor, whose warps take runs of neighbouring rows until none is
//             left. The row's chunks of eight columns have a lane each: several entries at a time if they are few.
//             A row of more than kLongRow entries waits for a second kernel, where a block adds it up.
// Access      rows of the table in random order, 16 bytes a lane, copied asynchronously into a ring in shared memory
//             that is kDepth steps ahead of the sums, over the ends of rows, so that short rows do not wait for memory
//             one by one. Ids are loaded one group ahead. A lane reads only what it copied itself.
// Limit       memory: one row read per entry.
// Sync        none; for long rows a block-wide sum in a fixed order.
#include <algorithm>
#include <cfloat>

#include "models/kernels/launch.cuh"
#include "models/resident/all_neighbors.h"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/neighbor_runs.cuh"
#include "models/resident/pick.cuh"
#include "models/resident/row_chunk.cuh"
#include "models/resident/row_ring.cuh"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 8, kLongThreads = 512, kLongBlocks = 528, kMaxWarps = 24;

__device__ void store_eight(const float (&values)[8], __half* to) {
  unsigned pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 two = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
    pairs[i] = *reinterpret_cast<const unsigned*>(&two);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

constexpr float kLargestHalf = 65504;

/// Every row of a table that is read is noted here at the latest: as the own row of its node.
__device__ void note_beyond(const float (&values)[8], float largest, std::int32_t* beyond) {
  bool is_within = true;
#pragma unroll
  for (const float value : values) is_within = is_within && fabsf(value) <= largest;  // false for a NaN
  if (!is_within) *beyond = 1;
}

/// A table of rows, and what its numbers are times.
template <class T>
struct Table {
  const T* rows;
  int width;
  float unit;
  __device__ const T* row(std::uint32_t i) const {  // one multiplication of 32 bits
    const unsigned row_bytes = static_cast<unsigned>(width) * static_cast<unsigned>(sizeof(T));
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(rows) + std::uint64_t{i} * row_bytes);
  }
};

/// Where a mean and what is a node's own go: beside each other into an operand.
template <class T>
struct ToOperand {
  Table<T> own;
  __half* out;
  std::int32_t* beyond;

  __device__ const T* own_row(std::int64_t, NodeId node) const { return own.row(node); }
  __device__ void store(std::int64_t i, int chunk, int chunks, const float (&mean)[8], float (&own_columns)[8]) const {
#pragma unroll
    for (float& value : own_columns) value *= own.unit;
    note_beyond(mean, kLargestHalf, beyond);
    note_beyond(own_columns, kLargestHalf, beyond);
    store_eight(mean, out + (i * 2 * chunks + chunk) * 8);
    store_eight(own_columns, out + ((i * 2 + 1) * chunks + chunk) * 8);
  }
};

/// ... or added up.
struct ToSums {
  Table<Half> own;
  bool is_of_nodes;
  float* sums;
  std::int32_t* beyond;

  __device__ const Half* own_row(std::int64_t i, NodeId node) const {
    return own.row(is_of_nodes ? node : static_cast<std::uint32_t>(i));
  }
  __device__ void store(std::int64_t i, int chunk, int chunks, const float (&mean)[8], float (&own_columns)[8]) const {
#pragma unroll
    for (int c = 0; c < 8; ++c) own_columns[c] += mean[c];
    note_beyond(own_columns, FLT_MAX, beyond);
    salient::store_eight(own_columns, sums + (i * chunks + chunk) * 8);
  }
};

/// Asks for what the sums will need: of each row its entries, some a step, then what is the node's own.
template <class T, int kPack, class To>
class Asking {
 public:
  using C = Chunk<T, kPack>;
  __device__ Asking(const Rows& rows, const Run& run, const Table<T>& table, const To& to, RowLanes lanes)
      : run_(run), table_(table), to_(to), lanes_(lanes), ids_(rows.graph.indices, run, lanes.in_warp) {
    next_row();
  }
  __device__ void step(RowRing<C>& ring) {
    if (row_ < run_.count) {
      const T* from = nullptr;
      if (position_ < degree_) {
        if ((position_ & 31) == 0) ids_.next();
        const int entry = position_ + lanes_.part;
        const NodeId id = ids_.id(entry);
        if (entry < degree_) from = table_.row(id);
        position_ += lanes_.parts;
      } else {
        const NodeId node = run_.node_of(row_);
        if (lanes_.part == 0) from = to_.own_row(run_.first + row_, node);
        next_row();
      }
      if (from != nullptr) ring.ask(from, table_.width, lanes_.chunk);
    }
    ring.close_step();
  }

 private:
  __device__ void next_row() {
    do degree_ = ++row_ < run_.count ? run_.degree_of(row_) : 0;
    while (degree_ == Run::kAbsent);
    position_ = 0;
  }

  const Run& run_;
  const Table<T>& table_;
  const To& to_;
  const RowLanes lanes_;
  IdGroups ids_;
  int row_ = -1, position_ = 0, degree_ = 0;
};

/// The lanes' chunks of a run's rows.
template <class T, int kPack, class To>
__device__ void add_up(const Rows& rows, const Run& run, const Table<T>& table, const To& to, RowLanes lanes,
                       RowRing<Chunk<T, kPack>>& ring) {
  Asking<T, kPack, To> asking(rows, run, table, to, lanes);
#pragma unroll 1
  for (int i = 0; i + 1 < ring.kDepth; ++i) asking.step(ring);
  for (int row = 0; row < run.count; ++row) {
    const int degree = run.degree_of(row);
    if (degree == Run::kAbsent) continue;
    float mean[8] = {}, own[8] = {};
#pragma unroll 1
    for (int position = 0; position < degree; position += lanes.parts) {
      asking.step(ring);
      ring.wait();
      if (position + lanes.part < degree) ring.oldest().add_to(mean);
      ring.pop();
    }
    asking.step(ring);
    ring.wait();
    ring.oldest().add_to(own);
    ring.pop();
    lanes.add_parts(mean);
    const float scale = degree == 0 ? 0.0f : table.unit / static_cast<float>(degree);
#pragma unroll
    for (float& value : mean) value *= scale;
    const int chunks = (table.width + 7) / 8;
    if (lanes.part == 0 && lanes.chunk < chunks) to.store(run.first + row, lanes.chunk, chunks, mean, own);
  }
  ring.clear();
}

template <class T, int kPack, class To>
__global__ void __launch_bounds__(kMaxWarps * 32)
    short_rows_kernel(Rows rows, Table<T> table, RowGroup group, NeighborNotes notes, To to) {
  extern __shared__ uint4 memory[];
  RowRing<Chunk<T, kPack>> ring(memory);
  RowLanes lanes(group);
  const int chunks = (table.width + 7) / 8;
  Run run;
  while (take_run(rows, notes, lanes.in_warp, run))
    for (lanes.chunk = lanes.index; (lanes.chunk - lanes.index) < chunks; lanes.chunk += group.lanes())
      add_up<T, kPack>(rows, run, table, to, lanes, ring);
}

/// Entries [begin, end) of the graph.
struct Entries {
  EdgeOffset begin, end;
};

/// sums += the rows of entries, one chunk of each. All lanes of the group call it; they load an entry's id each, and
/// tell it to the others.
template <class T, int kPack>
__device__ void add_entries(const Rows& rows, const Table<T>& table, Entries of, Lane lane, int chunk,
                            float (&sums)[8]) {
  using C = Chunk<T, kPack>;
  for (EdgeOffset first = of.begin; first < of.end; first += lane.count) {
    const auto count = static_cast<int>(min(EdgeOffset{lane.count}, of.end - first));
    const NodeId mine = lane.index < count ? rows.graph.indices[first + lane.index] : 0;
    for (int at = 0; at < count; at += kInFlight) {
      C loaded[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const NodeId entry = lane.from((at + k) & (lane.count - 1), mine);
        if (at + k < count) loaded[k] = C::load(table.row(entry), table.width, chunk);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (at + k < count) loaded[k].add_to(sums);
    }
  }
}

template <class T, int kPack, class To>
__global__ void __launch_bounds__(kLongThreads)
    long_rows_kernel(Rows rows, Table<T> table, RowGroup group, NeighborNotes notes, To to) {
  __shared__ float partial[kLongThreads][8];
  const Lane lane = Lane::of(group);
  const int part = static_cast<int>(threadIdx.x) >> group.log_lanes, parts = kLongThreads >> group.log_lanes;
  const int chunks = (table.width + 7) / 8;
  for (int at = static_cast<int>(blockIdx.x); at < notes.counters[1]; at += static_cast<int>(gridDim.x)) {
    const std::int64_t i = notes.long_rows[at];
    const NodeId node = rows.node_of(i);
    const EdgeOffset begin = rows.graph.begin(node), end = begin + rows.graph.degree(node);
    const EdgeOffset share = (end - begin + parts - 1) / parts, first = begin + part * share;
    for (int chunk = lane.index; (chunk - lane.index) < chunks; chunk += lane.count) {
      float sums[8] = {};
      add_entries<T, kPack>(rows, table, {first, min(first + share, end)}, lane, chunk, sums);
#pragma unroll
      for (int c = 0; c < 8; ++c) partial[threadIdx.x][c] = sums[c];
      __syncthreads();
      if (part == 0 && chunk < chunks) {
        float mean[8] = {}, own[8] = {};
        for (int p = 0; p < parts; ++p)
#pragma unroll
          for (int c = 0; c < 8; ++c) mean[c] += partial[(p << group.log_lanes) + lane.index][c];
#pragma unroll
        for (float& value : mean) value = value * table.unit / static_cast<float>(end - begin);
        Chunk<T, kPack>::load(to.own_row(i, node), table.width, chunk).add_to(own);
        to.store(i, chunk, chunks, mean, own);
      }
      __syncthreads();
    }
  }
}

// ---- host code -------------------------------------------------------------------------------------------

int attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

/// A block has all of a multiprocessor's shared memory but what a block of long rows takes.
template <class T, int kPack, class To>
void launch_short(const NeighborGather& gather, const Table<T>& table, const To& to, cudaStream_t stream) {
  using Ring = RowRing<Chunk<T, kPack>>;
  static const int multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  static const int room = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - kLongThreads * 8 * int{sizeof(float)};
  static const int warps = std::min(kMaxWarps, room / Ring::kBytes);
  const auto kernel = short_rows_kernel<T, kPack, To>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, warps * Ring::kBytes));
  const std::int64_t runs = (gather.block.count + kRunRows - 1) / kRunRows;
  const std::int64_t blocks = std::min<std::int64_t>(
      gather.multiprocessors > 0 ? gather.multiprocessors : multiprocessors, (runs + warps - 1) / warps);
  cuda_check(cudaMemsetAsync(gather.notes.counters, 0, 2 * sizeof *gather.notes.counters, stream));
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(warps * 32),
           static_cast<std::size_t>(warps * Ring::kBytes), stream>>>(
      Rows{gather.graph, gather.block}, table, RowGroup::make(padded(table.width) / 8), gather.notes, to);
  cuda_check(cudaGetLastError());
}

template <class T, int kPack, class To>
void launch(const NeighborGather& gather, RowLength rows, const To& to, cudaStream_t stream) {
  if (gather.block.count == 0) return;
  const FeatureRows& t = gather.table;
  const Table<T> table{reinterpret_cast<const T*>(t.data), static_cast<int>(t.width), t.unit};
  if (rows == RowLength::kShort) return launch_short<T, kPack>(gather, table, to, stream);
  long_rows_kernel<T, kPack><<<kLongBlocks, kLongThreads, 0, stream>>>(
      Rows{gather.graph, gather.block}, table, RowGroup::make(padded(t.width) / 8), gather.notes, to);
  cuda_check(cudaGetLastError());
}

template <class T, int kPack>
void launch_operand(const NeighborGather& gather, RowLength rows, void* out, cudaStream_t stream) {
  const FeatureRows& t = gather.table;
  launch<T, kPack>(gather, rows,
                   ToOperand<T>{{reinterpret_cast<const T*>(t.data), static_cast<int>(t.width), t.unit},
                                static_cast<__half*>(out),
                                gather.notes.beyond_f16},
                   stream);
}

}  // namespace

void all_neighbors_operand(const NeighborGather& gather, RowLength rows, void* out, cudaStream_t stream) {
  const FeatureRows& table = gather.table;
  if (table.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(table.data, table.width)) return launch_operand<Half, 8>(gather, rows, out, stream);
    if (is_packable<Half, 4>(table.data, table.width)) return launch_operand<Half, 4>(gather, rows, out, stream);
    return launch_operand<Half, 1>(gather, rows, out, stream);
  }
  if (table.type == FeatureType::kFp8) {
    if (is_packable<Fp8, 8>(table.data, table.width)) return launch_operand<Fp8, 8>(gather, rows, out, stream);
    if (is_packable<Fp8, 4>(table.data, table.width)) return launch_operand<Fp8, 4>(gather, rows, out, stream);
    return launch_operand<Fp8, 1>(gather, rows, out, stream);
  }
  if (is_packable<float, 4>(table.data, table.width)) return launch_operand<float, 4>(gather, rows, out, stream);
  launch_operand<float, 1>(gather, rows, out, stream);
}

void sum_with_neighbors(const NeighborGather& gather, RowLength rows, OwnParts own, float* sums, cudaStream_t stream) {
  const Table<Half> own_table{reinterpret_cast<const Half*>(own.rows), static_cast<int>(gather.table.width), 1};
  launch<Half, 8>(gather, rows, ToSums{own_table, own.is_of_nodes, sums, gather.notes.beyond_f16}, stream);
}

}  // namespace salient
