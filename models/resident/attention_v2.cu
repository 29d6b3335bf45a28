// models/resident/attention_v2.cu - see attention_v2.h.
//
// Work split  1, 2, 4 or 8 warps per node, a tile of 256 columns each, lanes by chunks of eight columns; the softmax by
//             lanes of entries. Warps walk over nodes with the vectors, and their gradients, in registers.
// Access      rows of l behind each other, forward and backward. The last eight rows of a node that a lane has read
//             stay in its registers: nodes of up to seven entries are read once, others once more from a cache.
// Limit       memory.
// Sync        warp shuffles; the tiles of a node, and shares of column sums, meet in shared memory.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/attention_slots.cuh"
#include "models/resident/attention_v2.h"
#include "models/resident/attention_v2_rows.cuh"
#include "models/resident/column_sums.cuh"
#include "models/resident/masks.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

// Whole waves of 132 multiprocessors with 2 or 3 blocks each; several, as other kernels may run beside.
constexpr std::int64_t kForwardBlocks = 132 * 12, kShares = 132 * 6;
template <class T>
constexpr int kForwardResident = sizeof(T) == 2 ? 3 : 2;  // blocks of a multiprocessor

/// by(l's chunk) summed over the columns, of the node itself and of its entries, lane by lane.
/// @param held  the first rows, then the last; zeros behind the last column
template <int kTeam, class T, class Term>
__device__ Slots dots(const Place<kTeam>& place, const Matrix& l, const RowsOfNode& node, HeldRows<T>& held,
                      const Term& by) {
  Slots result{0, 0};
  float sum = 0;
  for (int first = 0; first < node.count; first += kHeld) {
    if (first > 0) held.load(l, node, first, place.chunk);
    float terms[kHeld] = {};
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (first + k >= node.count) continue;
      float values[8];
      held.rows[k].unpack(values);
      terms[k] = by(values);
    }
    sum = warp_sums(terms);
    if (place.lane >= first && place.lane < first + kHeld) result.entry = sum;
  }
  result.own = __shfl_sync(kWarp, sum, node.kept % kHeld);  // the node's own row is behind its entries
  return {place.team_sum(result.own), place.team_sum(result.entry)};
}

/// One chunk of the result, activated if the layer is hidden.
__device__ void finish(const AttentionV2& a, const StepMask& mask, NodeId node, int chunk, const float (&bias)[8],
                       float (&values)[8]) {
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    values[c] += bias[c];
    if (a.is_hidden && values[c] <= 0) values[c] = 0;
  }
  if (a.is_hidden) mask.apply(node, chunk, values);
}

/// @tparam Out  of the result
template <class T, class Out, int kTeam>
__global__ void __launch_bounds__(kThreadsPerBlock, kForwardResident<T>) forward_kernel(AttentionV2 a, EntryRows rows) {
  const auto place = Place<kTeam>::here();
  const bool is_column = place.chunk * 8 < a.l.width, has_ones = a.out.width > a.l.width;
  const StepMask mask = StepMask::of(a.dropout);
  __shared__ Columns<kTeam> bias;
  bias.load(place, a.bias, a.columns);
  float att[8];
  load_columns(a.att, place.chunk, a.columns, att);
  HeldRows<T> held{};
  for (LocalId base = place.first(); base < rows.capacity; base += place.step()) {
    const LocalId i = base + place.node;
    const RowsOfNode node = RowsOfNode::of(rows, i);
    held.load(a.l, node, 0, place.chunk);  // ahead of all that waits for other reads
    float r[8] = {};
    if (node.count > 0 && is_column) load_eight(chunk_of<const T>(a.r, i, place.chunk), r);
    const NodeId self = node.count > 0 ? rows.nodes[i] : 0;
    const NodeId other = place.lane < node.kept ? node.nodes[place.lane] : self;
    Slots logits = dots(place, a.l, node, held, [&](const float(&l)[8]) {
      float sum = 0;
#pragma unroll
      for (int c = 0; c < 8; ++c) sum += att[c] * leaky(l[c] + r[c]);
      return sum;
    });
    if (other == self) logits.entry = -INFINITY;
    const Slots weights = logits.softmax();
    if (node.count > 0 && place.chunk < 32) SlotRow(a.weights, a.fanout, i).store(weights, place.lane, node.kept);

    float sum[8] = {};
    for (int first = 0; first < node.count; first += kHeld) {
      if (node.count > kHeld) held.load(a.l, node, first, place.chunk);
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        if (first + k >= node.count) continue;
        const float weight = node.slot(weights, first + k);
        float l[8];
        held.rows[k].unpack(l);
#pragma unroll
        for (int c = 0; c < 8; ++c) sum[c] += weight * l[c];
      }
    }
    if (node.count > 0 && is_column) finish(a, mask, self, place.chunk, bias.chunks[place.chunk], sum);
    if (i < rows.capacity && is_column) store_eight(sum, chunk_of<Out>(a.out, i, place.chunk));
    if (i < rows.capacity && has_ones && place.chunk == 0) {
      const float ones[8] = {node.count > 0 ? 1.0f : 0.0f};
      store_eight(ones, chunk_of<Out>(a.out, i, static_cast<int>(a.l.width / 8)));
    }
  }
}

