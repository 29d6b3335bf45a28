// models/kernels/segment_bins.cu - the gradient of neighbour sums, where every row of the result is written once.
//
// From a run of the kernel workbench on an H200 (Astra's method): workbench/results/segment_mean_backward-astra.
//
// Work split  gather_kernel: a warp per four sources, whose bins are 32 words, one per lane; lanes stride over the
//             words of the rows. spilled_kernel: a warp per entry that found its bin full.
// Access      count and rows of a source come with one load. The rows of four sources are requested together,
//             kRowsInFlight at a time, before the first is added. Results leave the L2 cache before
//             grad_out.
// Limit       edges * width values read, most of them from the L2 cache, num_src * width written, 64 bytes a source for
//             the bins. The run's kernel is 1.6 times as fast as atomics to each neighbour's row.
// Sync        none between sources, whose terms are added in any order; f32 atomics for entries beyond kEntriesPerBin.
#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/segment_bins.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kRowsInFlight = 8;
constexpr std::uint32_t kWarp = 32, kBinsPerWarp = 4, kSourcesPerBlock = kThreadsPerBlock / kWarp * kBinsPerWarp;
constexpr int kBlocksPerMultiprocessor = 4;  // of gather_kernel: 64 registers a thread
constexpr unsigned kAllLanes = 0xFFFFFFFF;

/// 1 / x for x >= 1, without the branch of a division between requests for rows: an approximation, a step of Newton's.
__device__ float reciprocal(float x) {
  const float r = __fdividef(1.0f, x);
  return fmaf(fmaf(-x, r, 1.0f), r, r);
}

__device__ float scale_of(Reduce reduce, LocalId num_entries) {
  return reduce == Reduce::kSum ? 1.0f : reciprocal(static_cast<float>(num_entries));
}

/// What the lanes of a warp hold of its four bins: lane 8 * b + 1 + k has row k of bin b.
struct RowsOfBins {
  unsigned lanes;       ///< those that have a row
  LocalId row;          ///< this lane's; 0 if it has none
  LocalId num_entries;  ///< of that row
};

__device__ RowsOfBins rows_of(const HopEdges& hop, LocalId word, std::uint32_t lane) {
  const std::uint32_t slot = lane % 8;
  const auto count = static_cast<std::uint32_t>(__shfl_sync(kAllLanes, word, lane - slot));  // all lanes take part
  const bool has_row = slot >= 1 && slot <= count;
  const LocalId row = has_row ? word : 0;
  return {__ballot_sync(kAllLanes, has_row), row, __ldg(hop.indptr + row + 1) - __ldg(hop.indptr + row)};
}

/// The sums of a warp's sources in one column of words, one source after the other.
template <class Word>
struct ColumnSums {
  Word* out;  ///< the column in the present source's row; nothing is written where is_active is false
  std::uint32_t row_words;
  bool is_active;
  std::uint32_t bin = 0;
  Word sum{};

  __device__ void write_up_to(std::uint32_t next_bin) {
#pragma unroll 1
    for (; bin < next_bin; ++bin) {
      if (is_active) __stcs(out, sum);
      out += row_words;
      sum = Word{};
    }
  }
};

/// Requests one column of the first kCount rows of those that the lanes in `rest` hold. Where there are fewer, row 0 or
/// another is read in vain: compilers make a conditional request wait for the one before, which costs more.
template <int kCount, class Word>
__device__ void request(Word (&words)[kCount], unsigned rest, LocalId row_of_lane, const Word* __restrict__ column,
                        const ColumnSums<Word>& sums) {
#pragma unroll
  for (int k = 0; k < kCount; ++k, rest &= rest - 1) {
    const auto row = static_cast<std::size_t>(__shfl_sync(kAllLanes, row_of_lane, __ffs(rest) - 1));
    words[k] = __ldg(column + row * sums.row_words);
  }
}

/// Adds them, and takes their lanes out of `rest`. All branches are the same for a warp.
template <int kCount, class Word>
__device__ void add(const Word (&words)[kCount], unsigned& rest, float scale_of_lane, ColumnSums<Word>& sums) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (rest != 0) {
      const int lane = __ffs(rest) - 1;
      const float scale = __shfl_sync(kAllLanes, scale_of_lane, lane);
      sums.write_up_to(lane / 8);
      sums.sum = multiply_add(scale, words[k], sums.sum);
      rest &= rest - 1;
    }
  }
}

