// models/resident/attention.cu - see attention.h.
//
// Work split  a group of lanes per node, a warp or half of one, lanes by chunks of eight columns; the softmax by lanes
//             of entries. Gradients of rows and vectors: groups walk over nodes, each for a tile of its lanes' columns.
// Access      each row is read twice forward, for its score and for the sum, and twice backward; the second time it
//             comes from a cache, but for gradients of rows that are wider than a group's lanes.
// Limit       memory, and the latency of dependent reads.
// Sync        warp shuffles; shares of column sums meet in shared memory.
#include <type_traits>

#include "models/resident/attention.h"
#include "models/resident/attention_dots.cuh"
#include "models/resident/attention_slots.cuh"
#include "models/resident/column_sums.cuh"
#include "models/resident/row_source.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kShares = 512;

/// The softmax of node i, and on which side of leaky_relu its logits are.
template <int kLanes, class Reader>
__device__ Slots find_weights(const Attention& a, const Reader& reader, std::int64_t i, std::int64_t chunks) {
  const int lane = Group<kLanes>::lane(), kept = reader.num_entries(i);
  const float* const source = a.vectors;
  const float* const target = a.vectors + chunks * 8;
  const RowRef own = reader.own(i);
  float own_source = 0, own_target = 0;
  for (std::int64_t chunk = lane; chunk < chunks; chunk += kLanes) {
    float values[8], s[8], t[8];
    reader.first_values(reader.load(own, chunk), own, chunk, values);
    load_eight(source + chunk * 8, s);
    load_eight(target + chunk * 8, t);
    own_source += dot(values, s);
    own_target += dot(values, t);
  }
  own_source = warp_sum<kLanes>(own_source);
  own_target = warp_sum<kLanes>(own_target);
  const float entry = entry_dots<kLanes, true>(
      reader, i, chunks, [&](std::int64_t chunk, float(&by)[8]) { load_eight(source + chunk * 8, by); });
  const Slots logits{own_source + own_target, entry + own_target};
  const bool counts = lane < kept && reader.entry(i, lane).node != own.node;
  const Slots weights = Slots{leaky(logits.own), counts ? leaky(logits.entry) : -INFINITY}.template softmax<kLanes>();
  SlotRow(a.weights, a.fanout, i)
      .store({logits.own > 0 ? weights.own : -weights.own, logits.entry > 0 ? weights.entry : -weights.entry}, lane,
             kept);
  return weights;
}

template <class Source, class Out, int kLanes>
__global__ void __launch_bounds__(kThreadsPerBlock) forward_kernel(Source source, Attention a, std::int64_t chunks) {
  const auto reader = source.reader();
  using G = Group<kLanes>;
  const int lane = G::lane();
  Out* const operand = static_cast<Out*>(a.operand);
  for (std::int64_t i = G::of_grid(); i < reader.capacity(); i += G::in_grid()) {
    if (i >= reader.count) {
      const float zeros[8] = {};
      for (std::int64_t chunk = lane; chunk < chunks; chunk += kLanes)
        store_eight(zeros, operand + (i * chunks + chunk) * 8);
      continue;
    }
    const Slots weights = find_weights<kLanes>(a, reader, i, chunks);
    const RowRef own = reader.own(i);
    const int kept = reader.num_entries(i);
    for (std::int64_t base = 0; base < chunks; base += kLanes) {
      const std::int64_t chunk = base + lane;
      const bool is_column = chunk < chunks;
      float sum[8] = {};
      if (is_column) reader.values_again(reader.load(own, chunk), own, chunk, sum);
#pragma unroll
      for (int c = 0; c < 8; ++c) sum[c] *= weights.own;
#pragma unroll 4
      for (int k = 0; k < kept; ++k) {
        const float weight = G::from(k, weights.entry);
        if (!is_column) continue;
        const RowRef ref = reader.entry(i, k);
        float values[8];
        reader.values_again(reader.load(ref, chunk), ref, chunk, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) sum[c] += weight * values[c];
      }
      if (is_column) store_eight(sum, operand + (i * chunks + chunk) * 8);
    }
  }
}

/// Gradients of the logits of node i, and their sum.
struct LogitGradients {
  Slots each;
  float all;
};

