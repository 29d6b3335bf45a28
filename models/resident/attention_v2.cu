// models/resident/attention_v2.cu - see attention_v2.h.
//
// Work split  a warp per node, lanes by chunks of eight columns; the softmax by lanes of entries. Gradients of rows and
//             vectors: warps walk over nodes, each for a tile of 256 columns.
// Access      rows of l behind each other, read twice forward and twice backward; the second time forward from a cache.
// Limit       memory.
// Sync        warp shuffles; shares of column sums meet in shared memory.
#include "models/kernels/launch.cuh"
#include "models/resident/attention_slots.cuh"
#include "models/resident/attention_v2.h"
#include "models/resident/column_sums.cuh"
#include "models/resident/masks.cuh"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kShares = 512, kTileChunks = 32, kWarps = kThreadsPerBlock / 32, kBatch = 4;

__device__ std::int64_t warp_of_grid() { return (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / 32; }
__device__ std::int64_t warps_in_grid() { return std::int64_t{gridDim.x} * kWarps; }
__device__ int lane_of_warp() { return static_cast<int>(threadIdx.x) & 31; }

/// The entries of one node: row k of `first_row` and so on.
struct Entries {
  int kept;
  std::int64_t first_row;
  const NodeId* nodes;

  __device__ static Entries of(const EntryRows& rows, std::int64_t i) {
    if (rows.is_last_hop)
      return {rows.hop.num_entries[i], rows.capacity + i * rows.hop.fanout, rows.hop.entries + i * rows.hop.fanout};
    const LocalId* const first = rows.growth.first_child + i;
    const std::int64_t row = std::int64_t{*rows.num_nodes} + first[0];
    return {first[1] - first[0], row, rows.nodes + row};
  }
};

template <class T>
__device__ void load_row(const Matrix& m, std::int64_t row, std::int64_t chunk, float (&values)[8]) {
  load_eight(m.as<const T>() + row * m.width + chunk * 8, values);
}
template <class T>
__device__ void store_row(const Matrix& m, std::int64_t row, std::int64_t chunk, const float (&values)[8]) {
  store_eight(values, m.as<T>() + row * m.width + chunk * 8);
}

/// by(chunk, l's chunk) summed over the columns: of node i itself and of its entries, lane by lane.
template <class T, class Term>
__device__ Slots dots(const AttentionV2& a, const Entries& entries, std::int64_t i, const Term& by) {
  const int lane = lane_of_warp();
  const std::int64_t chunks = a.l.width / 8;
  Slots result{0, 0};
  for (std::int64_t chunk = lane; chunk < chunks; chunk += 32) {
    float l[8];
    load_row<T>(a.l, i, chunk, l);
    result.own += by(chunk, l);
  }
  result.own = warp_sum(result.own);
  for (int first = 0; first < entries.kept; first += kBatch) {
    float partial[kBatch] = {};
    for (std::int64_t chunk = lane; chunk < chunks; chunk += 32) {
      float l[kBatch][8];
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (first + k < entries.kept) load_row<T>(a.l, entries.first_row + first + k, chunk, l[k]);
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (first + k < entries.kept) partial[k] += by(chunk, l[k]);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const float sum = warp_sum(partial[k]);
      if (lane == first + k) result.entry = sum;
    }
  }
  return result;
}

template <class T>
__device__ Slots find_weights(const AttentionV2& a, const EntryRows& rows, const Entries& entries, std::int64_t i) {
  Slots logits = dots<T>(a, entries, i, [&](std::int64_t chunk, const float(&l)[8]) {
    float r[8], att[8], sum = 0;
    load_row<T>(a.r, i, chunk, r);
    load_columns(a.att, chunk, a.columns, att);
#pragma unroll
    for (int c = 0; c < 8; ++c) sum += att[c] * leaky(l[c] + r[c]);
    return sum;
  });
  const int lane = lane_of_warp();
  if (lane >= entries.kept || entries.nodes[lane] == rows.nodes[i]) logits.entry = -INFINITY;
  const Slots weights = logits.softmax();
  SlotRow(a.weights, a.fanout, i).store(weights, lane, entries.kept);
  return weights;
}

/// One chunk of the result, activated if the layer is hidden.
__device__ void finish(const AttentionV2& a, const StepMask& mask, NodeId node, std::int64_t chunk,
                       float (&values)[8]) {
  float bias[8];
  load_columns(a.bias, chunk, a.columns, bias);
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    values[c] += bias[c];
    if (a.is_hidden && values[c] <= 0) values[c] = 0;
  }
  if (a.is_hidden) mask.apply(node, chunk, values);
}