/// Writes the sums of a warp's sources in one column.
template <class Word>
__device__ void sum_column(const RowsOfBins& rows, Reduce reduce, const Word* __restrict__ column,
                           ColumnSums<Word>& sums, std::uint32_t num_bins) {
  unsigned rest = rows.lanes;
  Word words[kRowsInFlight];
  request(words, rest, rows.row, column, sums);
  const float scale = scale_of(reduce, rows.num_entries);  // read while the rows are on their way
  add(words, rest, scale, sums);
#pragma unroll 1
  while (rest != 0) {  // rare: more than two rows a source
    Word more[kRowsInFlight / 2];
    request(more, rest, rows.row, column, sums);
    add(more, rest, scale, sums);
  }
  sums.write_up_to(num_bins);
}

/// Numbers of sources and words have 32 bits here, as registers are short.
template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerMultiprocessor)
    gather_kernel(HopEdges hop, Reduce reduce, const Word* __restrict__ grad_out, std::uint32_t row_words,
                  const LocalId* __restrict__ bins, Word* __restrict__ grad_x) {
  const auto num_src = static_cast<std::uint32_t>(hop.num_src);
  const std::uint32_t stride = gridDim.x * kSourcesPerBlock, lane = threadIdx.x % kWarp;
  const auto word_at = [&](std::uint32_t first) {
    return first + lane / 8 < num_src ? __ldcs(bins + std::size_t{first} * 8 + lane) : 0;
  };
  std::uint32_t first = blockIdx.x * kSourcesPerBlock + threadIdx.x / kWarp * kBinsPerWarp;
  LocalId word = word_at(first);
  for (; first < num_src; first += stride) {
    const LocalId next_word = word_at(first + stride);
    const RowsOfBins rows = rows_of(hop, word, lane);
    for (std::uint32_t w = lane; w - lane < row_words; w += kWarp) {
      ColumnSums<Word> sums{grad_x + std::size_t{first} * row_words + w, row_words, w < row_words};
      sum_column(rows, reduce, grad_out + min(w, row_words - 1), sums, min(num_src - first, kBinsPerWarp));
    }
    word = next_word;
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    spilled_kernel(HopEdges hop, Reduce reduce, const Word* __restrict__ grad_out, std::int64_t row_words, Bins bins,
                   Word* __restrict__ grad_x) {
  const LocalId count = *bins.num_spilled;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  for (std::int64_t s = thread / kWarp; s < count; s += std::int64_t{gridDim.x} * kThreadsPerBlock / kWarp) {
    const auto [source, row] = bins.spilled[s];
    const float scale = scale_of(reduce, __ldg(hop.indptr + row + 1) - __ldg(hop.indptr + row));
    for (std::int64_t w = thread % kWarp; w < row_words; w += kWarp)
      add_atomically(grad_x + source * row_words + w, scaled(__ldg(grad_out + row * row_words + w), scale));
  }
}

// ---- host code: pick a word, size the grids, launch, check -----------------------------------------------

template <class Word>
void gather(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width, float* grad_x,
            const BackwardStream& on) {
  const std::int64_t row_words = width * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const unsigned resident = blocks_on_device(kBlocksPerMultiprocessor);
  gather_kernel<Word><<<std::min(resident, blocks_for(hop.num_src * kThreadsPerBlock / kSourcesPerBlock)),
                        kThreadsPerBlock, 0, on.stream>>>(hop, reduce, as_words<Word>(grad_out),
                                                          static_cast<std::uint32_t>(row_words), on.bins.memory,
                                                          as_words<Word>(grad_x));
  cuda_check(cudaGetLastError());
  spilled_kernel<Word><<<resident, kThreadsPerBlock, 0, on.stream>>>(
      hop, reduce, as_words<Word>(grad_out), row_words, Bins::make(on.bins, hop.num_src), as_words<Word>(grad_x));
  cuda_check(cudaGetLastError());
}

}  // namespace

void segment_reduce_backward_binned(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                                    float* grad_x, const BackwardStream& on) {
  bin_by_source(hop, Bins::make(on.bins, hop.num_src), on.stream);
  is_packable<float, 4>(grad_out, width) && is_packable<float, 4>(grad_x, width)
      ? gather<float4>(hop, reduce, grad_out, width, grad_x, on)
      : gather<float>(hop, reduce, grad_out, width, grad_x, on);
}

}  // namespace salient
