// models/resident/entry_attention_gradient.cu - see entry_attention.h: the gradients.
//
// Work split  scores as forward. Rows and vectors: groups walk over nodes, each for a tile of its lanes' columns.
// Access      values, and the gradient of their sums, are read for the scores' gradients; keys for those of rows. Each
//             row of the result has one source and is written once.
// Limit       memory, and the latency of dependent reads.
// Sync        warp shuffles; shares of column sums meet in shared memory. Fixed order, no atomics.
#include "models/resident/column_sums.cuh"
#include "models/resident/entry_attention.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr std::int64_t kShares = 132 * 4;

/// The gradients of the scores of each node's entries: of gat before leaky_relu, of transformer of <q_i, k_j>.
template <AttentionKind kKind, class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    entry_score_gradients_kernel(EntryAttention a, EntryRows rows, Matrix gradient, int lanes_of_head) {
  const HeadLanes lanes = HeadLanes::of(lanes_of_head);
  const HeadColumns columns = HeadColumns::of(a);
  for (LocalId i = lanes.first(); i < *rows.num_nodes; i += lanes.step()) {
    const auto node = NodeEntries<kKind>::of(rows, i);
    const float* const weights = entry_slots(a, a.weights, i);
    float* const result = entry_slots(a, a.score_gradients, i);
    float mean = 0;
    for_each_dot<T>(
        lanes, kKind == AttentionKind::kDot ? columns.second_part() : columns, a.sources, node,
        [&](int chunk) {
          struct By {
            float gradient[8];
            __device__ float operator()(const float (&values)[8]) const { return dot(values, gradient); }
          } by;
          load_chunk<T>(gradient, i, columns.at(chunk), by.gradient);
          return by;
        },
        [&](int j, float sum) {
          mean += fabsf(weights[j]) * sum;
          if (lanes.lane == 0) result[j] = sum;
        });
    lanes.wait();
    const float scale = kKind == AttentionKind::kDot ? rsqrtf(static_cast<float>(a.columns)) : 1.0f;
    for (int j = lanes.lane; j < node.count; j += lanes.count) {
      const float of_score = fabsf(weights[j]) * (result[j] - mean) * scale;
      result[j] = kKind == AttentionKind::kGat && signbit(weights[j]) ? of_score * kSlope : of_score;
    }
  }
}

/// A chunk of one node: what its rows' gradients are made of, and what they add up to.
template <AttentionKind kKind>
struct GradientChunk {
  float gradient[8];
  ScoreChunk<kKind> score;
  float of_query[8] = {};
  float all = 0;  // of gat: the sum of its scores' gradients

  /// The gradient of an entry's key; where that is the value, too, of both. @param g  of the score
  __device__ void add(float weight, float g, const float (&key)[8], ColumnSums& sums, float (&result)[8]) {
    all += g;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      if constexpr (kKind == AttentionKind::kDot) {
        of_query[c] += g * key[c];
        result[c] = g * score.query[c];
      } else if constexpr (kKind == AttentionKind::kGat) {
        sums.first[c] += g * key[c];
        result[c] = weight * gradient[c] + g * score.vector[c];
      } else {
        const float sum = key[c] + score.query[c], by_sum = sum > 0 ? g : g * kSlope;
        sums.first[c] += by_sum * sum;
        of_query[c] += by_sum * score.vector[c];
        result[c] = weight * gradient[c] + by_sum * score.vector[c];
      }
    }
  }
};

__device__ void times(float factor, const float (&values)[8], float (&result)[8]) {
#pragma unroll
  for (int c = 0; c < 8; ++c) result[c] = factor * values[c];
}

/// Where the gradients of rows go: a chunk of one row's first part, and of its second where there is one.
template <AttentionKind kKind, class T>
struct RowWriter {
  Matrix to;
  int chunk, part;

  __device__ void write(LocalId row, const float (&first)[8], const float (&second)[8]) const {
    store_eight(first, chunk_of<T>(to, row, chunk));
    if constexpr (kKind == AttentionKind::kDot) store_eight(second, chunk_of<T>(to, row, chunk + part));
  }
  __device__ void clear(LocalId row) const {
    const float zeros[8] = {};
    write(row, zeros, zeros);
  }
  __device__ void clear(const HeadLanes& lanes, LocalId first, std::int64_t end) const {
    for (LocalId row = first + lanes.first(); row < end; row += lanes.step()) clear(row);
  }
};

