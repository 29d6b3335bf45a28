// models/kernels/gatv2_rows.cu - the gradient of GATv2's attention by destination: of z_dst, and its share of att's.
//
// Work split  a thread per four words of a row, or one; blocks with a warp per listed edge, which add what
//             sources_kernel left out.
// Access      signs and the gradients of the logits of a row's edges, which lie behind each other, kRowEdgesTogether at
//             a time.
// Limit       memory: signs and z_dst read, its gradient written, once.
// Sync        a block's threads add up att's gradient in shared memory, then by atomics. Begins while sources_kernel
//             ends.
#include "models/kernels/gatv2_bins.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kRowEdgesTogether = 6;  // 5, 10 or 15 neighbours and the row itself

/// The signs of kWords words as one load.
template <int kWords>
struct SignsOf;
template <>
struct SignsOf<1> {
  using Type = std::uint8_t;
};
template <>
struct SignsOf<4> {
  using Type = std::uint32_t;
};

/// Adds what a block's threads have of words [at * kWords, at * kWords + kWords) to att's gradient.
template <int kWords>
__device__ void add_rows_part(const Gatv2Shape& shape, std::uint32_t at, bool has_row, float4 (&sums)[kWords],
                              float4* grad_att) {
  const std::uint32_t threads_per_row = shape.row_words() / kWords, lane = threadIdx.x % kWarp;
  if (kWarp % threads_per_row != 0) {
#pragma unroll
    for (int u = 0; u < kWords; ++u)
      if (has_row)
        add_atomically(grad_att + blockIdx.x % kGatv2AttParts * shape.row_words() + at * kWords + u, sums[u]);
    return;
  }
  __shared__ float4 of_warps[kWarpsPerBlock][kWarp * kWords];
#pragma unroll
  for (int u = 0; u < kWords; ++u) {
    for (std::uint32_t step = threads_per_row; step < kWarp; step *= 2)
      sums[u] = sum_of(
          sums[u], float4{__shfl_xor_sync(kAllLanes, sums[u].x, step), __shfl_xor_sync(kAllLanes, sums[u].y, step),
                          __shfl_xor_sync(kAllLanes, sums[u].z, step), __shfl_xor_sync(kAllLanes, sums[u].w, step)});
    if (lane < threads_per_row) of_warps[threadIdx.x / kWarp][lane * kWords + u] = sums[u];
  }
  add_block_part(of_warps, shape.row_words(), grad_att);
}

/// Adds listed edges to the rows that their sources have written.
__device__ void add_listed(const AttentionBins& bins, const Gatv2Shape& shape, const Gatv2Arrays& a, std::uint32_t warp,
                           std::uint32_t num_warps) {
  const std::uint32_t count = *bins.num_listed, words = shape.row_words();
  for (std::uint32_t p = warp; p < count; p += num_warps) {
    const ListedEdge at = listed_edge(bins, p);
    for (std::uint32_t w = threadIdx.x % kWarp; w < words; w += kWarp) {
      const std::size_t of_head = std::size_t{at.edge} * shape.heads + w / shape.words;
      const float grad_logit = fresh(a.grad_logits + of_head);
      const float4 terms =
          chosen(__ldg(a.signs + std::size_t{at.edge} * words + w), grad_logit, shape.slope * grad_logit);
      add_atomically(a.grad_src + std::size_t{at.source} * words + w,
                     multiply_add(__ldg(a.weights + of_head), __ldg(a.grad_out + std::size_t{at.row} * words + w),
                                  product(__ldg(a.att + w), terms)));
    }
  }
}

/// The words of one head of one row that a thread has.
template <int kWords>
struct RowWords {
  float4 of_att[kWords]{};  ///< z_dst, then its product with the sum

