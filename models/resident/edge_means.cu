// models/resident/edge_means.cu - see edge_means.h.
//
// Work split  a group of lanes per row, a power of two up to a warp; lanes stride over chunks of eight columns.
//             Features of edges are narrow: mostly a lane has a row.
// Access      places of a row's entries behind each other, rows of the table in random order, 16 or 8 bytes a lane;
//             eight entries are in flight before the first is added.
// Limit       memory: a sector for each entry's row, and its place.
// Sync        none.
#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/edge_means.h"
#include "models/resident/row_chunk.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// The entries of a node: [first, first + count) of PlacedEntries::places.
struct EntryRange {
  std::int64_t first;
  int count;
};

__device__ EntryRange entries_of(const PlacedEntries& entries, std::int64_t i) {
  if (entries.first_child == nullptr) return {i * entries.fanout, entries.num_entries[i]};
  const LocalId first = entries.first_child[i];
  return {first, entries.first_child[i + 1] - first};
}

template <class T, int kPack>
struct Table {
  const T* __restrict__ rows;
  std::int64_t width, chunks;
};

/// The sum of eight columns of a node's entries.
template <class T, int kPack>
__device__ void add_entries(const Table<T, kPack>& table, const EdgeOffset* __restrict__ places, EntryRange range,
                            std::int64_t chunk, float (&sum)[8]) {
  using C = Chunk<T, kPack>;
  constexpr int kInFlight = 8;
  for (int at = 0; at < range.count; at += kInFlight) {
    EdgeOffset place[kInFlight];
    C row[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (at + k < range.count) place[k] = places[range.first + at + k];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (at + k < range.count) row[k] = C::load(table.rows + place[k] * table.width, table.width, chunk);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (at + k < range.count) row[k].add_to(sum);
  }
}

/// @param end  rows from the last node's to here are zeros   @param out  the first row's first column
template <class T, int kPack, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock)
    edge_means_kernel(PlacedEntries entries, Table<T, kPack> table, RowGroup group, std::int64_t end,
                      Out* __restrict__ out, std::int64_t stride) {
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const std::int64_t count = *entries.num_nodes, rows = count < end ? end : count;
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes); i < rows;
       i += std::int64_t{gridDim.x} * rows_per_block) {
    const EntryRange range = i < count ? entries_of(entries, i) : EntryRange{0, 0};
    const float scale = range.count == 0 ? 0.0f : 1.0f / static_cast<float>(range.count);
    for (std::int64_t chunk = lane; chunk < table.chunks; chunk += group.lanes()) {
      float mean[8] = {};
      add_entries(table, entries.places, range, chunk, mean);
#pragma unroll
      for (float& value : mean) value *= scale;
      store_eight(mean, out + i * stride + chunk * 8);
    }
  }
}

// ---- host code: pick a kernel, size the grid, launch, check ----------------------------------------------

template <class T, int kPack>
void launch(const PlacedEntries& entries, const FeatureRows& features, std::int64_t end, const MatrixColumns& out,
            cudaStream_t stream) {
  const Table<T, kPack> table{reinterpret_cast<const T*>(features.data), features.width, padded(features.width) / 8};
  const RowGroup group = RowGroup::make(table.chunks);
  const unsigned blocks = blocks_for(entries.capacity << group.log_lanes);
  if (out.type == ActivationType::kF32)
    edge_means_kernel<T, kPack><<<blocks, kThreadsPerBlock, 0, stream>>>(
        entries, table, group, end, static_cast<float*>(out.data) + out.first, out.width);
  else
    edge_means_kernel<T, kPack><<<blocks, kThreadsPerBlock, 0, stream>>>(
        entries, table, group, end, static_cast<Bf16*>(out.data) + out.first, out.width);
  cuda_check(cudaGetLastError());
}

}  // namespace

void edge_means(const PlacedEntries& entries, const FeatureRows& table, RowsBehind behind, const MatrixColumns& out,
                cudaStream_t stream) {
  require(entries.places != nullptr && table.data != nullptr, "a tree with places, and features of edges");
  require(table.type == FeatureType::kF16 || table.type == FeatureType::kF32, "features of edges are f16 or f32");
  const std::int64_t end = behind == RowsBehind::kZeros ? entries.capacity : 0;
  if (table.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(table.data, table.width)) return launch<Half, 8>(entries, table, end, out, stream);
    if (is_packable<Half, 4>(table.data, table.width)) return launch<Half, 4>(entries, table, end, out, stream);
    return launch<Half, 1>(entries, table, end, out, stream);
  }
  is_packable<float, 4>(table.data, table.width) ? launch<float, 4>(entries, table, end, out, stream)
                                                 : launch<float, 1>(entries, table, end, out, stream);
}

}  // namespace salient
