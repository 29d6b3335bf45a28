// models/exact/all_neighbors.cu - see all_neighbors.h. Of rows of f16 of at most 256 columns neighbor_tiles.cuh does
// the work, of others the kernel below.
//
// Work split  a block on each multiprocessor, whose warps take pieces of long rows, then runs of neighbouring rows,
//             until none is left. A row's chunks of eight columns have a lane each: several entries at a time if they
//             are few. The warp that ends a row's last piece adds them up.
// Access      rows of the table in random order, 16 bytes a lane, copied asynchronously into a ring in shared memory
//             that is kDepth steps ahead of the sums, over the ends of rows, so that short rows do not wait for memory
//             one by one. Ids are loaded one group ahead. A lane reads only what it copied itself.
// Limit       memory: one row read per entry.
// Sync        a counter for each long row; its pieces are added in a fixed order.
#include <algorithm>

#include "core/cuda/device_attribute.h"
#include "core/error.h"
#include "models/exact/all_neighbors.h"
#include "models/exact/neighbor_results.cuh"
#include "models/exact/neighbor_runs.cuh"
#include "models/exact/neighbor_tiles.cuh"
#include "models/exact/row_pieces.cuh"
#include "models/exact/row_ring.cuh"
#include "models/kernels/launch.cuh"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/row_chunk.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kMaxWarps = 24, kRunRows = 16;

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
        if (!To::kHasOwn && position_ >= degree_) next_row();
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
  /// The next row for which there is something to ask.
  __device__ void next_row() {
    do degree_ = ++row_ < run_.count ? run_.degree_of(row_) : 0;
    while (degree_ == Run::kAbsent || (!To::kHasOwn && degree_ == 0 && row_ < run_.count));
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
    if constexpr (To::kHasOwn) {
      asking.step(ring);
      ring.wait();
      ring.oldest().add_to(own);
      ring.pop();
    }
    lanes.add_parts(sums);
    const int chunks = (table.width + 7) / 8;
    if (lanes.part == 0 && lanes.chunk < chunks)
      to.store(run.first + row, lanes.chunk, chunks, scale_of(table, degree), sums, own);
  }
  ring.clear();
}

template <class T, int kPack, class To>
__global__ void __launch_bounds__(kMaxWarps * 32)
    gather_kernel(Rows rows, Table<T> table, GatherScratch scratch, To to, RowGroup group) {
  extern __shared__ uint4 memory[];
  RowRing<Chunk<T, kPack>> ring(memory);
  RowLanes lanes(group);
  const int chunks = (table.width + 7) / 8;
  const auto add_up_all = [&](const Run& run, const Sink<T, To>& sink) {
    for (lanes.chunk = lanes.index; (lanes.chunk - lanes.index) < chunks; lanes.chunk += group.lanes())
      add_up<T, kPack>(rows, run, table, sink, lanes, ring);
  };
  for_each_item<kPack, kRunRows>(rows, table, scratch, to, lanes, add_up_all);
}

// ---- host code -------------------------------------------------------------------------------------------

/// Of blocks of a whole multiprocessor each.
struct GatherKernel {
  int warps, warp_bytes;  ///< of shared memory

  template <class T, class To>
  void launch(void (*kernel)(Rows, Table<T>, GatherScratch, To, RowGroup), const NeighborGather& gather, const To& to,
              cudaStream_t stream) const {
    static const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, warps * warp_bytes));
    list_pieces(gather.graph, gather.block, gather.scratch, stream);
    const FeatureRows& t = gather.table;
    kernel<<<static_cast<unsigned>(gather.multiprocessors > 0 ? gather.multiprocessors : multiprocessors),
             static_cast<unsigned>(warps * 32), static_cast<std::size_t>(warps * warp_bytes), stream>>>(
        Rows{gather.graph, gather.block},
        Table<T>{reinterpret_cast<const T*>(t.data), static_cast<int>(t.width), t.unit}, gather.scratch, to,
        RowGroup::make(padded(t.width) / 8));
    cuda_check(cudaGetLastError());
  }
};

template <class T, int kPack, class To>
void launch(const NeighborGather& gather, const To& to, cudaStream_t stream) {
  if (gather.block.count == 0) return;
  static const int room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if constexpr (std::is_same_v<T, Half> && kPack == 8) {
    constexpr GatherKernel tiles{kTileWarps, kTileWarpBytes};
    const bool has_room = kTileWarps * kTileWarpBytes <= room;  // GPUs before Hopper have not
    const std::int64_t width = gather.table.width;
    if (has_room && width <= 128) return tiles.launch(gather_tiles_kernel<8, To>, gather, to, stream);
    if (has_room && width <= 256) return tiles.launch(gather_tiles_kernel<16, To>, gather, to, stream);
  }
  using Ring = RowRing<Chunk<T, kPack>>;
  GatherKernel{std::min(kMaxWarps, room / Ring::kBytes), Ring::kBytes}.launch(gather_kernel<T, kPack, To>, gather, to,
                                                                              stream);
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

void all_neighbors_means(const NeighborGather& gather, void* out, cudaStream_t stream) {
  const FeatureRows& table = gather.table;
  require(table.type == FeatureType::kF16 && is_packable<Half, 8>(table.data, table.width), "rows are whole words");
  launch<Half, 8>(gather, ToMeans{static_cast<__half*>(out), gather.scratch.beyond_f16}, stream);
}

void sum_with_neighbors(const NeighborGather& gather, OwnParts own, float* sums, cudaStream_t stream) {
  const Table<Half> own_table{reinterpret_cast<const Half*>(own.rows), static_cast<int>(gather.table.width), 1};
  launch<Half, 8>(gather, ToSums{own_table, own.is_of_nodes, sums, gather.scratch.beyond_f16}, stream);
}

}  // namespace salient
