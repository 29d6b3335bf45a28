// models/resident/aggregate_features_apart.cu - see operands.h: that gather on a few multiprocessors.
//
// Work split  a block on each of a few multiprocessors, so large that nothing else fits there. A group of lanes per
//             row, a lane per chunk of eight columns; warps stride over rows.
// Access      as in aggregate_features.cu, with all entries of a row in flight, and the ids of the group's next row.
// Limit       latency. Tensor cores add up, no branch is around a load, and divisions are done once: 125 instructions
//             for two rows of five entries, where sums in f32 took 224.
// Sync        none.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/operands.h"
#include "models/resident/pick.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kMaxInFlight = 8;  // entries of a row; of rows with more several times
constexpr int kApartBytes =
    120 << 10;  // of shared memory: beside it no other such block, nor a fused layer's, has room

/// Zeros if not `is_there`. Not before what is written above, nor behind what is written below: so all of a row's loads
/// are under way together.
__device__ __forceinline__ uint4 load_word(const uint4* from, bool is_there) {
  uint4 word;
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %5, 0;\n mov.b32 %0, 0;\n mov.b32 %1, 0;\n mov.b32 %2, 0;\n mov.b32 %3, 0;\n"
      " @p ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
      : "=&r"(word.x), "=&r"(word.y), "=&r"(word.z), "=&r"(word.w)
      : "l"(from), "r"(static_cast<int>(is_there)));
  return word;
}
__device__ __forceinline__ uint2 load_word(const uint2* from, bool is_there) {
  uint2 word;
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %3, 0;\n mov.b32 %0, 0;\n mov.b32 %1, 0;\n"
      " @p ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];\n}"
      : "=&r"(word.x), "=&r"(word.y)
      : "l"(from), "r"(static_cast<int>(is_there)));
  return word;
}
template <class Word>
__device__ __forceinline__ Word load_word(const Word* from, bool is_there) {
  return is_there ? __ldg(from) : Word{};
}

/// Eight columns of a row, as words of kPack columns.
template <class T, int kPack>
struct Eight {
  using P = Pack<T, kPack>;
  using Word = typename P::Word;
  Word words[8 / kPack];

  /// @param columns  that the row has from here on; behind them are zeros, as where nothing is there
  __device__ __forceinline__ static Eight load(const T* from, int columns, bool is_there) {
    Eight result{};
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i)
      result.words[i] =
          load_word(reinterpret_cast<const Word*>(from) + i, is_there && (kPack == 8 || i * kPack < columns));
    return result;
  }
};

/// What adds rows up, all lanes of a warp together.
template <class T, int kPack>
struct Adder {
  /// sums += the columns, zeros where no row is.
  __device__ __forceinline__ static void add(const Eight<T, kPack>& row, float (&sums)[8]) {
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      float values[kPack];
      Pack<T, kPack>::unpack(row.words[i], values);
#pragma unroll
      for (int k = 0; k < kPack; ++k) sums[i * kPack + k] += values[k];
    }
  }
};

/// Pairs of f16 numbers.
__device__ __forceinline__ void halves_of(const uint4& word, std::uint32_t (&halves)[4]) {
  halves[0] = word.x, halves[1] = word.y, halves[2] = word.z, halves[3] = word.w;
}
__device__ __forceinline__ void halves_of(const uint2& word, std::uint32_t (&halves)[2]) {
  halves[0] = word.x, halves[1] = word.y;
}

/// Of f16, tensor cores convert and add, in two instructions instead of sixteen. Two words of a lane are the rows g and
/// g + 8 (g = lane / 4) of a factor [16, 8] in columns 2q and 2q + 1 (q = lane % 4). Times the unit matrix they are the
/// lane's own part of the product. f32 sums are cut off instead of rounded, where f16 numbers do not fit into them.
template <int kPack>
struct HalfAdder {
  std::uint32_t unit = unit_word();  ///< rows 2q and 2q + 1 of column g

  __device__ static std::uint32_t unit_word() {
    const unsigned lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    return g == 2 * q ? 0x3C00U : g == 2 * q + 1 ? 0x3C000000U : 0U;
  }
  __device__ __forceinline__ void add(const Eight<Half, kPack>& row, float (&sums)[8]) const {
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      std::uint32_t halves[kPack / 2];
      halves_of(row.words[i], halves);
#pragma unroll
      for (int k = 0; k < kPack / 2; k += 2) add_pairs(halves[k], halves[k + 1], sums + i * kPack + 2 * k);
    }
  }
  __device__ __forceinline__ void add_pairs(std::uint32_t low, std::uint32_t high, float* sums) const {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(low), "r"(high), "r"(unit));
  }
};

/// Of fp8 the numbers are f16 numbers first.
template <int kPack>
struct Fp8Adder {
  HalfAdder<kPack> halves{};

  __device__ __forceinline__ void add(const Eight<Fp8, kPack>& row, float (&sums)[8]) const {
    Eight<Half, kPack> same;
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      if constexpr (kPack == 8)
        same.words[i] = make_uint4(pair_of(row.words[i].x), pair_of(row.words[i].x >> 16), pair_of(row.words[i].y),
                                   pair_of(row.words[i].y >> 16));
      else
        same.words[i] = make_uint2(pair_of(row.words[i]), pair_of(row.words[i] >> 16));
    }
    halves.add(same, sums);
  }
  __device__ __forceinline__ static std::uint32_t pair_of(std::uint32_t word) {
    const __half2_raw pair = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(word), __NV_E4M3);
    return pair.x | std::uint32_t{pair.y} << 16;
  }
};

