// models/resident/neighbour_sum.cu - see neighbour_sum.h.
//
// Work split  a group of lanes per row, a power of two up to a warp; lanes stride over chunks of eight columns. In a
//             sum each lane finds one entry and its factor for the group, in a gradient the origin of one row's.
// Access      rows of the feature table in random order, those of a level behind each other; four or five entries are
//             in flight before the first is added, four rows of a gradient before the first is written.
// Limit       memory.
// Sync        shuffles in a group.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "models/resident/lane.cuh"
#include "models/resident/neighbour_sum.cuh"
#include "models/resident/row_source.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// Adds eight columns of the rows of row i's entries. All lanes of the group call it, those behind the row's end too:
/// each asks for an entry, and tells it to the others.
template <class Reader>
__device__ __forceinline__ void add_entries(const NeighbourSum& sum, const Reader& reader, std::int64_t i,
                                            std::int64_t chunk, Lane lane, float (&around)[8]) {
  constexpr int kInFlight = Reader::kInFlight;
  const int kept = reader.num_entries(i);
  for (int first = 0; first < kept; first += lane.count) {
    const int here = min(kept - first, lane.count);
    RowRef mine{};
    float factor = 1;
    if (lane.index < here) {
      mine = reader.entry(i, first + lane.index);
      factor = entry_factor(sum.rule, mine.node);
    }
    for (int at = 0; at < here; at += kInFlight) {
      typename Reader::Raw raws[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const RowRef ref{0, lane.from(at + k, mine.row)};
        if (at + k < here) raws[k] = reader.load(ref, chunk);
      }
      unsigned bits = 0;  // of the layer's own dropout
      if constexpr (Reader::kIsLevel)
        if (Reader::kIsRelu)
          bits = reader.mask.kept_of_four(lane, chunk, [&](int k) { return lane.from(at + k, mine.node); });
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const RowRef ref{lane.from(at + k, mine.node), lane.from(at + k, mine.row)};
        const float weight = lane.from(at + k, factor);
        if (at + k >= here) continue;
        float values[8];
        if constexpr (Reader::kIsLevel)
          reader.first_values(raws[k], ref, chunk, bits >> 8 * k & 0xFF, values);
        else
          reader.first_values(raws[k], ref, chunk, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) around[c] += weight * values[c];
      }
    }
  }
}

/// Blocks on a multiprocessor: as many as the registers of the rows in flight allow.
template <class Source>
constexpr int kSumBlocks = sizeof(typename decltype(std::declval<Source>().reader())::Raw) <= 16 ? 3 : 2;