/// @tparam Out  of the result
template <class T, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock) forward_kernel(AttentionV2 a, EntryRows rows) {
  const StepMask mask = StepMask::of(a.dropout);
  const int lane = lane_of_warp();
  const std::int64_t chunks = a.l.width / 8, out_chunks = a.out.width / 8;
  for (std::int64_t i = warp_of_grid(); i < rows.capacity; i += warps_in_grid()) {
    const bool is_node = i < *rows.num_nodes;
    const Entries entries = is_node ? Entries::of(rows, i) : Entries{};
    const Slots weights = is_node ? find_weights<T>(a, rows, entries, i) : Slots{};
    for (std::int64_t base = 0; base < out_chunks; base += 32) {
      const std::int64_t chunk = base + lane;
      const bool is_column = is_node && chunk < chunks;
      float sum[8] = {};
      if (is_column) load_row<T>(a.l, i, chunk, sum);
#pragma unroll
      for (int c = 0; c < 8; ++c) sum[c] *= weights.own;
#pragma unroll 4
      for (int k = 0; k < entries.kept; ++k) {
        const float weight = __shfl_sync(kWarp, weights.entry, k);
        if (!is_column) continue;
        float l[8];
        load_row<T>(a.l, entries.first_row + k, chunk, l);
#pragma unroll
        for (int c = 0; c < 8; ++c) sum[c] += weight * l[c];
      }
      if (is_column) finish(a, mask, rows.nodes[i], chunk, sum);
      if (is_node && chunk == chunks) sum[0] = 1;  // only a hidden result is wider than l
      if (chunk < out_chunks) store_row<Out>(a.out, i, chunk, sum);
    }
  }
}

/// The gradient of the sum before bias and activation.
template <class T>
__device__ void load_gradient(const AttentionV2& a, const AttentionV2Gradient& g, std::int64_t i, std::int64_t chunk,
                              float (&values)[8]) {
  load_row<T>(g.gradient, i, chunk, values);
  if (!a.is_hidden) return;
  float out[8];
  load_row<T>(a.out, i, chunk, out);
  if (g.more.rows != nullptr && i < g.more_rows) {
    float more[8];
    load_eight(static_cast<const T*>(g.more.rows) + i * g.more.stride + chunk * 8, more);
#pragma unroll
    for (int c = 0; c < 8; ++c) values[c] += more[c];
  }
  const float scale = a.dropout.threshold == 0 ? 1.0f : a.dropout.scale;
#pragma unroll
  for (int c = 0; c < 8; ++c) values[c] = out[c] > 0 ? values[c] * scale : 0.0f;
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    logit_gradients_kernel(AttentionV2 a, EntryRows rows, AttentionV2Gradient gradient) {
  const int lane = lane_of_warp();
  for (std::int64_t i = warp_of_grid(); i < *rows.num_nodes; i += warps_in_grid()) {
    const Entries entries = Entries::of(rows, i);
    const Slots d = dots<T>(a, entries, i, [&](std::int64_t chunk, const float(&l)[8]) {
      float by[8], sum = 0;
      load_gradient<T>(a, gradient, i, chunk, by);
#pragma unroll
      for (int c = 0; c < 8; ++c) sum += by[c] * l[c];
      return sum;
    });
    const Slots weights = SlotRow(a.weights, a.fanout, i).load(lane, entries.kept);
    SlotRow(a.edge_gradients, a.fanout, i).store(weights.softmax_backward(d), lane, entries.kept);
  }
}

/// A chunk of one node: what its rows' gradients are made of, and what they add up to.
struct NodeChunk {
  float att[8], r[8], gradient[8];
  float r_gradient[8];

  /// The gradient of one row of l. @param g  of its logit
  template <class T>
  __device__ void row(const AttentionV2& a, std::int64_t row, std::int64_t chunk, float weight, float g,
                      float (&att_gradient)[8]) {
    float l[8], values[8];
    load_row<T>(a.l, row, chunk, l);
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const float sum = l[c] + r[c], through = g * att[c] * leaky_slope(sum);
      att_gradient[c] += g * leaky(sum);
      r_gradient[c] += through;
      values[c] = weight * gradient[c] + through;
    }
    store_row<T>(a.l_gradient, row, chunk, values);
  }
};