/// The gradient of the sum before bias and activation.
template <class T>
__device__ void load_gradient(const AttentionV2& a, const AttentionV2Gradient& g, LocalId i, int chunk,
                              float (&values)[8]) {
  const auto of_out = EightWords<T>::load(chunk_of<const T>(g.gradient, i, chunk));
  EightWords<T> result{};  // both are read before one is waited for
  if (a.is_hidden) result = EightWords<T>::load(chunk_of<const T>(a.out, i, chunk));
  of_out.unpack(values);
  if (!a.is_hidden) return;
  float out[8];
  result.unpack(out);
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

/// A chunk of one node: what its rows' gradients are made of, and what they add up to.
struct NodeChunk {
  float r[8], gradient[8];
  float through[8];  // leaky_relu and no further: the sum of its rows' gradients

  /// The gradient of one row of l. @param g  of its logit
  __device__ void row(const float (&l)[8], const float (&att)[8], float weight, float g, float (&att_gradient)[8],
                      float (&values)[8]) {
    const float below = g * kSlope;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const float sum = l[c] + r[c], by_sum = sum > 0 ? g : below;
      att_gradient[c] += by_sum * sum;
      through[c] += by_sum;
      values[c] = weight * gradient[c] + by_sum * att[c];
    }
  }
};

template <class T, int kTeam>
__device__ void clear_rows(const Place<kTeam>& place, const Matrix& m, LocalId first, std::int64_t end) {
  const float zeros[8] = {};
  for (LocalId row = first + place.first() + place.node; row < end; row += place.step())
    store_eight(zeros, chunk_of<T>(m, row, place.chunk));
}

/// The gradients of rows that no node has.
template <class T, int kTeam>
__device__ void clear_padding(const Place<kTeam>& place, const AttentionV2& a, const EntryRows& rows) {
  const LocalId count = *rows.num_nodes, entries = count * static_cast<LocalId>(rows.hop.fanout);
  clear_rows<T>(place, a.r_gradient, count, rows.capacity);
  if (rows.is_last_hop) {
    clear_rows<T>(place, a.l_gradient, count, rows.capacity);
    clear_rows<T>(place, a.l_gradient, static_cast<LocalId>(rows.capacity) + entries, rows.rows);
  } else {
    clear_rows<T>(place, a.l_gradient, *rows.growth.num_grown, rows.rows);
  }
}

