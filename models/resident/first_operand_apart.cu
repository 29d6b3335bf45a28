// models/resident/first_operand_apart.cu - see operands.h: the gather of first_operand.cu on a few multiprocessors.
//
// Work split  a block on each of a few multiprocessors, so large that nothing else fits there. A group of lanes per
//             row, a lane per chunk of eight columns; warps stride over rows.
// Access      as in first_operand.cu, with all entries of a row in flight, and the ids of the group's next row.
// Limit       latency, and the rate of instructions, most of them conversions and sums. Hence no branches, and
//             divisions are done once.
// Sync        none but the block's, once.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/operands.h"
#include "models/resident/pick.cuh"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kMaxInFlight = 8;  // entries of a row; of rows with more several times
constexpr int kApartBytes =
    120 << 10;  // of shared memory: beside it no other such block, nor a fused layer's, has room

/// Not before what is written above, nor behind what is written below: so all of a row's loads are under way together.
__device__ __forceinline__ uint4 load_word(const uint4* from) {
  uint4 word;
  asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(from));
  return word;
}
template <class Word>
__device__ __forceinline__ Word load_word(const Word* from) {
  return __ldg(from);
}

/// Eight columns of a row, as words of kPack columns.
template <class T, int kPack>
struct Eight {
  using P = Pack<T, kPack>;
  using Word = typename P::Word;
  Word words[8 / kPack];

  /// @param columns  that the row has from here on; behind them are zeros
  __device__ __forceinline__ static Eight load(const T* from, int columns) {
    Eight result{};
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i)
      if (kPack == 8 || i * kPack < columns) result.words[i] = load_word(reinterpret_cast<const Word*>(from) + i);
    return result;
  }
  __device__ __forceinline__ void add_to(float (&sums)[8], bool is_there) const {
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      float values[kPack];
      P::unpack(words[i], values);
#pragma unroll
      for (int k = 0; k < kPack; ++k)
        if (is_there) sums[i * kPack + k] += values[k];
    }
  }
};

/// No branch either, into which the compiler would move the loads of what is stored.
__device__ __forceinline__ void store_if(bool is_there, const float (&values)[8], Bf16* to) {
  alignas(16) Bf16 rounded[8];
  store_eight(values, rounded);
  const auto word = *reinterpret_cast<const uint4*>(rounded);
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %5, 0;\n @p st.global.v4.b32 [%0], {%1, %2, %3, %4};\n}" ::"l"(to),
               "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w), "r"(static_cast<int>(is_there))
               : "memory");
}

/// What a row is made of; nothing behind the level's end.
struct RowNumbers {
  NodeId own, mine;  ///< the node, and this lane's entry, which is loaded before it is known to be kept
  int kept;

  __device__ __forceinline__ static RowNumbers of(const LastHop& hop, unsigned i, unsigned count, unsigned lane) {
    RowNumbers numbers{};
    if (i < count) {
      const auto fanout = static_cast<unsigned>(hop.fanout);
      numbers.own = hop.nodes[i];
      numbers.kept = hop.num_entries[i];
      if (lane < fanout) numbers.mine = hop.entries[std::size_t{i} * fanout + lane];
    }
    return numbers;
  }
};

/// A table's rows, of at most 256 columns.
template <class T>
struct Rows {
  const T* data;
  NearRows near;
  unsigned width;
  float unit;
  RowGroup group;  ///< of at least as many lanes as a row has entries, or chunks
};