template <>
struct Adder<Half, 4> : HalfAdder<4> {};
template <>
struct Adder<Half, 8> : HalfAdder<8> {};
template <>
struct Adder<Fp8, 4> : Fp8Adder<4> {};
template <>
struct Adder<Fp8, 8> : Fp8Adder<8> {};

/// at + count * size
template <class T>
__device__ __forceinline__ const T* behind(const T* at, unsigned count, unsigned size) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(at) + std::uint64_t{count} * size);
}

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
      numbers.own = __ldg(hop.nodes + i);
      numbers.kept = __ldg(hop.num_entries + i);
      if (lane < fanout) numbers.mine = __ldg(hop.entries + lane + std::uint64_t{i} * fanout);
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
    aggregate_features_apart_kernel(LastHop hop, Rows<T> rows, Bf16* __restrict__ out) {
  using C = Eight<T, kPack>;
  // lane k has that of k + 1 entries
  const float scales = rows.unit / static_cast<float>(threadIdx.x % 32 + 1);
  const unsigned lanes = 1U << rows.group.log_lanes, lane = threadIdx.x & (lanes - 1);
  const unsigned in_warp = threadIdx.x % 32 >> rows.group.log_lanes, per_warp = 32U >> rows.group.log_lanes;
  const unsigned stride = gridDim.x * (kThreads / 32) * per_warp, chunks = (rows.width + 7) / 8;
  const auto count = static_cast<unsigned>(*hop.num_nodes), fanout = static_cast<unsigned>(hop.fanout);
  const unsigned chunk = min(lane, chunks - 1);  // lanes without one read another's
  const int columns = static_cast<int>(rows.width - chunk * 8);
  const T* const from = rows.data + chunk * 8;
  const auto row_bytes = rows.width * static_cast<unsigned>(sizeof(T));
  const Adder<T, kPack> adder{};
  unsigned first = (blockIdx.x * (kThreads / 32) + threadIdx.x / 32) * per_warp;
  RowNumbers next = RowNumbers::of(hop, first + in_warp, count, lane);
  for (; first < count; first += stride) {  // all lanes of a warp together
    const RowNumbers row = next;
    const unsigned i = first + in_warp, kept = static_cast<unsigned>(row.kept);
    next = RowNumbers::of(hop, i + stride, count, lane);
    NodeId own_row = row.own, mine = row.mine;
    if (rows.near.words != nullptr) {
      own_row = rows.near.row_of(own_row);
      if (lane < kept) mine = rows.near.row_of(mine);
    }
    float mean[8] = {}, own[8] = {};
    const C own_chunk = C::load(behind(from, own_row, row_bytes), columns, i < count);
#pragma unroll 1
    for (unsigned at = 0; at == 0 || (kInFlight == kMaxInFlight && at < fanout); at += kInFlight) {
      NodeId entries[kInFlight];
      C some[kInFlight];
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k)
        entries[k] = __shfl_sync(0xFFFFFFFF, mine, static_cast<int>(at + k), static_cast<int>(lanes));
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k)
        some[k] = C::load(behind(from, entries[k], row_bytes), columns, at + k < kept);
#pragma unroll
      for (const C& each : some) adder.add(each, mean);
    }
    adder.add(own_chunk, own);
    const float scale = __shfl_sync(0xFFFFFFFF, scales, static_cast<int>(kept) - 1);
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      mean[c] *= scale;
      if (!std::is_same_v<T, Half>) own[c] *= rows.unit;  // that of f16 is 1
    }
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
  const auto kernel = aggregate_features_apart_kernel<T, kPack, kInFlight, kThreads>;
  const Rows<T> rows{reinterpret_cast<const T*>(g.features.data), g.features.near,
                     static_cast<unsigned>(g.features.width), g.features.unit,
                     RowGroup::make(std::max(padded(g.features.width) / 8, g.hop.fanout))};
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kApartBytes));
  kernel<<<static_cast<unsigned>(g.multiprocessors), kThreads, kApartBytes, g.stream>>>(g.hop, rows, g.out);
  cuda_check(cudaGetLastError());
}

}  // namespace

void aggregate_features_apart(const LastHop& hop, const FeatureRows& features, int multiprocessors, void* out,
                              cudaStream_t stream) {
  require(features.width <= 256, "a group of lanes has a whole row");
  const Gather gather{hop, features, multiprocessors, static_cast<Bf16*>(out), stream};
  const std::byte* const data = features.data;
  const std::int64_t width = features.width;
  if (features.type == FeatureType::kF16) {
    if (!is_packable<Half, 4>(data, width)) return launch<Half, 1, 8>(gather);
    // no registers for entries that are not there
    const bool is_five = hop.fanout <= 5;
    if (!is_packable<Half, 8>(data, width)) return is_five ? launch<Half, 4, 5>(gather) : launch<Half, 4, 8>(gather);
    return is_five ? launch<Half, 8, 5>(gather) : launch<Half, 8, 8>(gather);
  }
  if (features.type == FeatureType::kFp8) {
    if (!is_packable<Fp8, 4>(data, width)) return launch<Fp8, 1, 8>(gather);
    return is_packable<Fp8, 8>(data, width) ? launch<Fp8, 8, 8>(gather) : launch<Fp8, 4, 8>(gather);
  }
  is_packable<float, 4>(data, width) ? launch<float, 4, 8>(gather) : launch<float, 1, 8>(gather);
}

}  // namespace salient
