// models/resident/dropped_sum.cu - see neighbour_sum.h: sums with dropouts of their own, which neighbour_sum() calls.
//
// Work split  a group of lanes per row: the power of two up to a warp that the row's chunks of eight columns fill.
//             Lanes stride over chunks.
// Access      rows of the feature table in random order, those of a level behind each other; eight entries are in
//             flight before the first is added.
// Limit       draws: a Philox block for every mask and chunk. With registers for eight rows of a lane this is faster
//             than neighbour_sum.cu's form, which has less of them and more warps.
// Sync        none.
#include <utility>

#include "models/resident/neighbour_sum.cuh"
#include "models/resident/row_source.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 8;

/// Dropout of a row's chunk by one of the sum's masks; of a level its bits are kept for the gradient.
template <class Reader>
__device__ __forceinline__ void drop(const NeighbourSum& sum, const StepMask& mask, const Reader& reader, RowRef ref,
                                     std::int64_t chunk, float (&values)[8]) {
  if constexpr (Reader::kIsLevel) {
    const unsigned bits = mask.kept(ref.node, chunk);
    sum.drawn[ref.row * reader.chunks + chunk] = static_cast<std::uint8_t>(bits);
    keep(bits, mask.is_none() ? 1.0f : mask.mask.scale, values);
  } else {
    mask.apply(ref.node, chunk, values);
  }
}

/// Adds one chunk of the entries of row i.
template <class Reader>
__device__ void add_entries(const NeighbourSum& sum, const Reader& reader, std::int64_t i, int kept, std::int64_t chunk,
                            float (&around)[8]) {
  const StepMask input = StepMask::of(sum.input), mask = StepMask::of(sum.neighbours);
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
      drop(sum, mask, reader, refs[k], chunk, values);
      const float factor = entry_factor(sum.rule, refs[k].node);
#pragma unroll
      for (int c = 0; c < 8; ++c) around[c] += factor * values[c];
    }
  }
}

/// Blocks on a multiprocessor: as many as the registers of the rows in flight allow.
template <class Source>
constexpr int kBlocks = sizeof(typename decltype(std::declval<Source>().reader())::Raw) <= 16 ? 2 : 1;

/// @param part_chunks  of one part of the operand, ones included   @param in_width  of a source's row
template <class Source, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocks<Source>)
    dropped_sum_kernel(Source source, NeighbourSum sum, std::int64_t in_width, std::int64_t part_chunks,
                       RowGroup group) {
  const auto reader = source.reader();
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const std::int64_t own_chunks = SumRow<Out>::own_chunks_of(sum, in_width), chunks = max(part_chunks, own_chunks);
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
       i < reader.capacity(); i += std::int64_t{gridDim.x} * rows_per_block) {
    const bool is_node = i < reader.count;
    const SumRow<Out> row{sum, i, is_node, part_chunks, own_chunks, in_width};
    const int kept = is_node ? reader.num_entries(i) : 0;
    const RowRef own_ref = is_node ? reader.own(i) : RowRef{};
    const RowWeights weights =
        is_node ? row_weights(sum.rule, facts_of(sum.rule, own_ref.node), kept) : RowWeights{0, 0};
    for (std::int64_t chunk = lane; chunk < chunks; chunk += group.lanes()) {
      float around[8] = {}, own[8] = {};
      const bool is_read = is_node && reader.has(chunk);
      if (is_read) {
        const auto raw = reader.load(own_ref, chunk);
        add_entries(sum, reader, i, kept, chunk, around);
        reader.first_values(raw, own_ref, chunk, own);
        StepMask::of(sum.input).apply(own_ref.node, chunk, own);
      }
      row.store_own(chunk, own);
      if (is_read) drop(sum, StepMask::of(sum.self), reader, own_ref, chunk, own);
      row.store(chunk, weights, around, own);
    }
  }
}

// ---- host code -------------------------------------------------------------------------------------------

template <class Out, class Source>
void launch(const Source& source, const NeighbourSum& sum, std::int64_t in_width, std::int64_t capacity,
            cudaStream_t stream) {
  const std::int64_t part_chunks = (sum.width - sum.num_others) / (sum.has_own_part ? 16 : 8);
  const RowGroup group = RowGroup::make(part_chunks);
  dropped_sum_kernel<Source, Out><<<blocks_for(capacity << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      source, sum, in_width, part_chunks, group);
  cuda_check(cudaGetLastError());
}

}  // namespace

void dropped_sum(const NeighbourSum& sum, const TableRows& rows, cudaStream_t stream) {
  with_table_source(rows, [&](const auto& source) {
    sum.type == ActivationType::kF32 ? launch<float>(source, sum, rows.features.width, rows.hop.capacity, stream)
                                     : launch<Bf16>(source, sum, rows.features.width, rows.hop.capacity, stream);
  });
}

void dropped_sum(const NeighbourSum& sum, const LevelRows& rows, cudaStream_t stream) {
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    launch<T>(source, sum, rows.width, rows.growth.capacity, stream);
  });
}

}  // namespace salient