template <class T, int kTeam>
__global__ void __launch_bounds__(kThreadsPerBlock, 2)
    backward_kernel(AttentionV2 a, EntryRows rows, AttentionV2Gradient gradient) {
  const auto place = Place<kTeam>::here();
  const bool is_column = place.chunk * 8 < a.l.width;
  ColumnSums sums;  // of att, of bias
  __shared__ Columns<kTeam> columns;
  columns.load(place, a.att, a.columns);
  const float(&att)[8] = columns.chunks[place.chunk];
  HeldRows<T> held{};
  for (LocalId base = place.first(); base < *rows.num_nodes; base += place.step()) {
    const LocalId i = base + place.node;
    const RowsOfNode node = RowsOfNode::of(rows, i);
    const bool has_chunk = node.count > 0 && is_column;
    held.load(a.l, node, 0, place.chunk);  // ahead of all that waits for other reads
    Slots weights{};
    if (node.count > 0) weights = SlotRow(a.weights, a.fanout, i).load(place.lane, node.kept);
    NodeChunk chunk{};
    if (has_chunk) {
      const auto r = EightWords<T>::load(chunk_of<const T>(a.r, i, place.chunk));
      load_gradient<T>(a, gradient, i, place.chunk, chunk.gradient);
      r.unpack(chunk.r);
    }
    const Slots g = weights.softmax_backward(dots(place, a.l, node, held, [&](const float(&l)[8]) {
      float sum = 0;
#pragma unroll
      for (int c = 0; c < 8; ++c) sum += chunk.gradient[c] * l[c];
      return sum;
    }));
    for (int first = 0; first < node.count; first += kHeld) {
      if (node.count > kHeld) held.load(a.l, node, first, place.chunk);
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        if (first + k >= node.count) continue;
        const float weight = node.slot(weights, first + k), of_logit = node.slot(g, first + k);
        float l[8], values[8];
        held.rows[k].unpack(l);
        chunk.row(l, att, weight, of_logit, sums.first, values);
        if (is_column) store_eight(values, chunk_of<T>(a.l_gradient, node.row(first + k), place.chunk));
      }
    }
    if (!has_chunk) continue;
#pragma unroll
    for (int c = 0; c < 8; ++c) sums.second[c] += chunk.gradient[c], chunk.through[c] *= att[c];
    store_eight(chunk.through, chunk_of<T>(a.r_gradient, i, place.chunk));
    const float zeros[8] = {};
    for (int k = node.kept; rows.is_last_hop && k < rows.hop.fanout; ++k)
      store_eight(zeros, chunk_of<T>(a.l_gradient, node.first + k, place.chunk));
  }
  if (is_column) clear_padding<T>(place, a, rows);
  write_share<Place<kTeam>::kLanes>(sums, a.l.width, a.sums);
}

__global__ void __launch_bounds__(kTotalsThreads) vector_gradients_kernel(AttentionV2 a, int shares) {
  const ColumnTotals totals = totals_of(a.sums, shares, a.l.width);
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (threadIdx.x >= 32 || column >= a.columns) return;
  a.att_gradient[column] = static_cast<float>(totals.first);
  a.bias_gradient[column] = static_cast<float>(totals.second);
}

// ---- host code -------------------------------------------------------------------------------------------

/// launch(Place<kTeam>{}) for enough warps per node.
template <class Launch>
void with_team(std::int64_t width, Launch&& launch) {
  require(width <= kMaxResidentGatv2Width, "a layer of gatv2 has at most 2048 columns");
  if (width <= 256) return launch(Place<1>{});
  if (width <= 512) return launch(Place<2>{});
  if (width <= 1024) return launch(Place<4>{});
  launch(Place<8>{});
}

template <class T, class Out>
void launch_forward(const AttentionV2& a, const EntryRows& rows, cudaStream_t stream) {
  with_team(a.l.width, [&]<int kTeam>(Place<kTeam> place) {
    const auto blocks = std::min(kForwardBlocks, (rows.capacity + place.kNodes - 1) / place.kNodes);
    forward_kernel<T, Out, kTeam><<<static_cast<unsigned>(blocks), kThreadsPerBlock, 0, stream>>>(a, rows);
  });
  cuda_check(cudaGetLastError());
}

template <class T>
void launch_backward(const AttentionV2& a, const EntryRows& rows, const AttentionV2Gradient& gradient,
                     cudaStream_t stream) {
  with_team(a.l.width, [&]<int kTeam>(Place<kTeam> place) {
    const auto shares = std::min(kShares, (rows.capacity + place.kNodes - 1) / place.kNodes);
    backward_kernel<T, kTeam><<<static_cast<unsigned>(shares), kThreadsPerBlock, 0, stream>>>(a, rows, gradient);
    cuda_check(cudaGetLastError());
    const auto blocks = static_cast<unsigned>((a.columns + 31) / 32);
    vector_gradients_kernel<<<blocks, kTotalsThreads, 0, stream>>>(a, static_cast<int>(shares));
  });
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t attention_v2_sums_size(std::int64_t columns) { return kShares * 2 * padded(columns); }

void attention_v2_forward(const AttentionV2& attention, const EntryRows& rows, cudaStream_t stream) {
  if (attention.l.type == ActivationType::kF32) return launch_forward<float, float>(attention, rows, stream);
  attention.out.type == ActivationType::kF32 ? launch_forward<Bf16, float>(attention, rows, stream)
                                             : launch_forward<Bf16, Bf16>(attention, rows, stream);
}

void attention_v2_backward(const AttentionV2& attention, const EntryRows& rows, const AttentionV2Gradient& gradient,
                           cudaStream_t stream) {
  attention.l.type == ActivationType::kF32 ? launch_backward<float>(attention, rows, gradient, stream)
                                           : launch_backward<Bf16>(attention, rows, gradient, stream);
}

}  // namespace salient