/// Rows of one node, by entries; then its own where nothing has written that.
template <AttentionKind kKind, class T>
__device__ void write_node(const EntryAttention& a, const EntryRows& rows, LocalId i, const Matrix& gradient,
                           const RowWriter<kKind, T>& to, ColumnSums& sums) {
  const auto node = NodeEntries<kKind>::of(rows, i);
  const float* const weights = entry_slots(a, a.weights, i);
  const float* const of_scores = entry_slots(a, a.score_gradients, i);
  GradientChunk<kKind> mine;
  load_chunk<T>(gradient, i, to.chunk, mine.gradient);
  mine.score = ScoreChunk<kKind>::template of<T>(a, i, to.chunk);
#pragma unroll 4
  for (int j = 0; j < node.count; ++j) {
    const float weight = fabsf(weights[j]);
    float key[8], of_key[8], of_value[8];
    load_chunk<T>(a.sources, node.rows.row(j), to.chunk, key);
    mine.add(weight, of_scores[j], key, sums, of_key);
    times(weight, mine.gradient, of_value);
    if (kKind == AttentionKind::kGat && j == node.rows.kept) {  // itself, behind the others
      float target[8];
      load_columns(a.second, to.chunk, a.heads * a.columns, target);
#pragma unroll
      for (int c = 0; c < 8; ++c) of_key[c] += mine.all * target[c], sums.second[c] += mine.all * key[c];
    }
    to.write(node.rows.row(j), of_key, of_value);
  }
  if constexpr (!NodeEntries<kKind>::kHasSelf) to.clear(i);
  for (int k = node.rows.kept; rows.is_last_hop && k < rows.hop.fanout; ++k) to.clear(node.rows.first + k);
  if constexpr (kKind == AttentionKind::kGatv2) {
#pragma unroll
    for (int c = 0; c < 8; ++c) sums.second[c] += mine.gradient[c];
  }
  if constexpr (kKind != AttentionKind::kGat)
    RowWriter<kKind, T>{a.destinations_gradient, to.chunk, to.part}.write(i, mine.of_query, mine.gradient);
}

/// The sums of a block's threads, see totals_of(). @param chunk  the thread's, in all heads' columns
__device__ void write_head_share(const ColumnSums& mine, int lanes, int chunk, bool is_column, std::int64_t width,
                                 float* __restrict__ sums) {
  __shared__ float partial[kThreadsPerBlock][16];
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    partial[threadIdx.x][c] = mine.first[c];
    partial[threadIdx.x][8 + c] = mine.second[c];
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= lanes || !is_column) return;
#pragma unroll
  for (int c = 0; c < 16; ++c) {
    float sum = 0;
    for (int t = static_cast<int>(threadIdx.x); t < kThreadsPerBlock; t += lanes) sum += partial[t][c];
    sums[(std::int64_t{blockIdx.x} * 2 + c / 8) * width + chunk * 8 + c % 8] = sum;
  }
}

template <AttentionKind kKind, class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    entry_row_gradients_kernel(EntryAttention a, EntryRows rows, Matrix gradient, int lanes_of_head) {
  const HeadLanes lanes = HeadLanes::of(lanes_of_head);
  const HeadColumns columns = HeadColumns::of(a);
  const int chunk = static_cast<int>(blockIdx.z) * lanes.count + lanes.lane;
  const bool is_column = chunk < columns.count;
  const RowWriter<kKind, T> to{a.sources_gradient, columns.at(chunk), columns.part};
  ColumnSums sums;
  const LocalId count = *rows.num_nodes;
  for (LocalId i = lanes.first(); i < count && is_column; i += lanes.step())
    write_node<kKind, T>(a, rows, i, gradient, to, sums);
  if (is_column) {  // the rows that no node has
    if (rows.is_last_hop) {
      const LocalId entries = count * static_cast<LocalId>(rows.hop.fanout);
      to.clear(lanes, count, rows.capacity);
      to.clear(lanes, static_cast<LocalId>(rows.capacity) + entries, rows.rows);
    } else {
      to.clear(lanes, *rows.growth.num_grown, rows.rows);
    }
    if constexpr (kKind != AttentionKind::kGat)
      RowWriter<kKind, T>{a.destinations_gradient, to.chunk, to.part}.clear(lanes, count, rows.capacity);
  }
  if constexpr (kKind != AttentionKind::kDot) write_head_share(sums, lanes.count, to.chunk, is_column, a.part, a.sums);
}

__global__ void __launch_bounds__(kTotalsThreads) entry_vector_gradients_kernel(EntryAttention a, int shares) {
  const ColumnTotals totals = totals_of(a.sums, shares, a.part);
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (threadIdx.x >= 32 || column >= a.heads * a.columns) return;
  a.first_gradient[column] = static_cast<float>(totals.first);
  a.second_gradient[column] = static_cast<float>(totals.second);
}

// ---- host code -------------------------------------------------------------------------------------------

template <AttentionKind kKind, class T>
void launch_backward(const EntryAttention& a, const EntryRows& rows, const Matrix& gradient, cudaStream_t stream) {
  const HeadGrid scores = HeadGrid::of(a, rows.capacity, kAttentionBlocks),
                 shares = HeadGrid::of(a, rows.capacity, kShares);
  entry_score_gradients_kernel<kKind, T>
      <<<scores.of_nodes(a), kThreadsPerBlock, 0, stream>>>(a, rows, gradient, scores.lanes);
  cuda_check(cudaGetLastError());
  entry_row_gradients_kernel<kKind, T>
      <<<shares.of_tiles(a), kThreadsPerBlock, 0, stream>>>(a, rows, gradient, shares.lanes);
  cuda_check(cudaGetLastError());
  if (!a.has_vectors()) return;
  const auto blocks = static_cast<unsigned>((a.heads * a.columns + 31) / 32);
  entry_vector_gradients_kernel<<<blocks, kTotalsThreads, 0, stream>>>(a, static_cast<int>(shares.blocks));
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t entry_attention_sums_size(std::int64_t part) { return kShares * 2 * part; }

void entry_attention_backward(const EntryAttention& attention, const EntryRows& rows, const Matrix& gradient,
                              cudaStream_t stream) {
  with_kernels(attention,
               [&]<AttentionKind kKind, class T>() { launch_backward<kKind, T>(attention, rows, gradient, stream); });
}

}  // namespace salient
