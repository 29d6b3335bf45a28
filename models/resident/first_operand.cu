// models/resident/first_operand.cu - see operands.h: gather and mean of feature rows in one kernel.
//
// Work split  a group of lanes per row: the power of two up to a warp that the row's chunks of eight columns fill.
//             Lanes stride over chunks.
// Access      rows of the feature table in random order, 16 or 8 bytes a lane; eight entries are in flight before
//             the first is added.
// Limit       memory: (1 + entries) rows read and one operand row written, per node.
// Sync        none.
#include <algorithm>

#include "models/kernels/launch.cuh"
#include "models/resident/operands.h"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 8;

/// Columns [8 * chunk, 8 * chunk + 8) of a row, as words of kPack columns; zeros behind its end.
template <class T, int kPack>
struct Chunk {
  using P = Pack<T, kPack>;
  typename P::Word words[8 / kPack];

  __device__ static Chunk load(const T* row, std::int64_t width, std::int64_t chunk) {
    Chunk result{};
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      const std::int64_t column = chunk * 8 + i * kPack;
      if (column < width) result.words[i] = __ldg(reinterpret_cast<const typename P::Word*>(row + column));
    }
    return result;
  }
  __device__ void add_to(float (&sums)[8]) const {
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      float values[kPack];
      P::unpack(words[i], values);
#pragma unroll
      for (int k = 0; k < kPack; ++k) sums[i * kPack + k] += values[k];
    }
  }
};

template <class T, int kPack, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock)
    first_operand_kernel(LastHop hop, const T* __restrict__ features, std::int64_t width, std::int64_t chunks,
                         RowGroup group, Out* __restrict__ out) {
  using C = Chunk<T, kPack>;
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const LocalId count = *hop.num_nodes;
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes); i < hop.capacity;
       i += std::int64_t{gridDim.x} * rows_per_block) {
    const int kept = i < count ? hop.num_entries[i] : 0;
    const NodeId* const entries = hop.entries + i * hop.fanout;
    const float scale = kept == 0 ? 0.0f : 1.0f / static_cast<float>(kept);
    for (std::int64_t chunk = lane; chunk < chunks; chunk += group.lanes()) {
      float mean[8] = {}, own[8] = {};
      C own_row{};
      if (i < count) own_row = C::load(features + hop.nodes[i] * width, width, chunk);
      for (int first = 0; first < kept; first += kInFlight) {
        C rows[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (first + k < kept) rows[k] = C::load(features + entries[first + k] * width, width, chunk);
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (first + k < kept) rows[k].add_to(mean);
      }
      if (i < count) own_row.add_to(own);
#pragma unroll
      for (int c = 0; c < 8; ++c) mean[c] *= scale;
      store_eight(mean, out + (i * 2 * chunks + chunk) * 8);
      store_eight(own, out + ((i * 2 + 1) * chunks + chunk) * 8);
    }
  }
}

// ---- host code: pick a kernel, size the grid, launch, check ----------------------------------------------

template <class T, int kPack, class Out>
void launch(const LastHop& hop, const FeatureRows& features, void* out, cudaStream_t stream) {
  const std::int64_t chunks = padded(features.width) / 8;
  const RowGroup group = RowGroup::make(chunks);
  first_operand_kernel<T, kPack, Out><<<blocks_for(hop.capacity << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, reinterpret_cast<const T*>(features.data), features.width, chunks, group, static_cast<Out*>(out));
  cuda_check(cudaGetLastError());
}

template <class Out>
void launch_for(const LastHop& hop, const FeatureRows& features, void* out, cudaStream_t stream) {
  const std::int64_t width = features.width;
  if (features.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(features.data, width)) return launch<Half, 8, Out>(hop, features, out, stream);
    if (is_packable<Half, 4>(features.data, width)) return launch<Half, 4, Out>(hop, features, out, stream);
    return launch<Half, 1, Out>(hop, features, out, stream);
  }
  if (is_packable<float, 4>(features.data, width)) return launch<float, 4, Out>(hop, features, out, stream);
  launch<float, 1, Out>(hop, features, out, stream);
}

}  // namespace

void first_operand(const LastHop& hop, const FeatureRows& features, ActivationType type, void* out,
                   cudaStream_t stream) {
  type == ActivationType::kF32 ? launch_for<float>(hop, features, out, stream)
                               : launch_for<Bf16>(hop, features, out, stream);
}

}  // namespace salient
