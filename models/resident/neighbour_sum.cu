// models/resident/neighbour_sum.cu - see neighbour_sum.h.
//
// Work split  a group of lanes per row: the power of two up to a warp that the row's chunks of eight columns fill.
//             Lanes stride over chunks.
// Access      rows of the feature table in random order, those of a level behind each other; eight entries are in
//             flight before the first is added, four rows of a gradient before the first is written.
// Limit       memory.
// Sync        none.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "models/resident/neighbour_sum.h"
#include "models/resident/row_factors.cuh"
#include "models/resident/row_source.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// The sum over the entries of row i, of one chunk.
template <class Reader>
__device__ void add_entries(const NeighbourSum& sum, const Reader& reader, std::int64_t i, std::int64_t chunk,
                            float (&around)[8]) {
  constexpr int kInFlight = Reader::kInFlight;
  const StepMask input = StepMask::of(sum.input), mask = StepMask::of(sum.neighbours);
  const int kept = reader.num_entries(i);
  RowRef next[kInFlight];
#pragma unroll
  for (int k = 0; k < kInFlight; ++k)
    if (k < kept) next[k] = reader.entry(i, k);
  for (int first = 0; first < kept; first += kInFlight) {
    RowRef refs[kInFlight];
    typename Reader::Raw raws[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      refs[k] = next[k];
      if (first + k < kept) raws[k] = reader.load(refs[k], chunk);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)  // while the rows are under way
      if (first + kInFlight + k < kept) next[k] = reader.entry(i, first + kInFlight + k);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (first + k >= kept) continue;
      float values[8];
      reader.first_values(raws[k], refs[k], chunk, values);
      input.apply(refs[k].node, chunk, values);
      mask.apply(refs[k].node, chunk, values);
      const float factor = entry_factor(sum.rule, refs[k].node);
#pragma unroll
      for (int c = 0; c < 8; ++c) around[c] += factor * values[c];
    }
  }
}

/// Column `ones` becomes 1 if it is in the chunk.
__device__ void set_ones(std::int64_t ones, std::int64_t chunk, float (&values)[8]) {
#pragma unroll
  for (int c = 0; c < 8; ++c)
    if (chunk * 8 + c == ones) values[c] = 1;
}

/// Blocks on a multiprocessor: as many as the registers of the rows in flight allow.
template <class Source>
constexpr int kSumBlocks = sizeof(typename decltype(std::declval<Source>().reader())::Raw) <= 16 ? 2 : 1;

/// @param part_chunks  of one part of the operand, ones included   @param in_width  of a source's row
template <class Source, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock, kSumBlocks<Source>)
    sum_kernel(Source source, NeighbourSum sum, std::int64_t in_width, std::int64_t part_chunks, RowGroup group) {
  const auto reader = source.reader();
  const StepMask input = StepMask::of(sum.input), self = StepMask::of(sum.self);
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const std::int64_t own_chunks = padded(in_width + 1) / 8;
  const std::int64_t chunks = sum.own_rows != nullptr ? max(part_chunks, own_chunks) : part_chunks;
  Out* const operand = static_cast<Out*>(sum.operand);
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
       i < reader.capacity(); i += std::int64_t{gridDim.x} * rows_per_block) {
    const bool is_node = i < reader.count;
    const RowRef own_ref = is_node ? reader.own(i) : RowRef{};
    const RowWeights weights = is_node ? row_weights(sum.rule, own_ref.node, reader.num_entries(i)) : RowWeights{0, 0};
    for (std::int64_t chunk = lane; chunk < chunks; chunk += group.lanes()) {
      float around[8] = {}, own[8] = {};
      if (is_node && reader.has(chunk)) {
        const auto raw = reader.load(own_ref, chunk);
        add_entries(sum, reader, i, chunk, around);
        reader.first_values(raw, own_ref, chunk, own);
        input.apply(own_ref.node, chunk, own);
      }
      if (sum.own_rows != nullptr && chunk < own_chunks) {
        float row[8];
#pragma unroll
        for (int c = 0; c < 8; ++c) row[c] = own[c];
        if (is_node) set_ones(in_width, chunk, row);
        store_eight(row, static_cast<Out*>(sum.own_rows) + (i * own_chunks + chunk) * 8);
      }
      if (chunk >= part_chunks) continue;
      self.apply(own_ref.node, chunk, own);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        around[c] *= weights.around;
        own[c] *= weights.own;
        if (!sum.has_own_part) around[c] += own[c];
      }
      if (sum.has_ones && is_node) set_ones(in_width, chunk, around);
      store_eight(around, operand + i * sum.width + chunk * 8);
      if (sum.has_own_part) store_eight(own, operand + i * sum.width + (part_chunks + chunk) * 8);
    }
  }
}

template <class T>
__device__ void add_row(const RowAddend& addend, std::int64_t row, std::int64_t chunk, float (&values)[8]) {
  float more[8];
  load_eight(static_cast<const T*>(addend.rows) + row * addend.stride + chunk * 8, more);
#pragma unroll
  for (int c = 0; c < 8; ++c) values[c] += more[c];
}

constexpr int kSpreadRows = 4;  // whose gradients are requested before the first is written

