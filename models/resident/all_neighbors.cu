// models/resident/all_neighbors.cu - see all_neighbors.h.
//
// Work split  a block on each multiprocessor, whose warps take pieces of long rows, then runs of neighbouring rows,
//             until none is left. A row's chunks of eight columns have a lane each: several entries at a time if they
//             are few. The warp that ends a row's last piece adds them up.
// Access      rows of the table in random order, 16 bytes a lane, copied asynchronously into a ring in shared memory
//             that is kDepth steps ahead of the sums, over the ends of rows, so that short rows do not wait for memory
//             one by one. Ids are loaded one group ahead. A lane reads only what it copied itself.
// Limit       memory: one row read per entry.
// Sync        a counter for each long row; its pieces are added in their order.
#include <algorithm>

#include "models/kernels/launch.cuh"
#include "models/resident/all_neighbors.h"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/neighbor_results.cuh"
#include "models/resident/neighbor_runs.cuh"
#include "models/resident/pick.cuh"
#include "models/resident/row_chunk.cuh"
#include "models/resident/row_ring.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kMaxWarps = 24, kPiecesInFlight = 4;

/// Where sums of a run go: scaled to means to their rows, or as they are to the place of a piece.
template <class T, class To>
struct Sink {
  const To& to;
  float* piece;  ///< or null

  __device__ const T* own_row(std::int64_t i, NodeId node) const {
    return piece == nullptr ? to.own_row(i, node) : nullptr;
  }
  __device__ void store(std::int64_t i, int chunk, int chunks, float scale, float (&sums)[8], float (&own)[8]) const {
    if (piece != nullptr) return salient::store_eight(sums, piece + chunk * 8);
#pragma unroll
    for (float& sum : sums) sum *= scale;
    to.store(i, chunk, chunks, sums, own);
  }
};

template <class T>
__device__ float scale_of(const Table<T>& table, std::int64_t degree) {
  return degree == 0 ? 0.0f : table.unit / static_cast<float>(degree);
}

/// Asks for what the sums will need: of each row its entries, some a step, then what is the node's own.
template <class T, int kPack, class To>
class Asking {
 public:
  using C = Chunk<T, kPack>;
  __device__ Asking(const Rows& rows, const Run& run, const Table<T>& table, const Sink<T, To>& to, RowLanes lanes)
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
  const Sink<T, To>& to_;
  const RowLanes lanes_;
  IdGroups ids_;
  int row_ = -1, position_ = 0, degree_ = 0;
};

/// The lanes' chunks of a run's rows.
template <class T, int kPack, class To>
__device__ void add_up(const Rows& rows, const Run& run, const Table<T>& table, const Sink<T, To>& to, RowLanes lanes,
                       RowRing<Chunk<T, kPack>>& ring) {
  Asking<T, kPack, To> asking(rows, run, table, to, lanes);
#pragma unroll 1
  for (int i = 0; i + 1 < ring.kDepth; ++i) asking.step(ring);
  for (int row = 0; row < run.count; ++row) {
    const int degree = run.degree_of(row);
    if (degree == Run::kAbsent) continue;
    float sums[8] = {}, own[8] = {};
#pragma unroll 1
    for (int position = 0; position < degree; position += lanes.parts) {
      asking.step(ring);
      ring.wait();
      if (position + lanes.part < degree) ring.oldest().add_to(sums);
      ring.pop();
    }
    asking.step(ring);
    ring.wait();
    ring.oldest().add_to(own);
    ring.pop();
    lanes.add_parts(sums);
    const int chunks = (table.width + 7) / 8;
    if (lanes.part == 0 && lanes.chunk < chunks)
      to.store(run.first + row, lanes.chunk, chunks, scale_of(table, degree), sums, own);
  }
  ring.clear();
}

/// A row all of whose pieces are added up.
struct PiecedRow {
  const float* pieces;  ///< sums
  int count;
  std::int64_t i;
  NodeId node;
  std::int64_t degree;
};

/// Adds up a row's pieces, in the order of their numbers.
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
    Chunk<T, kPack>::load(to.own_row(row.i, row.node), table.width, lanes.chunk).add_to(own);
    Sink<T, To>{to, nullptr}.store(row.i, lanes.chunk, chunks, scale_of(table, row.degree), sums, own);
  }
}

