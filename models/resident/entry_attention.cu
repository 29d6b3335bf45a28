// models/resident/entry_attention.cu - see entry_attention.h: the weights and the sums.
//
// Work split  a group of lanes per node and head, as many as a head has chunks of eight columns, at most a warp.
// Access      a head's columns of a row are read for its score and for the sum; keys and values once each where they
//             differ. Weights of a node's entries go through the L1 cache.
// Limit       memory, and the latency of dependent reads.
// Sync        warp shuffles.
#include "models/resident/entry_attention.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// Weights of node i's entries, which the group's lanes may read behind it.
template <AttentionKind kKind, class T>
__device__ void find_weights(const EntryAttention& a, const HeadLanes& lanes, const HeadColumns& columns,
                             const NodeEntries<kKind>& node, LocalId i, float* weights) {
  float of_own = 0;  // what gat adds to each score
  if constexpr (kKind == AttentionKind::kGat) {
    for (int chunk = lanes.lane; chunk < columns.count; chunk += lanes.count) {
      float own[8], target[8];
      load_chunk<T>(a.sources, i, columns.at(chunk), own);
      load_columns(a.second, columns.at(chunk), a.heads * a.columns, target);
      of_own += dot(own, target);
    }
    of_own = lanes.sum(of_own);
  }
  const float scale = kKind == AttentionKind::kDot ? rsqrtf(static_cast<float>(a.columns)) : 1.0f;
  float most = -INFINITY;
  for_each_dot<T>(
      lanes, columns, a.sources, node,
      [&](int chunk) {
        return [by = ScoreChunk<kKind>::template of<T>(a, i, columns.at(chunk))](const float(&key)[8]) {
          return by.term(key);
        };
      },
      [&](int j, float sum) {
        const float score = node.counts(j) ? sum * scale + of_own : -INFINITY;
        most = fmaxf(most, score);
        if (lanes.lane == 0) weights[j] = score;
      });
  lanes.wait();
  constexpr bool kIsLeaky = kKind == AttentionKind::kGat;  // it does not change which is the largest
  const auto power_of = [&](float score) {
    return score == -INFINITY ? 0.0f : kIsLeaky ? expf(leaky(score) - leaky(most)) : expf(score - most);
  };
  float all = 0;
  for (int j = lanes.lane; j < node.count; j += lanes.count) all += power_of(weights[j]);
  all = lanes.sum(all);
  for (int j = lanes.lane; j < node.count; j += lanes.count) {
    const float weight = power_of(weights[j]) / all;
    weights[j] = kIsLeaky && weights[j] <= 0 ? -weight : weight;
  }
  lanes.wait();
}

/// A chunk of what is beside the sum: gatv2's bias, transformer's map of the row itself.
template <AttentionKind kKind, class T>
__device__ void load_beside(const EntryAttention& a, LocalId i, int chunk, int part, float (&values)[8]) {
  if constexpr (kKind == AttentionKind::kDot) load_chunk<T>(a.destinations, i, chunk + part, values);
  if constexpr (kKind == AttentionKind::kGatv2) load_columns(a.second, chunk, a.heads * a.columns, values);
}

template <AttentionKind kKind, class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    entry_forward_kernel(EntryAttention a, EntryRows rows, int lanes_of_head) {
  const HeadLanes lanes = HeadLanes::of(lanes_of_head);
  const HeadColumns columns = HeadColumns::of(a);
  const int value_part = kKind == AttentionKind::kDot ? columns.part : 0;
  for (LocalId i = lanes.first(); i < rows.capacity; i += lanes.step()) {
    const auto node = NodeEntries<kKind>::of(rows, i);
    float* const weights = entry_slots(a, a.weights, i);
    find_weights<kKind, T>(a, lanes, columns, node, i, weights);
    for (int chunk = lanes.lane; chunk < columns.count; chunk += lanes.count) {
      const int at = columns.at(chunk);
      float sum[8] = {};
      if (node.exists) load_beside<kKind, T>(a, i, at, columns.part, sum);
#pragma unroll 4
      for (int j = 0; j < node.count; ++j) {
        const float weight = fabsf(weights[j]);
        float values[8];
        load_chunk<T>(a.sources, node.rows.row(j), at + value_part, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) sum[c] += weight * values[c];
      }
      if (a.out.type == ActivationType::kF32)
        store_eight(sum, chunk_of<float>(a.out, i, at));
      else
        store_eight(sum, chunk_of<Bf16>(a.out, i, at));
    }
  }
}

// ---- host code -------------------------------------------------------------------------------------------

template <AttentionKind kKind, class T>
void launch_forward(const EntryAttention& a, const EntryRows& rows, cudaStream_t stream) {
  const HeadGrid grid = HeadGrid::of(a, rows.capacity, kAttentionBlocks);
  entry_forward_kernel<kKind, T><<<grid.of_nodes(a), kThreadsPerBlock, 0, stream>>>(a, rows, grid.lanes);
  cuda_check(cudaGetLastError());
}

}  // namespace

void entry_attention_forward(const EntryAttention& attention, const EntryRows& rows, cudaStream_t stream) {
  with_kernels(attention, [&]<AttentionKind kKind, class T>() { launch_forward<kKind, T>(attention, rows, stream); });
}

}  // namespace salient