/// Where the gradient of a row of the grown level comes from.
struct Origin {
  NodeId node = 0;
  std::int64_t at = -1;  ///< element of the operand's gradient; below 0: none
  float weight = 0;
};

template <class Reader>
__device__ Origin origin_of(const NeighbourSum& sum, const Reader& reader, std::int64_t row, LocalId num_grown) {
  if (row >= num_grown) return {};
  const NodeId node = reader.nodes[row];
  if (row < reader.count)
    return {node, row * sum.width + (sum.has_own_part ? reader.chunks * 8 : 0),
            row_weights(sum.rule, node, reader.num_entries(row)).own};
  const std::int64_t parent = reader.growth.parent[row - reader.count];
  const RowWeights weights = row_weights(sum.rule, reader.nodes[parent], reader.num_entries(parent));
  return {node, parent * sum.width, weights.around * entry_factor(sum.rule, node)};
}

template <class T, bool kRelu>
__global__ void __launch_bounds__(kThreadsPerBlock)
    spread_kernel(LevelSource<T, kRelu> source, NeighbourSum sum, SpreadGradient spread, RowGroup group) {
  const auto reader = source.reader();
  const StepMask neighbours = StepMask::of(sum.neighbours), self = StepMask::of(sum.self);
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), groups_per_block = kThreadsPerBlock >> group.log_lanes;
  const std::int64_t capacity = reader.growth.grown_capacity;
  const LocalId num_grown = *reader.growth.num_grown;
  const std::int64_t num_seeds = spread.header->num_seeds;
  const T* const gradient = static_cast<const T*>(spread.gradient);
  for (std::int64_t first =
           (std::int64_t{blockIdx.x} * groups_per_block + (threadIdx.x >> group.log_lanes)) * kSpreadRows;
       first < capacity; first += std::int64_t{gridDim.x} * groups_per_block * kSpreadRows) {
    Origin origins[kSpreadRows];
#pragma unroll
    for (int k = 0; k < kSpreadRows; ++k) origins[k] = origin_of(sum, reader, first + k, num_grown);
    for (std::int64_t chunk = lane; chunk < reader.chunks; chunk += group.lanes()) {
      EightWords<T> raws[kSpreadRows] = {};
      unsigned bits[kSpreadRows] = {};
#pragma unroll
      for (int k = 0; k < kSpreadRows; ++k) {
        if (origins[k].at < 0) continue;
        raws[k] = EightWords<T>::load(gradient + origins[k].at + chunk * 8);
        bits[k] = reader.bits_of(first + k, chunk);
      }
#pragma unroll
      for (int k = 0; k < kSpreadRows; ++k) {
        const std::int64_t row = first + k;
        if (row >= capacity) continue;
        float values[8];
        raws[k].unpack(values);
        if (origins[k].at >= 0) {
#pragma unroll
          for (int c = 0; c < 8; ++c) values[c] *= origins[k].weight;
          const bool is_own = row < reader.count;
          (is_own ? self : neighbours).apply(origins[k].node, chunk, values);
          if (is_own && spread.self.rows != nullptr) add_row<T>(spread.self, row, chunk, values);
          if (row < num_seeds && spread.seeds.rows != nullptr) add_row<T>(spread.seeds, row, chunk, values);
          reader.backward(bits[k], values);
        }
        store_eight(values, static_cast<T*>(spread.dz) + (row * reader.chunks + chunk) * 8);
      }
    }
  }
}

// ---- host code: pick a kernel, size the grid, launch, check ----------------------------------------------

template <class Out, class Source>
void launch_sum(const Source& source, const NeighbourSum& sum, std::int64_t in_width, std::int64_t capacity,
                cudaStream_t stream) {
  const std::int64_t part_chunks = sum.width / (sum.has_own_part ? 16 : 8);
  const RowGroup group = RowGroup::make(part_chunks);
  sum_kernel<Source, Out><<<blocks_for(capacity << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      source, sum, in_width, part_chunks, group);
  cuda_check(cudaGetLastError());
}

}  // namespace

void neighbour_sum(const NeighbourSum& sum, const TableRows& rows, cudaStream_t stream) {
  with_table_source(rows, [&](const auto& source) {
    sum.type == ActivationType::kF32 ? launch_sum<float>(source, sum, rows.features.width, rows.hop.capacity, stream)
                                     : launch_sum<Bf16>(source, sum, rows.features.width, rows.hop.capacity, stream);
  });
}

void neighbour_sum(const NeighbourSum& sum, const LevelRows& rows, cudaStream_t stream) {
  require(sum.type == rows.type && sum.own_rows == nullptr, "an operand has the type of its layer");
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    launch_sum<T>(source, sum, rows.width, rows.growth.capacity, stream);
  });
}

void spread_gradient(const NeighbourSum& sum, const LevelRows& rows, const SpreadGradient& spread,
                     cudaStream_t stream) {
  const RowGroup group = RowGroup::make(rows.width / 8);
  const std::int64_t groups = (rows.growth.grown_capacity + kSpreadRows - 1) / kSpreadRows;
  const unsigned blocks = blocks_for(groups << group.log_lanes);
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    spread_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(source, sum, spread, group);
    cuda_check(cudaGetLastError());
  });
}

}  // namespace salient
