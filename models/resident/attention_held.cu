// models/resident/attention_held.cu - attention.h over rows of the feature table, in bf16, of nodes with few entries.
//
// Work split  half a warp per node, a lane for each chunk of eight columns; the softmax by lanes of entries. Groups
//             walk over nodes with the vectors, or their gradients, in registers.
// Access      a lane finds one entry's row for its group; all rows of a node are requested together, and read once each
//             way: a lane holds its chunk of them.
// Limit       random reads of rows.
// Sync        warp shuffles; eight products of rows are added up together. Shares of column sums meet in shared memory.
#include <algorithm>

#include "models/resident/attention_dots.cuh"
#include "models/resident/attention_held.h"
#include "models/resident/column_sums.cuh"
#include "models/resident/row_source.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kLanes = 16;       // of a node: at least as many as a row has chunks
constexpr int kHeldEntries = 6;  // with two products of a node's own row, eight
constexpr int kResident = 3;     // blocks of a multiprocessor
constexpr std::int64_t kForwardBlocks = 132 * kResident * 4;
constexpr unsigned kGradientBlocks = 132 * kResident;  // no more than attention.cu has shares

/// Lane k of the group gets the sum over it of values[k % 8]; values are lost.
__device__ float group_sums(float (&values)[8]) {
  const unsigned lane = threadIdx.x & 31, group = lanes_of_group<kLanes>();
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {  // of the values that a lane still has; its partner keeps the others
    const bool keeps_upper = (lane & half) != 0;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const float lower = values[k], upper = values[k + half];
      const float given = __shfl_xor_sync(group, keeps_upper ? lower : upper, half);
      values[k] = (keeps_upper ? upper : lower) + given;
    }
  }
  return values[0] + __shfl_xor_sync(group, values[0], 8);
}

/// A lane's chunk of a node's row and of its entries'.
template <class Reader>
struct HeldRows {
  typename Reader::Raw own, entries[kHeldEntries];
  int kept;
  bool counts;  ///< entry `lane` is there, and not the node itself

  __device__ static HeldRows load(const Reader& reader, std::int64_t i, int lane) {
    HeldRows rows;
    rows.kept = reader.num_entries(i);
    const RowRef self = reader.own(i), mine = lane < rows.kept ? reader.entry(i, lane) : self;
    rows.own = reader.load(self, lane);
    rows.counts = lane < rows.kept && mine.node != self.node;
#pragma unroll
    for (int k = 0; k < kHeldEntries; ++k)
      if (k < rows.kept) rows.entries[k] = reader.load({0, Group<kLanes>::from(k, mine.row)}, lane);
    return rows;
  }
  /// Products of entries' rows with a chunk, each lane's part; 0 where there is no entry. @param last  two more
  template <class Last>
  __device__ float dots(const Reader& reader, const float (&by)[8], const Last& last) const {
    float terms[8] = {};
#pragma unroll
    for (int k = 0; k < kHeldEntries; ++k) {
      if (k >= kept) continue;
      float values[8];
      reader.unpack(entries[k], values);
      terms[k] = dot(values, by);
    }
    float values[8];
    reader.unpack(own, values);
    last(values, terms[kHeldEntries], terms[kHeldEntries + 1]);
    return group_sums(terms);
  }
  /// sums += the node's row and its entries', each times its number.
  __device__ void add_to(const Reader& reader, const Slots& factors, float (&sums)[8]) const {
    float values[8];
    reader.unpack(own, values);
#pragma unroll
    for (int c = 0; c < 8; ++c) sums[c] += factors.own * values[c];
#pragma unroll
    for (int k = 0; k < kHeldEntries; ++k) {
      if (k >= kept) continue;
      const float factor = Group<kLanes>::from(k, factors.entry);
      reader.unpack(entries[k], values);
#pragma unroll
      for (int c = 0; c < 8; ++c) sums[c] += factor * values[c];
    }
  }
};