template <class T>
__device__ void clear_chunk(const Matrix& m, std::int64_t first, std::int64_t end, std::int64_t chunk) {
  const float zeros[8] = {};
  for (std::int64_t row = first + warp_of_grid(); row < end; row += warps_in_grid()) store_row<T>(m, row, chunk, zeros);
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    row_gradients_kernel(AttentionV2 a, EntryRows rows, AttentionV2Gradient gradient) {
  const int lane = lane_of_warp();
  const std::int64_t chunks = a.l.width / 8, chunk = std::int64_t{blockIdx.y} * kTileChunks + lane;
  const bool is_column = chunk < chunks;
  const float zeros[8] = {};
  ColumnSums sums;  // of att, of bias
  NodeChunk node{};
  load_columns(a.att, chunk, a.columns, node.att);
  for (std::int64_t i = warp_of_grid(); i < *rows.num_nodes; i += warps_in_grid()) {
    const Entries entries = Entries::of(rows, i);
    const Slots weights = SlotRow(a.weights, a.fanout, i).load(lane, entries.kept);
    const Slots g = SlotRow(a.edge_gradients, a.fanout, i).load(lane, entries.kept);
    if (is_column) {
      load_row<T>(a.r, i, chunk, node.r);
      load_gradient<T>(a, gradient, i, chunk, node.gradient);
#pragma unroll
      for (int c = 0; c < 8; ++c) node.r_gradient[c] = 0, sums.second[c] += node.gradient[c];
      node.row<T>(a, i, chunk, weights.own, g.own, sums.first);
    }
#pragma unroll 4
    for (int k = 0; k < entries.kept; ++k) {
      const float weight = __shfl_sync(kWarp, weights.entry, k), of_logit = __shfl_sync(kWarp, g.entry, k);
      if (is_column) node.row<T>(a, entries.first_row + k, chunk, weight, of_logit, sums.first);
    }
    if (!is_column) continue;
    store_row<T>(a.r_gradient, i, chunk, node.r_gradient);
    for (int k = entries.kept; rows.is_last_hop && k < rows.hop.fanout; ++k)
      store_row<T>(a.l_gradient, entries.first_row + k, chunk, zeros);
  }
  if (is_column) {
    const std::int64_t count = *rows.num_nodes;
    clear_chunk<T>(a.r_gradient, count, rows.capacity, chunk);
    if (rows.is_last_hop) {
      clear_chunk<T>(a.l_gradient, count, rows.capacity, chunk);
      clear_chunk<T>(a.l_gradient, rows.capacity + count * rows.hop.fanout, rows.rows, chunk);
    } else {
      clear_chunk<T>(a.l_gradient, *rows.growth.num_grown, rows.rows, chunk);
    }
  }
  write_share<kTileChunks>(sums, a.l.width, a.sums);
}

__global__ void __launch_bounds__(kTotalsThreads) vector_gradients_kernel(AttentionV2 a) {
  const ColumnTotals totals = totals_of(a.sums, kShares, a.l.width);
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (threadIdx.x >= 32 || column >= a.columns) return;
  a.att_gradient[column] = static_cast<float>(totals.first);
  a.bias_gradient[column] = static_cast<float>(totals.second);
}

// ---- host code -------------------------------------------------------------------------------------------

template <class T>
void launch_backward(const AttentionV2& a, const EntryRows& rows, const AttentionV2Gradient& gradient,
                     cudaStream_t stream) {
  logit_gradients_kernel<T><<<blocks_for(rows.capacity * 32), kThreadsPerBlock, 0, stream>>>(a, rows, gradient);
  cuda_check(cudaGetLastError());
  const dim3 grid(kShares, static_cast<unsigned>((a.l.width / 8 + kTileChunks - 1) / kTileChunks));
  row_gradients_kernel<T><<<grid, kThreadsPerBlock, 0, stream>>>(a, rows, gradient);
  cuda_check(cudaGetLastError());
  vector_gradients_kernel<<<static_cast<unsigned>((a.columns + 31) / 32), kTotalsThreads, 0, stream>>>(a);
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t attention_v2_sums_size(std::int64_t columns) { return kShares * 2 * padded(columns); }

void attention_v2_forward(const AttentionV2& attention, const EntryRows& rows, cudaStream_t stream) {
  const unsigned blocks = blocks_for(rows.capacity * 32);
  if (attention.l.type == ActivationType::kF32)
    forward_kernel<float, float><<<blocks, kThreadsPerBlock, 0, stream>>>(attention, rows);
  else if (attention.is_hidden)
    forward_kernel<Bf16, Bf16><<<blocks, kThreadsPerBlock, 0, stream>>>(attention, rows);
  else
    forward_kernel<Bf16, float><<<blocks, kThreadsPerBlock, 0, stream>>>(attention, rows);
  cuda_check(cudaGetLastError());
}

void attention_v2_backward(const AttentionV2& attention, const EntryRows& rows, const AttentionV2Gradient& gradient,
                           cudaStream_t stream) {
  attention.l.type == ActivationType::kF32 ? launch_backward<float>(attention, rows, gradient, stream)
                                           : launch_backward<Bf16>(attention, rows, gradient, stream);
}

}  // namespace salient
