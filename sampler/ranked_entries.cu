// sampler/ranked_entries.cu - see ranked_entries.h.
//
// A row's entries are ranked, by LABOR by the 64 bits (shared number, id), by weights by the 32 of a race's finish, a
// positive float, whose bits order as the floats do. Eight bits at a time, from the highest, a histogram says which
// value the last kept entry has there, until all entries that begin like it are kept; mostly after one or two passes,
// of finishes after two or three. Ranks are computed anew in each pass: that is cheaper than to keep them.
//
// Work split  a warp per row, a lane per entry; grid stride.
// Access      a row is read in order, 128 bytes at a time.
// Limit       arithmetic: 20 multiplications an entry and pass; of weights a division and a polynomial more.
// Sync        none beyond the warp.
#include <algorithm>
#include <type_traits>

#include "core/cuda/cuda.h"
#include "sampler/race.h"
#include "sampler/ranked_entries.h"

namespace salient {
namespace {

constexpr int kWarp = 32, kWarps = 8;
constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr unsigned kAllLanes = 0xFFFFFFFF;
constexpr std::int64_t kMaxBlocks = 1 << 16;

// ---- device code -----------------------------------------------------------------------------------------

/// A row, and what of it can be drawn.
template <class Part>
struct Row {
  const NodeId* entries;
  Part part;
  std::uint32_t count;

  __device__ NodeId entry(std::uint32_t e) const { return entries[part.place(e)]; }
};

/// Entries whose rank without its last `shift` bits is below `start` are kept, and the first `num_equal` of those
/// that have it.
struct Cut {
  std::uint64_t start = 0;
  std::uint32_t num_equal = 0;
  int shift = 0;
};

/// Draw::kLabor: by the number that all rows of a hop and slot share, of equal ones by the id.
template <class Part>
struct LaborRanks {
  static constexpr int kBits = 64;
  BatchKey key;
  std::uint32_t word;
  Row<Part> row;

  __device__ static LaborRanks make(const DeviceValuedCsr&, BatchKey key, const HopRow& at, const Row<Part>& row) {
    return {key, at.word, row};
  }
  __device__ std::uint64_t rank_of(std::uint32_t e) const {
    const NodeId neighbor = row.entry(e);
    return std::uint64_t{shared_number(key, word, neighbor)} << 32 | neighbor;
  }
};

/// Draw::kWeighted: by when the entry finishes; of weight 0 behind all others.
template <class Part>
struct RaceRanks {
  static constexpr int kBits = 32;
  BatchKey key;
  std::uint32_t word;
  NodeId dst;
  Part part;
  const float* weights;  // of the whole row