/// @param load_gradient  load_gradient(chunk, ...) gives that of the weighted sum
template <int kLanes, class Reader, class Load>
__device__ LogitGradients logit_gradients(const Attention& a, const Reader& reader, std::int64_t i, std::int64_t chunks,
                                          const Load& load_gradient) {
  const int lane = Group<kLanes>::lane(), kept = reader.num_entries(i);
  const RowRef own = reader.own(i);
  Slots d{0, 0};
  for (std::int64_t chunk = lane; chunk < chunks; chunk += kLanes) {
    float values[8], by[8];
    reader.values_again(reader.load(own, chunk), own, chunk, values);
    load_gradient(chunk, by);
    d.own += dot(values, by);
  }
  d.own = warp_sum<kLanes>(d.own);
  d.entry = entry_dots<kLanes, false>(reader, i, chunks, load_gradient);
  const Slots stored = SlotRow(a.weights, a.fanout, i).load(lane, kept);
  Slots g = Slots{fabsf(stored.own), fabsf(stored.entry)}.template softmax_backward<kLanes>(d);
  if (signbit(stored.own)) g.own *= kSlope;
  if (signbit(stored.entry)) g.entry *= kSlope;
  return {g, g.own + warp_sum<kLanes>(g.entry)};
}

/// Keeps them for row_gradients_kernel(): of rows that are wider than a group's lanes.
template <class Source, class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    logit_gradients_kernel(Source source, Attention a, const T* __restrict__ gradient, std::int64_t chunks) {
  using G = Group<32>;
  const auto reader = source.reader();
  for (std::int64_t i = G::of_grid(); i < reader.count; i += G::in_grid()) {
    const LogitGradients g = logit_gradients<32>(a, reader, i, chunks, [&](std::int64_t chunk, float(&by)[8]) {
      load_eight(gradient + (i * chunks + chunk) * 8, by);
    });
    const SlotRow row(a.edge_gradients, a.fanout, i);
    row.store(g.each, G::lane(), reader.num_entries(i));
    if (G::lane() == 0) row.at[a.fanout + 1] = g.all;
  }
}

/// What one row gets: weight * (gradient of the sum) + of_source * s + of_target * t.
struct RowGradient {
  float weight, of_source, of_target;
};

/// A chunk of the vectors and of a node's gradient.
struct Chunks {
  float source[8], target[8], gradient[8];

  template <class Reader>
  __device__ void write(const Reader& reader, const RowGradient& g, RowRef ref, std::int64_t chunk, void* dz) const {
    float values[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) values[c] = g.weight * gradient[c] + g.of_source * source[c] + g.of_target * target[c];
    reader.backward(reader.bits_of(ref.row, chunk), values);
    using T = std::remove_const_t<std::remove_pointer_t<decltype(reader.z)>>;
    store_eight(values, static_cast<T*>(dz) + (ref.row * reader.chunks + chunk) * 8);
  }
};

/// dz of all rows, unless there are none, and the shares of the vectors' gradients.
/// @tparam kIsWide  a row has more chunks than a group has lanes: the logits' gradients are in a.edge_gradients
template <bool kHasRows, bool kIsWide, int kLanes, class Source, class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    row_gradients_kernel(Source source, Attention a, const T* __restrict__ gradient, void* dz, std::int64_t chunks) {
  using G = Group<kLanes>;
  const auto reader = source.reader();
  const int lane = G::lane();
  const std::int64_t chunk = std::int64_t{blockIdx.y} * kLanes + lane;
  const bool is_column = chunk < chunks;
  ColumnSums sums;
  Chunks by{};
  if (is_column) load_eight(a.vectors + chunk * 8, by.source);
  if (is_column) load_eight(a.vectors + (chunks + chunk) * 8, by.target);
  for (std::int64_t i = G::of_grid(); i < reader.count; i += G::in_grid()) {
    const int kept = reader.num_entries(i);
    if (is_column && (kHasRows || !kIsWide)) load_eight(gradient + (i * chunks + chunk) * 8, by.gradient);
    LogitGradients of_logits;
    if constexpr (kIsWide) {
      const SlotRow edges(a.edge_gradients, a.fanout, i);
      of_logits = {edges.load(lane, kept), edges.at[a.fanout + 1]};
    } else {
      of_logits = logit_gradients<kLanes>(a, reader, i, chunks, [&](std::int64_t, float(&to)[8]) {
#pragma unroll
        for (int c = 0; c < 8; ++c) to[c] = by.gradient[c];
      });
    }
    const auto [g, all] = of_logits;
    const Slots weights = SlotRow(a.weights, a.fanout, i).load(lane, kept);
    const RowRef own = reader.own(i);
    if (is_column) {
      float values[8];
      reader.values_again(reader.load(own, chunk), own, chunk, values);
#pragma unroll
      for (int c = 0; c < 8; ++c) sums.first[c] += g.own * values[c], sums.second[c] += all * values[c];
      if constexpr (kHasRows) by.write(reader, {fabsf(weights.own), g.own, all}, own, chunk, dz);
    }
#pragma unroll 4
    for (int k = 0; k < kept; ++k) {
      const RowGradient of{fabsf(G::from(k, weights.entry)), G::from(k, g.entry), 0};
      if (!is_column) continue;
      const RowRef ref = reader.entry(i, k);
      float values[8];
      reader.values_again(reader.load(ref, chunk), ref, chunk, values);
#pragma unroll
      for (int c = 0; c < 8; ++c) sums.first[c] += of.of_source * values[c];
      if constexpr (kHasRows) by.write(reader, of, ref, chunk, dz);
    }
  }
  if constexpr (kHasRows) {
    const float zeros[8] = {};
    for (std::int64_t row = *reader.growth.num_grown + G::of_grid(); row < reader.growth.grown_capacity && is_column;
         row += G::in_grid())
      store_eight(zeros, static_cast<T*>(dz) + (row * chunks + chunk) * 8);
  }
  write_share<kLanes>(sums, chunks * 8, a.sums);
}