  /// grad_dst[row] = att * the sum over the row's edges of the logit's gradient times the slope.
  __device__ void sum(const HopEdges& hop, const Gatv2Shape& shape, const Gatv2Arrays& a, std::int64_t thread) {
    const std::uint32_t threads_per_row = shape.row_words() / kWords;
    const std::int64_t row = thread / threads_per_row;
    const auto at = static_cast<std::uint32_t>(thread % threads_per_row);
    const auto first = static_cast<std::uint32_t>(__ldg(hop.indptr + row) + row),
               last = static_cast<std::uint32_t>(__ldg(hop.indptr + row + 1) + row);
    const auto* sign =
        reinterpret_cast<const typename SignsOf<kWords>::Type*>(a.signs) + std::size_t{first} * threads_per_row + at;
    const float* logit = a.grad_logits + std::size_t{first} * shape.heads + at * kWords / shape.words;
    float4 above[kWords]{};  // the sum of what gradients are larger where raw is above 0
    float below = 0;
#pragma unroll
    for (int u = 0; u < kWords; ++u) of_att[u] = __ldcs(a.z_dst + thread * kWords + u);
    wait_for_kernel_before();
    for (std::uint32_t e = first; e <= last; e += kRowEdgesTogether) {
      std::uint32_t bits[kRowEdgesTogether];
      float grad[kRowEdgesTogether];
#pragma unroll
      for (int k = 0; k < kRowEdgesTogether; ++k) {  // behind the last one, its signs again and 0
        bits[k] = __ldcs(sign + std::size_t{min(e + k, last) - first} * threads_per_row);
        grad[k] = e + k <= last ? fresh(logit + std::size_t{e + k - first} * shape.heads) : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < kRowEdgesTogether; ++k) {
        const float low = shape.slope * grad[k], rest = grad[k] - low;  // 0 for masked edges
        below += low;
#pragma unroll
        for (int u = 0; u < kWords; ++u) above[u] = sum_of(above[u], chosen(bits[k] >> 8 * u, rest, 0.0f));
      }
    }
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      const float4 sum = sum_of(above[u], make_float4(below, below, below, below));
      __stcs(a.grad_dst + thread * kWords + u, product(__ldg(a.att + at * kWords + u), sum));
      of_att[u] = product(of_att[u], sum);
    }
  }
};

/// The first `row_blocks` blocks have rows, the others what is listed.
template <int kWords>
__global__ void __launch_bounds__(kThreadsPerBlock, 4)
    rows_kernel(HopEdges hop, AttentionBins bins, Gatv2Shape shape, Gatv2Arrays a, unsigned row_blocks) {
  if (blockIdx.x >= row_blocks) {
    wait_for_kernel_before();
    return add_listed(bins, shape, a, (blockIdx.x - row_blocks) * kWarpsPerBlock + threadIdx.x / kWarp,
                      (gridDim.x - row_blocks) * kWarpsPerBlock);
  }
  const std::uint32_t threads_per_row = shape.row_words() / kWords;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const bool has_row = thread < hop.num_dst * threads_per_row;
  RowWords<kWords> words;
  has_row ? words.sum(hop, shape, a, thread) : wait_for_kernel_before();
  add_rows_part<kWords>(shape, static_cast<std::uint32_t>(thread % threads_per_row), has_row, words.of_att, a.grad_att);
}

// ---- host code: size the grid, launch, check -------------------------------------------------------------

template <int kWords>
void sum_rows(const HopEdges& hop, const AttentionBins& bins, const Gatv2Shape& shape, const Gatv2Arrays& arrays,
              cudaStream_t stream) {
  const std::int64_t threads = hop.num_dst * shape.row_words() / kWords;
  const auto row_blocks = static_cast<unsigned>((threads + kThreadsPerBlock - 1) / kThreadsPerBlock);
  launch_behind(rows_kernel<kWords>, row_blocks + blocks_for_listed(hop), stream, hop, bins, shape, arrays, row_blocks);
}

}  // namespace

void gatv2_sum_rows(const HopEdges& hop, const AttentionBins& bins, const Gatv2Shape& shape, const Gatv2Arrays& arrays,
                    cudaStream_t stream) {
  shape.words % 4 == 0 ? sum_rows<4>(hop, bins, shape, arrays, stream) : sum_rows<1>(hop, bins, shape, arrays, stream);
}

}  // namespace salient