  __device__ static RaceRanks make(const DeviceValuedCsr& graph, BatchKey key, const HopRow& at, const Row<Part>& row) {
    return {key, at.word, at.dst, row.part, graph.weights_of(at.row)};
  }
  __device__ std::uint64_t rank_of(std::uint32_t e) const {
    constexpr std::uint32_t kNever = 0x7FFFFFFF;  // behind infinity
    const std::uint32_t place = part.place(e);
    const float weight = weights[place];
    if (!(weight > 0)) return kNever;
    return __float_as_uint(__fdiv_rn(race_length(race_word(key, word, dst, place)), weight));
  }
};

/// The value at which the sum of `counts` reaches `wanted`, and the sum before it.
__device__ void find_digit(const std::uint32_t* counts, std::uint32_t wanted, int lane, std::uint32_t& digit,
                           std::uint32_t& before) {
  constexpr int kPerLane = kDigits / kWarp;
  std::uint32_t own = 0;
  for (int i = 0; i < kPerLane; ++i) own += counts[lane * kPerLane + i];
  std::uint32_t up_to = own;
  for (int step = 1; step < kWarp; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(kAllLanes, up_to, step);
    if (lane >= step) up_to += below;
  }
  const int finder = __ffs(static_cast<int>(__ballot_sync(kAllLanes, up_to >= wanted))) - 1;
  digit = lane * kPerLane;
  before = up_to - own;
  if (lane == finder)
    while (before + counts[digit] < wanted) before += counts[digit++];
  digit = __shfl_sync(kAllLanes, digit, finder);
  before = __shfl_sync(kAllLanes, before, finder);
}

/// @param counts  [kDigits] shared memory of this warp
template <class Part, class Ranks>
__device__ Cut find_cut(const Row<Part>& row, const Ranks& ranks, std::uint32_t* counts, int lane) {
  Cut cut{.num_equal = row.count, .shift = Ranks::kBits};
  for (bool is_found = false; !is_found && cut.shift > 0;) {
    for (int i = lane; i < kDigits; i += kWarp) counts[i] = 0;
    __syncwarp();
    const bool is_first = cut.shift == Ranks::kBits;
    const int shift = cut.shift - kDigitBits;
    for (std::uint32_t e = static_cast<std::uint32_t>(lane); e < row.part.length; e += kWarp) {
      const std::uint64_t start = ranks.rank_of(e) >> shift;
      if (is_first || start >> kDigitBits == cut.start) atomicAdd(&counts[start & (kDigits - 1)], 1u);
    }
    __syncwarp();
    std::uint32_t digit, before;
    find_digit(counts, cut.num_equal, lane, digit, before);
    cut = {cut.start << kDigitBits | digit, cut.num_equal - before, shift};
    is_found = counts[digit] == cut.num_equal;
    __syncwarp();
  }
  return cut;
}

template <class Part, class Ranks>
__device__ void write_kept(const Row<Part>& row, const Cut& cut, const Ranks& ranks, int lane, NodeId* out) {
  const unsigned lanes_before = (1u << lane) - 1;
  std::uint32_t num_kept = 0, num_equal = 0;
  for (std::uint32_t first = 0; first < row.part.length; first += kWarp) {
    const std::uint32_t e = first + static_cast<std::uint32_t>(lane);
    const bool is_entry = e < row.part.length;
    const std::uint64_t start = is_entry ? ranks.rank_of(e) >> cut.shift : 0;
    const bool is_equal = is_entry && start == cut.start;
    const unsigned equals = __ballot_sync(kAllLanes, is_equal);
    const bool is_among_first = num_equal + __popc(equals & lanes_before) < cut.num_equal;
    const bool is_kept = is_entry && (start < cut.start || (is_equal && is_among_first));
    const unsigned keeps = __ballot_sync(kAllLanes, is_kept);
    if (is_kept) out[num_kept + __popc(keeps & lanes_before)] = row.entry(e);
    num_kept += __popc(keeps);
    num_equal += __popc(equals);
  }
}

template <template <class> class RanksOf, class Rows>
__global__ void __launch_bounds__(kWarp* kWarps)
    ranked_kernel(DeviceValuedCsr graph, BatchKey key, Rows rows, LocalId num_rows,
                  const std::int64_t* __restrict__ offsets, NodeId* __restrict__ kept) {
  __shared__ std::uint32_t counts[kWarps][kDigits];
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kWarps + warp; i < num_rows; i += std::int64_t{gridDim.x} * kWarps) {
    const HopRow at = rows.at(static_cast<LocalId>(i));
    const auto part = rows.part(graph, static_cast<LocalId>(i), at);
    using Part = std::remove_const_t<decltype(part)>;
    const Row<Part> row{graph.row(at.row), part, static_cast<std::uint32_t>(offsets[i + 1] - offsets[i])};
    const auto ranks = RanksOf<Part>::make(graph, key, at, row);
    NodeId* const out = kept + offsets[i];
    if (row.count == row.part.length)
      for (std::uint32_t e = static_cast<std::uint32_t>(lane); e < row.part.length; e += kWarp) out[e] = row.entry(e);
    else if (row.count > 0)
      write_kept(row, find_cut(row, ranks, counts[warp], lane), ranks, lane, out);
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void pick_ranked_entries(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop, cudaStream_t stream) {
  if (hop.num_rows == 0) return;  // CUDA refuses a grid of zero blocks
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (std::int64_t{hop.num_rows} + kWarps - 1) / kWarps));
  with_rows(rule, hop, [&]<class Rows>(const Rows& rows) {
    const auto kernel =
        rule.draw == Draw::kWeighted ? &ranked_kernel<RaceRanks, Rows> : &ranked_kernel<LaborRanks, Rows>;
    kernel<<<blocks, kWarp * kWarps, 0, stream>>>(graph, rule.key, rows, hop.num_rows, hop.offsets, hop.kept);
  });
  cuda_check(cudaGetLastError());
}

}  // namespace salient