template <class Source>
__global__ void __launch_bounds__(kThreadsPerBlock, kResident)
    held_forward_kernel(Source source, Attention a, int chunks) {
  using G = Group<kLanes>;
  const auto reader = source.reader();
  const int lane = G::lane();
  const bool is_column = lane < chunks;
  float by_source[8] = {}, by_target[8] = {};
  if (is_column) load_eight(a.vectors + lane * 8, by_source);
  if (is_column) load_eight(a.vectors + (chunks + lane) * 8, by_target);
  for (std::int64_t i = G::of_grid(); i < reader.capacity(); i += G::in_grid()) {
    float sum[8] = {};
    if (i < reader.count) {
      const auto rows = HeldRows<decltype(reader)>::load(reader, i, lane);
      const float each = rows.dots(reader, by_source, [&](const float(&own)[8], float& of_source, float& of_target) {
        of_source = dot(own, by_source);
        of_target = dot(own, by_target);
      });
      const float own_source = G::from(kHeldEntries, each), own_target = G::from(kHeldEntries + 1, each);
      const Slots logits{own_source + own_target, each + own_target};
      const Slots weights =
          Slots{leaky(logits.own), rows.counts ? leaky(logits.entry) : -INFINITY}.template softmax<kLanes>();
      SlotRow(a.weights, a.fanout, i)
          .store({logits.own > 0 ? weights.own : -weights.own, logits.entry > 0 ? weights.entry : -weights.entry}, lane,
                 rows.kept);
      rows.add_to(reader, weights, sum);
    }
    if (is_column) store_eight(sum, static_cast<Bf16*>(a.operand) + (i * chunks + lane) * 8);
  }
}

/// Shares of the vectors' gradients.
template <class Source>
__global__ void __launch_bounds__(kThreadsPerBlock, kResident)
    held_logit_gradients_kernel(Source source, Attention a, const Bf16* __restrict__ gradient, int chunks) {
  using G = Group<kLanes>;
  const auto reader = source.reader();
  const int lane = G::lane();
  ColumnSums sums;
  for (std::int64_t i = G::of_grid(); i < reader.count; i += G::in_grid()) {
    const auto rows = HeldRows<decltype(reader)>::load(reader, i, lane);
    float by[8] = {};
    if (lane < chunks) load_eight(gradient + (i * chunks + lane) * 8, by);
    const Slots stored = SlotRow(a.weights, a.fanout, i).load(lane, rows.kept);
    const float each =
        rows.dots(reader, by, [&](const float(&own)[8], float& of_own, float&) { of_own = dot(own, by); });
    Slots g = Slots{fabsf(stored.own), fabsf(stored.entry)}.template softmax_backward<kLanes>(
        {G::from(kHeldEntries, each), lane < rows.kept ? each : 0.0f});
    if (signbit(stored.own)) g.own *= kSlope;
    if (signbit(stored.entry)) g.entry *= kSlope;
    const float all = g.own + warp_sum<kLanes>(g.entry);
    rows.add_to(reader, g, sums.first);
    float own[8];
    reader.unpack(rows.own, own);
#pragma unroll
    for (int c = 0; c < 8; ++c) sums.second[c] += all * own[c];
  }
  write_share<kLanes>(sums, std::int64_t{chunks} * 8, a.sums);
}

// ---- host code -------------------------------------------------------------------------------------------

int chunks_of(const Attention& a) { return static_cast<int>(padded(a.in_dim) / 8); }

}  // namespace

bool holds_rows(const Attention& a) {
  return a.type == ActivationType::kBf16 && a.fanout <= kHeldEntries && chunks_of(a) <= kLanes;
}

void held_forward(const Attention& a, const TableRows& rows, cudaStream_t stream) {
  const std::int64_t blocks = std::min(kForwardBlocks, (rows.hop.capacity * kLanes - 1) / kThreadsPerBlock + 1);
  with_table_source(rows, [&]<class Source>(const Source& source) {
    held_forward_kernel<Source>
        <<<static_cast<unsigned>(blocks), kThreadsPerBlock, 0, stream>>>(source, a, chunks_of(a));
  });
  cuda_check(cudaGetLastError());
}

void held_backward(const Attention& a, const TableRows& rows, const void* gradient, cudaStream_t stream) {
  with_table_source(rows, [&]<class Source>(const Source& source) {
    held_logit_gradients_kernel<Source>
        <<<kGradientBlocks, kThreadsPerBlock, 0, stream>>>(source, a, static_cast<const Bf16*>(gradient), chunks_of(a));
  });
  cuda_check(cudaGetLastError());
}

}  // namespace salient