/// @param part_chunks  of one part of the operand, ones included   @param in_width  of a source's row
template <class Source, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock, kSumBlocks<Source>)
    sum_kernel(Source source, NeighbourSum sum, std::int64_t in_width, std::int64_t part_chunks, RowGroup group) {
  const auto reader = source.reader();
  const Lane lane = Lane::of(group);
  const std::int64_t rows_per_block = kThreadsPerBlock >> group.log_lanes;
  const std::int64_t own_chunks = SumRow<Out>::own_chunks_of(sum, in_width), chunks = max(part_chunks, own_chunks);
  for (std::int64_t i = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes);
       i < reader.capacity(); i += std::int64_t{gridDim.x} * rows_per_block) {
    const bool is_node = i < reader.count;
    const SumRow<Out> row{sum, i, is_node, part_chunks, own_chunks, in_width};
    const int kept = is_node ? reader.num_entries(i) : 0;
    const RowRef own_ref = is_node ? reader.own(i) : RowRef{};
    const NodeFacts facts = is_node ? facts_of(sum.rule, own_ref.node) : NodeFacts{};
    for (std::int64_t chunk = lane.index; (chunk - lane.index) < chunks; chunk += lane.count) {
      float around[8] = {}, own[8] = {};
      const bool is_read = is_node && reader.has(chunk);
      typename decltype(source.reader())::Raw raw{};
      if (is_read) raw = reader.load(own_ref, chunk);
      if (is_node && reader.has(chunk - lane.index)) add_entries(sum, reader, i, chunk, lane, around);
      if (is_read) reader.first_values(raw, own_ref, chunk, own);
      row.store_own(chunk, own);
      row.store(chunk, is_node ? row_weights(sum.rule, facts, kept) : RowWeights{0, 0}, around, own);
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
constexpr int kOriginRows = 8;  // of a group's turn, at most: each has a lane that finds its origin

/// Where the gradient of a row of the grown level comes from.
struct Origin {
  std::int64_t at = -1;  ///< element of the operand's gradient; below 0: none
  float weight = 0;

  __device__ Origin from(Lane lane, int index) const { return {lane.from(index, at), lane.from(index, weight)}; }
};

template <class Reader>
__device__ Origin origin_of(const NeighbourSum& sum, const Reader& reader, std::int64_t row, LocalId num_grown) {
  if (row >= num_grown) return {};
  const NodeId node = reader.nodes[row];
  if (row < reader.count)
    return {row * sum.width + (sum.has_own_part ? reader.chunks * 8 : 0),
            row_weights(sum.rule, facts_of(sum.rule, node), reader.num_entries(row)).own};
  const std::int64_t parent = reader.growth.parent[row - reader.count];
  const float factor = entry_factor(sum.rule, node);
  const RowWeights weights =
      row_weights(sum.rule, facts_of(sum.rule, reader.nodes[parent]), reader.num_entries(parent));
  return {parent * sum.width, weights.around * factor};
}

__device__ void load_bits(const MaskedRows& of, std::int64_t at, unsigned& kept, unsigned& positive) {
  kept = of.kept == nullptr ? 0xFF : of.kept[at];
  positive = of.positive[at];
}

/// Stores a chunk of MaskedRows. @param at  the chunk, over all rows   @param kept, positive  its bits
__device__ void store_masked(const MaskedRows& to, std::int64_t at, unsigned kept, unsigned positive,
                             float (&values)[8]) {
  keep(kept, to.scale, values);
#pragma unroll
  for (int c = 0; c < 8; ++c)
    if ((positive >> c & 1) == 0) values[c] *= to.slope;
  store_eight(values, static_cast<Bf16*>(to.rows) + at * 8);
}

template <class T, bool kRelu, bool kHasDropout, bool kHasMasked>
__global__ void __launch_bounds__(kThreadsPerBlock)
    spread_kernel(LevelSource<T, kRelu> source, NeighbourSum sum, AggregateBackward spread, RowGroup group) {
  const auto reader = source.reader();
  const Lane lane = Lane::of(group);
  const int rows_of_group = min(lane.count, kOriginRows), groups_per_block = kThreadsPerBlock >> group.log_lanes;
  const std::int64_t capacity = reader.growth.grown_capacity;
  const LocalId num_grown = *reader.growth.num_grown;
  const std::int64_t num_seeds = spread.header->num_seeds;
  const T* const gradient = static_cast<const T*>(spread.gradient);
  for (std::int64_t begin =
           (std::int64_t{blockIdx.x} * groups_per_block + (threadIdx.x >> group.log_lanes)) * rows_of_group;
       begin < capacity; begin += std::int64_t{gridDim.x} * groups_per_block * rows_of_group) {
    Origin mine;
    if (lane.index < rows_of_group) mine = origin_of(sum, reader, begin + lane.index, num_grown);
    for (int done = 0; done < rows_of_group; done += kSpreadRows) {
      const std::int64_t first = begin + done;
      Origin origins[kSpreadRows];
#pragma unroll
      for (int k = 0; k < kSpreadRows; ++k) {
        origins[k] = mine.from(lane, done + k);
        if (done + k >= rows_of_group) origins[k].at = -1;
      }
      for (std::int64_t chunk = lane.index; chunk < reader.chunks; chunk += lane.count) {
        EightWords<T> raws[kSpreadRows] = {};
        unsigned bits[kSpreadRows] = {}, drawn[kSpreadRows] = {}, kept[kSpreadRows] = {}, positive[kSpreadRows] = {};
#pragma unroll
        for (int k = 0; k < kSpreadRows; ++k) {
          if (origins[k].at < 0) continue;
          raws[k] = EightWords<T>::load(gradient + origins[k].at + chunk * 8);
          bits[k] = reader.bits_of(first + k, chunk);
          if constexpr (kHasDropout) drawn[k] = sum.drawn[(first + k) * reader.chunks + chunk];
          if constexpr (kHasMasked) load_bits(spread.masked, (first + k) * reader.chunks + chunk, kept[k], positive[k]);
        }
#pragma unroll
        for (int k = 0; k < kSpreadRows; ++k) {
          const std::int64_t row = first + k;
          if (done + k >= rows_of_group || row >= capacity) continue;
          float values[8];
          raws[k].unpack(values);
          if (origins[k].at >= 0) {
#pragma unroll
            for (int c = 0; c < 8; ++c) values[c] *= origins[k].weight;
            const bool is_own = row < reader.count;
            if constexpr (kHasDropout) keep(drawn[k], (is_own ? sum.self : sum.neighbours).scale, values);
            if (is_own && spread.self.rows != nullptr) add_row<T>(spread.self, row, chunk, values);
            if (row < num_seeds && spread.seeds.rows != nullptr) add_row<T>(spread.seeds, row, chunk, values);
            reader.backward(bits[k], values);
          }
          store_eight(values, static_cast<T*>(spread.dz) + (row * reader.chunks + chunk) * 8);
          if constexpr (kHasMasked)
            store_masked(spread.masked, row * reader.chunks + chunk, kept[k], positive[k], values);
        }
      }
    }
  }
}

// ---- host code: pick a kernel, size the grid, launch, check ----------------------------------------------

template <class Out, class Source>
void launch_sum(const Source& source, const NeighbourSum& sum, std::int64_t in_width, std::int64_t capacity,
                cudaStream_t stream) {
  const std::int64_t part_chunks = (sum.width - sum.num_others) / (sum.has_own_part ? 16 : 8);
  const RowGroup group = RowGroup::make(std::max<std::int64_t>(part_chunks, 8));  // lanes for several entries
  sum_kernel<Source, Out><<<blocks_for(capacity << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      source, sum, in_width, part_chunks, group);
  cuda_check(cudaGetLastError());
}

}  // namespace

void neighbour_sum(const NeighbourSum& sum, const TableRows& rows, cudaStream_t stream) {
  if (has_dropout(sum)) return dropped_sum(sum, rows, stream);
  with_table_source(rows, [&](const auto& source) {
    sum.type == ActivationType::kF32 ? launch_sum<float>(source, sum, rows.features.width, rows.hop.capacity, stream)
                                     : launch_sum<Bf16>(source, sum, rows.features.width, rows.hop.capacity, stream);
  });
}

void neighbour_sum(const NeighbourSum& sum, const LevelRows& rows, cudaStream_t stream) {
  require(sum.type == rows.type && sum.own_rows == nullptr, "an operand has the type of its layer");
  require(sum.input.threshold == 0, "only rows of the table have an input dropout");
  require(!has_dropout(sum) || sum.drawn != nullptr, "dropouts of a layer's rows are kept for the gradient");
  if (has_dropout(sum)) return dropped_sum(sum, rows, stream);
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    launch_sum<T>(source, sum, rows.width, rows.growth.capacity, stream);
  });
}

void aggregate_backward(const NeighbourSum& sum, const LevelRows& rows, const AggregateBackward& spread,
                        cudaStream_t stream) {
  const RowGroup group = RowGroup::make(rows.width / 8);
  const std::int64_t of_group = std::min(group.lanes(), kOriginRows);
  const std::int64_t groups = (rows.growth.grown_capacity + of_group - 1) / of_group;
  const unsigned blocks = blocks_for(groups << group.log_lanes);
  with_level_source(rows, [&]<class T, bool kRelu>(const LevelSource<T, kRelu>& source) {
    auto kernel = has_dropout(sum) ? spread_kernel<T, kRelu, true, false> : spread_kernel<T, kRelu, false, false>;
    constexpr bool kMayBeMasked = std::is_same_v<T, Bf16> && !kRelu;
    require(kMayBeMasked || spread.masked.rows == nullptr, "masked rows are in bf16, and read as they are");
    if constexpr (kMayBeMasked)
      if (spread.masked.rows != nullptr)
        kernel = has_dropout(sum) ? spread_kernel<T, kRelu, true, true> : spread_kernel<T, kRelu, false, true>;
    kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(source, sum, spread, group);
    cuda_check(cudaGetLastError());
  });
}

}  // namespace salient