__global__ void __launch_bounds__(kTotalsThreads) vector_gradients_kernel(Attention a, std::int64_t width) {
  const ColumnTotals totals = totals_of(a.sums, kShares, width);
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (threadIdx.x >= 32 || column >= width) return;
  a.vectors[2 * width + column] = static_cast<float>(totals.first);
  a.vectors[3 * width + column] = static_cast<float>(totals.second);
}

// ---- host code -------------------------------------------------------------------------------------------

unsigned warps_of(std::int64_t columns) { return static_cast<unsigned>((columns + 31) / 32); }

/// Whether half a warp has a lane for each chunk of a row and for each entry.
bool fits_half_warp(const Attention& a, std::int64_t chunks) { return chunks <= 16 && a.fanout <= 16; }

template <class Out, class Source>
void launch_forward(const Source& source, const Attention& a, std::int64_t capacity, cudaStream_t stream) {
  const std::int64_t chunks = padded(a.in_dim) / 8;
  const bool is_half = fits_half_warp(a, chunks);
  const auto kernel = is_half ? forward_kernel<Source, Out, 16> : forward_kernel<Source, Out, 32>;
  kernel<<<blocks_for(capacity * (is_half ? 16 : 32)), kThreadsPerBlock, 0, stream>>>(source, a, chunks);
  cuda_check(cudaGetLastError());
}

template <class T, bool kHasRows, class Source>
void launch_backward(const Source& source, const Attention& a, const void* gradient, void* dz, std::int64_t capacity,
                     cudaStream_t stream) {
  const std::int64_t chunks = padded(a.in_dim) / 8;
  const auto* const of_operand = static_cast<const T*>(gradient);
  const bool is_wide = chunks > 32;
  if (is_wide) {
    logit_gradients_kernel<Source, T>
        <<<blocks_for(capacity * 32), kThreadsPerBlock, 0, stream>>>(source, a, of_operand, chunks);
    cuda_check(cudaGetLastError());
  }
  const auto kernel = is_wide                     ? row_gradients_kernel<kHasRows, true, 32, Source, T>
                      : fits_half_warp(a, chunks) ? row_gradients_kernel<kHasRows, false, 16, Source, T>
                                                  : row_gradients_kernel<kHasRows, false, 32, Source, T>;
  const dim3 grid(kShares, static_cast<unsigned>((chunks + 31) / 32));
  kernel<<<grid, kThreadsPerBlock, 0, stream>>>(source, a, of_operand, dz, chunks);
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t attention_sums_size(std::int64_t in_dim) { return kShares * 2 * padded(in_dim); }

void attention_vector_gradients(const Attention& attention, cudaStream_t stream) {
  const std::int64_t width = padded(attention.in_dim);
  vector_gradients_kernel<<<warps_of(width), kTotalsThreads, 0, stream>>>(attention, width);
  cuda_check(cudaGetLastError());
}

void attention_forward(const Attention& attention, const TableRows& rows, cudaStream_t stream) {
  with_table_source(rows, [&](const auto& source) {
    attention.type == ActivationType::kF32 ? launch_forward<float>(source, attention, rows.hop.capacity, stream)
                                           : launch_forward<Bf16>(source, attention, rows.hop.capacity, stream);
  });
}

void attention_forward(const Attention& attention, const LevelRows& rows, cudaStream_t stream) {
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    launch_forward<T>(source, attention, rows.growth.capacity, stream);
  });
}

void attention_backward(const Attention& attention, const TableRows& rows, const void* gradient, cudaStream_t stream) {
  with_table_source(rows, [&](const auto& source) {
    attention.type == ActivationType::kF32
        ? launch_backward<float, false>(source, attention, gradient, nullptr, rows.hop.capacity, stream)
        : launch_backward<Bf16, false>(source, attention, gradient, nullptr, rows.hop.capacity, stream);
  });
}

void attention_backward(const Attention& attention, const LevelRows& rows, const void* gradient, void* dz,
                        cudaStream_t stream) {
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    launch_backward<T, true>(source, attention, gradient, dz, rows.growth.capacity, stream);
  });
}

}  // namespace salient