/// Whether this warp is the last to end a piece of the row whose first piece is at `first`. It sees the others' sums.
__device__ bool ends_row(const GatherScratch& scratch, int first, int count, int lane) {
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

template <class T, int kPack, class To>
__global__ void __launch_bounds__(kMaxWarps * 32)
    gather_kernel(Rows rows, Table<T> table, RowGroup group, GatherScratch scratch, To to) {
  extern __shared__ uint4 memory[];
  RowRing<Chunk<T, kPack>> ring(memory);
  RowLanes lanes(group);
  const int chunks = (table.width + 7) / 8, num_pieces = scratch.counts->num_pieces;
  const int longest = piece_entries(scratch);
  const auto add_up_all = [&](const Run& run, const Sink<T, To>& sink) {
    for (lanes.chunk = lanes.index; (lanes.chunk - lanes.index) < chunks; lanes.chunk += group.lanes())
      add_up<T, kPack>(rows, run, table, sink, lanes, ring);
  };
  for (;;) {
    int item = 0;
    if (lanes.in_warp == 0) item = atomicAdd(&scratch.counts->taken, 1);
    item = __shfl_sync(~0U, item, 0);
    if (item >= num_pieces) {
      Run run;
      if (!read_run(rows, item - num_pieces, longest, lanes.in_warp, run)) return;
      add_up_all(run, {to, nullptr});
      continue;
    }
    const RowPiece piece = scratch.pieces[item];
    const Run run = run_of(rows, piece, longest);
    add_up_all(run, {to, scratch.sums + std::int64_t{item} * chunks * 8});
    const std::int64_t degree = rows.graph.degree(run.node);
    const int first = item - piece.number, count = static_cast<int>((degree + longest - 1) / longest);
    if (ends_row(scratch, first, count, lanes.in_warp))
      add_pieces<T, kPack>(table, {scratch.sums + std::int64_t{first} * chunks * 8, count, piece.row, run.node, degree},
                           to, lanes);
  }
}

// ---- host code -------------------------------------------------------------------------------------------

int attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

template <class T, int kPack, class To>
void launch(const NeighborGather& gather, const To& to, cudaStream_t stream) {
  if (gather.block.count == 0) return;
  using Ring = RowRing<Chunk<T, kPack>>;
  static const int multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  static const int warps = std::min(kMaxWarps, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / Ring::kBytes);
  const auto kernel = gather_kernel<T, kPack, To>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, warps * Ring::kBytes));
  list_pieces(gather.graph, gather.block, gather.scratch, stream);
  const FeatureRows& t = gather.table;
  kernel<<<static_cast<unsigned>(gather.multiprocessors > 0 ? gather.multiprocessors : multiprocessors),
           static_cast<unsigned>(warps * 32), static_cast<std::size_t>(warps * Ring::kBytes), stream>>>(
      Rows{gather.graph, gather.block}, Table<T>{reinterpret_cast<const T*>(t.data), static_cast<int>(t.width), t.unit},
      RowGroup::make(padded(t.width) / 8), gather.scratch, to);
  cuda_check(cudaGetLastError());
}

template <class T, int kPack>
void launch_operand(const NeighborGather& gather, void* out, cudaStream_t stream) {
  const FeatureRows& t = gather.table;
  launch<T, kPack>(gather,
                   ToOperand<T>{{reinterpret_cast<const T*>(t.data), static_cast<int>(t.width), t.unit},
                                static_cast<__half*>(out),
                                gather.scratch.beyond_f16},
                   stream);
}

}  // namespace

void all_neighbors_operand(const NeighborGather& gather, void* out, cudaStream_t stream) {
  const FeatureRows& table = gather.table;
  if (table.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(table.data, table.width)) return launch_operand<Half, 8>(gather, out, stream);
    if (is_packable<Half, 4>(table.data, table.width)) return launch_operand<Half, 4>(gather, out, stream);
    return launch_operand<Half, 1>(gather, out, stream);
  }
  if (table.type == FeatureType::kFp8) {
    if (is_packable<Fp8, 8>(table.data, table.width)) return launch_operand<Fp8, 8>(gather, out, stream);
    if (is_packable<Fp8, 4>(table.data, table.width)) return launch_operand<Fp8, 4>(gather, out, stream);
    return launch_operand<Fp8, 1>(gather, out, stream);
  }
  if (is_packable<float, 4>(table.data, table.width)) return launch_operand<float, 4>(gather, out, stream);
  launch_operand<float, 1>(gather, out, stream);
}

void sum_with_neighbors(const NeighborGather& gather, OwnParts own, float* sums, cudaStream_t stream) {
  const Table<Half> own_table{reinterpret_cast<const Half*>(own.rows), static_cast<int>(gather.table.width), 1};
  launch<Half, 8>(gather, ToSums{own_table, own.is_of_nodes, sums, gather.scratch.beyond_f16}, stream);
}

}  // namespace salient
