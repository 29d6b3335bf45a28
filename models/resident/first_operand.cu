// models/resident/first_operand.cu - see operands.h: gather and mean of feature rows in one kernel.
//
// Work split  a group of lanes per row: the power of two up to a warp that the row's chunks of eight columns fill.
//             Lanes stride over chunks.
// Access      rows of the feature table in random order, 16 or 8 bytes a lane; eight entries are in flight before
//             the first is added. A lane loads the id of one entry, and tells it to the others.
// Limit       memory: (1 + entries) rows read and one operand row written, per node.
// Sync        none.
#include <algorithm>

#include "models/kernels/launch.cuh"
#include "models/resident/operands.h"
#include "models/resident/pick.cuh"
#include "models/resident/row_chunk.cuh"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 8;

template <class T, int kPack, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock)
    first_operand_kernel(LastHop hop, const T* __restrict__ features, std::int64_t width, RowGroup group,
                         RowsBehind behind, Out* __restrict__ out) {
  using C = Chunk<T, kPack>;
  const Lane lane = Lane::of(group);
  const std::int64_t rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const LocalId count = *hop.num_nodes;
  const std::int64_t chunks = padded(width) / 8, end = behind == RowsBehind::kZeros ? hop.capacity : count;
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes); i < end;
       i += std::int64_t{gridDim.x} * rows_per_block) {
    const bool is_node = i < count;
    const NodeId* const entries = hop.entries + i * hop.fanout;
    const auto entry_of_lane = [&](int first) {  // also of entries that are not kept: their number is on its way
      return is_node && first + lane.index < hop.fanout ? entries[first + lane.index] : 0;
    };
    NodeId mine = entry_of_lane(0);
    const int kept = is_node ? hop.num_entries[i] : 0;
    const NodeId node = is_node ? hop.nodes[i] : 0;
    const float scale = kept == 0 ? 0.0f : 1.0f / static_cast<float>(kept);
    for (std::int64_t chunk = lane.index; (chunk - lane.index) < chunks; chunk += lane.count) {
      float mean[8] = {}, own[8] = {};
      C own_row{};
      if (is_node) own_row = C::load(features + node * width, width, chunk);
      for (int first = 0; first < kept; first += lane.count) {
        if (first > 0 || chunk >= lane.count) mine = entry_of_lane(first);
        const int told = min(lane.count, kept - first);
        for (int at = 0; at < told; at += kInFlight) {
          C rows[kInFlight];
#pragma unroll
          for (int k = 0; k < kInFlight; ++k) {
            const NodeId entry = lane.from((at + k) & (lane.count - 1), mine);
            if (at + k < told) rows[k] = C::load(features + entry * width, width, chunk);
          }
#pragma unroll
          for (int k = 0; k < kInFlight; ++k)
            if (at + k < told) rows[k].add_to(mean);
        }
      }
      if (is_node) own_row.add_to(own);
      if (chunk >= chunks) continue;
#pragma unroll
      for (int c = 0; c < 8; ++c) mean[c] *= scale;
      store_eight(mean, out + (i * 2 * chunks + chunk) * 8);
      store_eight(own, out + ((i * 2 + 1) * chunks + chunk) * 8);
    }
  }
}

// ---- host code: pick a kernel, size the grid, launch, check ----------------------------------------------

template <class T, int kPack, class Out>
void launch(const LastHop& hop, const FeatureRows& features, RowsBehind behind, void* out, cudaStream_t stream) {
  const RowGroup group = RowGroup::make(padded(features.width) / 8);
  first_operand_kernel<T, kPack, Out><<<blocks_for(hop.capacity << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, reinterpret_cast<const T*>(features.data), features.width, group, behind, static_cast<Out*>(out));
  cuda_check(cudaGetLastError());
}

template <class Out>
void launch_for(const LastHop& hop, const FeatureRows& features, RowsBehind behind, void* out, cudaStream_t stream) {
  const std::int64_t width = features.width;
  if (features.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(features.data, width)) return launch<Half, 8, Out>(hop, features, behind, out, stream);
    if (is_packable<Half, 4>(features.data, width)) return launch<Half, 4, Out>(hop, features, behind, out, stream);
    return launch<Half, 1, Out>(hop, features, behind, out, stream);
  }
  if (is_packable<float, 4>(features.data, width)) return launch<float, 4, Out>(hop, features, behind, out, stream);
  launch<float, 1, Out>(hop, features, behind, out, stream);
}

}  // namespace

void first_operand(const LastHop& hop, const FeatureRows& features, ActivationType type, RowsBehind behind, void* out,
                   cudaStream_t stream) {
  type == ActivationType::kF32 ? launch_for<float>(hop, features, behind, out, stream)
                               : launch_for<Bf16>(hop, features, behind, out, stream);
}

}  // namespace salient
