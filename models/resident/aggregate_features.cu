// models/resident/aggregate_features.cu - see operands.h: gather and mean of feature rows in one kernel.
//
// Work split  a group of lanes per row: the power of two up to a warp that the row's chunks of eight columns fill, or
//             its entries. Lanes stride over chunks; where there are several times as many lanes, parts of the group
//             take every other entry.
// Access      rows of the feature table in random order, 16 or 8 bytes a lane; several entries are in flight before
//             the first is added. A lane loads the id of one entry, and tells it to the others.
// Limit       memory: (1 + entries) rows read and one operand row written, per node. Registers: with more than 64 a
//             thread too few rows are in flight.
// Sync        none.
#include <algorithm>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/operands.h"
#include "models/resident/pick.cuh"
#include "models/resident/row_chunk.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// The columns of a row, and how many lanes have them.
struct Columns {
  int width, chunks;
  RowGroup group;  ///< of at least as many lanes as a row has entries
  RowGroup part;   ///< the lanes that have a row's chunks: in the group once or several times
  float unit;      ///< what their numbers are times
};

/// How many entries a row has, and the table's row of this lane's.
struct RowEntries {
  int count;
  NodeId mine;
};

/// Adds eight columns of a row's entries; each part of the group gets the sum.
template <class C, int kInFlight, class T>
__device__ __forceinline__ void add_rows(const T* __restrict__ features, const Columns& columns, int chunk, Lane lane,
                                         RowEntries entries, float (&sums)[8]) {
  const int log_parts = columns.group.log_lanes - columns.part.log_lanes, part = lane.index >> columns.part.log_lanes;
  for (int at = part; (at - part) < entries.count; at += kInFlight << log_parts) {
    C rows[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const int of = at + (k << log_parts);
      const NodeId entry = lane.from(of & (lane.count - 1), entries.mine);
      if (of < entries.count) rows[k] = C::load(features + std::int64_t{entry} * columns.width, columns.width, chunk);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (at + (k << log_parts) < entries.count) rows[k].add_to(sums);
  }
  for (int lanes = columns.part.lanes(); lanes < lane.count; lanes *= 2)
#pragma unroll
    for (float& sum : sums) sum += __shfl_xor_sync(lane.mask, sum, lanes);
}

/// @param end  rows from the last node's to here are zeros
template <class T, int kPack, int kInFlight, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock, kInFlight == 5 ? 4 : 1)
    aggregate_features_kernel(LastHop hop, const T* __restrict__ features, NearRows near, Columns columns, LocalId end,
                              Out* __restrict__ out) {
  using C = Chunk<T, kPack>;
  const Lane lane = Lane::of(columns.group);
  const int rows_per_block = kThreadsPerBlock >> columns.group.log_lanes;
  const LocalId count = *hop.num_nodes;
  if (end < count) end = count;
  for (int i = static_cast<int>(blockIdx.x) * rows_per_block + static_cast<int>(threadIdx.x >> columns.group.log_lanes);
       i < end; i += static_cast<int>(gridDim.x) * rows_per_block) {
    const bool is_node = i < count;
    // also of an entry that is not kept: their number is on its way
    NodeId mine = is_node && lane.index < hop.fanout ? hop.entries[std::int64_t{i} * hop.fanout + lane.index] : 0;
    const int kept = is_node ? hop.num_entries[i] : 0;
    if (lane.index < kept) mine = near.row_of(mine);
    const T* const own_row = features + (is_node ? std::int64_t{near.row_of(hop.nodes[i])} * columns.width : 0);
    const float scale = kept == 0 ? 0.0f : columns.unit / static_cast<float>(kept);
    const int in_part = lane.index & (columns.part.lanes() - 1);
    for (int chunk = in_part; (chunk - in_part) < columns.chunks; chunk += columns.part.lanes()) {
      float mean[8] = {}, own[8] = {};
      C own_chunk{};
      if (is_node) own_chunk = C::load(own_row, columns.width, chunk);
      add_rows<C, kInFlight>(features, columns, chunk, lane, {kept, mine}, mean);
      if (is_node) own_chunk.add_to(own);
      if (chunk >= columns.chunks || in_part != lane.index) continue;
#pragma unroll
      for (int c = 0; c < 8; ++c) mean[c] *= scale, own[c] *= columns.unit;
      Out* const to = out + (std::int64_t{2 * columns.chunks} * i + chunk) * 8;
      store_eight(mean, to);
      store_eight(own, to + columns.chunks * 8);
    }
  }
}

// ---- host code: pick a kernel, size the grid, launch, check ----------------------------------------------

template <class T, int kPack, int kInFlight>
void launch(const LastHop& hop, const FeatureRows& features, ActivationType type, LocalId end, void* out,
            cudaStream_t stream) {
  const std::int64_t chunks = padded(features.width) / 8;
  const RowGroup group = RowGroup::make(std::max(chunks, hop.fanout));
  const Columns columns{static_cast<int>(features.width), static_cast<int>(chunks), group, RowGroup::make(chunks),
                        features.unit};
  const unsigned blocks = blocks_for(hop.capacity << group.log_lanes);
  const T* const table = reinterpret_cast<const T*>(features.data);
  if (type == ActivationType::kF32)
    aggregate_features_kernel<T, kPack, kInFlight>
        <<<blocks, kThreadsPerBlock, 0, stream>>>(hop, table, features.near, columns, end, static_cast<float*>(out));
  else
    aggregate_features_kernel<T, kPack, kInFlight>
        <<<blocks, kThreadsPerBlock, 0, stream>>>(hop, table, features.near, columns, end, static_cast<Bf16*>(out));
  cuda_check(cudaGetLastError());
}

}  // namespace

void aggregate_features(const LastHop& hop, const FeatureRows& features, ActivationType type, RowsBehind behind,
                        void* out, cudaStream_t stream) {
  const auto end = static_cast<LocalId>(behind == RowsBehind::kZeros ? hop.capacity : 0);
  const std::int64_t width = features.width;
  if (features.type == FeatureType::kF16 && is_packable<Half, 8>(features.data, width)) {
    const bool is_five = hop.fanout % 5 == 0;  // no registers for entries that are not there
    return is_five ? launch<Half, 8, 5>(hop, features, type, end, out, stream)
                   : launch<Half, 8, 8>(hop, features, type, end, out, stream);
  }
  if (features.type == FeatureType::kF16)
    return is_packable<Half, 4>(features.data, width) ? launch<Half, 4, 8>(hop, features, type, end, out, stream)
                                                      : launch<Half, 1, 8>(hop, features, type, end, out, stream);
  if (features.type == FeatureType::kFp8) {
    if (is_packable<Fp8, 8>(features.data, width)) return launch<Fp8, 8, 8>(hop, features, type, end, out, stream);
    return is_packable<Fp8, 4>(features.data, width) ? launch<Fp8, 4, 8>(hop, features, type, end, out, stream)
                                                     : launch<Fp8, 1, 8>(hop, features, type, end, out, stream);
  }
  is_packable<float, 4>(features.data, width) ? launch<float, 4, 8>(hop, features, type, end, out, stream)
                                              : launch<float, 1, 8>(hop, features, type, end, out, stream);
}

}  // namespace salient