template <class T, int kPack, int kInFlight, int kThreads>
__global__ void __launch_bounds__(kThreads, 1)
    first_operand_apart_kernel(LastHop hop, Rows<T> rows, Bf16* __restrict__ out) {
  using C = Eight<T, kPack>;
  __shared__ float scales[kMaxTreeFanout + 1];
  if (threadIdx.x <= kMaxTreeFanout)
    scales[threadIdx.x] = threadIdx.x == 0 ? 0.0f : rows.unit / static_cast<float>(threadIdx.x);
  __syncthreads();
  const unsigned lanes = 1U << rows.group.log_lanes, lane = threadIdx.x & (lanes - 1);
  const unsigned in_warp = threadIdx.x % 32 >> rows.group.log_lanes, per_warp = 32U >> rows.group.log_lanes;
  const unsigned stride = gridDim.x * (kThreads / 32) * per_warp, chunks = (rows.width + 7) / 8;
  const auto count = static_cast<unsigned>(*hop.num_nodes), fanout = static_cast<unsigned>(hop.fanout);
  const unsigned chunk = min(lane, chunks - 1);  // lanes without one read another's
  const int columns = static_cast<int>(rows.width - chunk * 8);
  const char* const from = reinterpret_cast<const char*>(rows.data + chunk * 8);
  const auto row_bytes = static_cast<unsigned>(rows.width * sizeof(T));
  const auto row_of = [&](NodeId node) { return reinterpret_cast<const T*>(from + std::size_t{node} * row_bytes); };
  unsigned first = (blockIdx.x * (kThreads / 32) + threadIdx.x / 32) * per_warp;
  RowNumbers next = RowNumbers::of(hop, first + in_warp, count, lane);
  for (; first < count; first += stride) {  // all lanes of a warp together
    const RowNumbers row = next;
    const unsigned i = first + in_warp, kept = static_cast<unsigned>(row.kept);
    next = RowNumbers::of(hop, i + stride, count, lane);
    const NodeId own_row = rows.near.row_of(row.own);
    const NodeId mine = lane < kept ? rows.near.row_of(row.mine) : own_row;  // rather than a branch around a load
    float mean[8] = {}, own[8] = {};
    const C own_chunk = C::load(row_of(own_row), columns);
#pragma unroll 1
    for (unsigned at = 0; at == 0 || (kInFlight == kMaxInFlight && at < fanout); at += kInFlight) {
      C some[kInFlight];
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) {
        const NodeId entry = __shfl_sync(0xFFFFFFFF, mine, static_cast<int>(at + k), static_cast<int>(lanes));
        some[k] = C::load(row_of(entry), columns);
      }
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) some[k].add_to(mean, at + k < kept);
    }
    own_chunk.add_to(own, true);
    const float scale = scales[kept];
#pragma unroll
    for (int c = 0; c < 8; ++c) mean[c] *= scale, own[c] *= rows.unit;
    Bf16* const to = out + (std::size_t{i} * (2 * chunks) + lane) * 8;
    const bool is_mine = i < count && lane < chunks;
    store_if(is_mine, mean, to);
    store_if(is_mine, own, to + chunks * 8);
  }
}

// ---- host code: pick a kernel, launch, check -------------------------------------------------------------

struct Gather {
  LastHop hop;
  FeatureRows features;
  int multiprocessors;
  Bf16* out;
  cudaStream_t stream;
};

/// With 64 registers a thread, or 128 where rows in flight want them.
template <class T, int kPack, int kInFlight>
void launch(const Gather& g) {
  constexpr int kWordRegisters = static_cast<int>((sizeof(typename Pack<T, kPack>::Word) + 3) / 4);
  constexpr int kThreads = kInFlight * (8 / kPack) * kWordRegisters <= 20 ? 1024 : 512;
  const auto kernel = first_operand_apart_kernel<T, kPack, kInFlight, kThreads>;
  const Rows<T> rows{reinterpret_cast<const T*>(g.features.data), g.features.near,
                     static_cast<unsigned>(g.features.width), g.features.unit,
                     RowGroup::make(std::max(padded(g.features.width) / 8, g.hop.fanout))};
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kApartBytes));
  kernel<<<static_cast<unsigned>(g.multiprocessors), kThreads, kApartBytes, g.stream>>>(g.hop, rows, g.out);
  cuda_check(cudaGetLastError());
}

}  // namespace

void first_operand_apart(const LastHop& hop, const FeatureRows& features, int multiprocessors, void* out,
                         cudaStream_t stream) {
  require(features.width <= 256, "a group of lanes has a whole row");
  const Gather gather{hop, features, multiprocessors, static_cast<Bf16*>(out), stream};
  const std::byte* const data = features.data;
  const std::int64_t width = features.width;
  if (features.type == FeatureType::kF16) {
    if (!is_packable<Half, 4>(data, width)) return launch<Half, 1, 8>(gather);
    if (!is_packable<Half, 8>(data, width)) return launch<Half, 4, 8>(gather);
    // no registers for entries that are not there
    return hop.fanout <= 5 ? launch<Half, 8, 5>(gather) : launch<Half, 8, 8>(gather);
  }
  if (features.type == FeatureType::kFp8) {
    if (!is_packable<Fp8, 4>(data, width)) return launch<Fp8, 1, 8>(gather);
    return is_packable<Fp8, 8>(data, width) ? launch<Fp8, 8, 8>(gather) : launch<Fp8, 4, 8>(gather);
  }
  is_packable<float, 4>(data, width) ? launch<float, 4, 8>(gather) : launch<float, 1, 8>(gather);
}

}  // namespace salient
