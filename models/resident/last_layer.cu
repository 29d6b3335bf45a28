// models/resident/last_layer.cu - see last_layer.h.
//
// Work split  a block per 16 seeds, a warp per seed for its rows and its loss; in the two products a warp has classes,
//             then columns of the operand.
// Access      rows of the layer below and the weight come from the L2 cache, 8 or 16 bytes a lane. The order of a
//             product's terms is free: lanes take those that lie behind each other.
// Limit       latency: of reading rows, then the weight twice.
// Sync        the block's, between rows, product, loss, product, rows.
#include "core/error.h"
#include "models/products/eight_columns.cuh"
#include "models/resident/activation.cuh"
#include "models/resident/last_layer.h"
#include "models/resident/seed_loss.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kSeeds = 16, kWarps = kSeeds, kThreads = kWarps * 32, kChunks = kLastLayerWidth / 8;
constexpr int kColumns = 2 * kLastLayerWidth, kInFlight = 8;
static_assert(kChunks == 32, "a lane has eight columns of a row");

/// Rows are so much longer that the lanes of a load meet in no bank.
struct Memory {
  alignas(16) Bf16 operand[kSeeds][kColumns + 32];  ///< then its gradient
  alignas(16) float logits[kSeeds][kMaxLastClasses + 8];
  alignas(16) Bf16 gradient[kSeeds][kMaxLastClasses + 8];  ///< of the logits
};

/// A lane's place in the fragments of a product.
struct Lane {
  int index, group, quad;

  __device__ static Lane of_thread() {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    return {lane, lane / 4, lane % 4};
  }
};

/// d [16, 8] += A [16, 16] * B [16, 8]. A's registers are rows (group, group + 8) at terms 2 * quad and the next, then
/// both at 8 terms more; B's are column `group` at the same terms; d's are rows (group, group + 8), columns 2 * quad
/// and the next.
__device__ __forceinline__ void product(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                        std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ std::uint32_t word_at(const Bf16* from) {
  return *reinterpret_cast<const std::uint32_t*>(from);
}

/// values = activation of a lane's columns of a row of z. Keeps its bits.
__device__ __forceinline__ void activate_row(const HiddenLayer& below, const DropoutMask& mask, std::int64_t row,
                                             const uint4& z, float (&values)[8]) {
  const std::int64_t lane = threadIdx.x & 31;
  load_eight(reinterpret_cast<const Bf16*>(&z), values);
  below.kept[row * kChunks + lane] = activate(below.dropout, mask, below.nodes[row], lane, values);
}

/// The operand's row of seed i.
__device__ __forceinline__ void load_rows(const LastLayer& p, const uint4* __restrict__ z, LocalId i, Bf16* row) {
  const HiddenLayer& below = p.below;
  const TreeDropout& dropout = below.dropout;
  const DropoutMask mask{dropout.header->seed, dropout.header->global_step, dropout.layer, dropout.threshold,
                         dropout.scale};
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const LocalId count = *below.growth.num_nodes;
  float mean[8] = {}, own[8] = {};
  if (i < count) {
    const LocalId first = below.growth.first_child[i], children = below.growth.first_child[i + 1] - first;
    const uint4 own_words = z[std::int64_t{i} * kChunks + lane];
    for (LocalId at = 0; at < children; at += kInFlight) {
      uint4 words[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (at + k < children) words[k] = z[(std::int64_t{count} + first + at + k) * kChunks + lane];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (at + k >= children) continue;
        float values[8];
        activate_row(below, mask, std::int64_t{count} + first + at + k, words[k], values);
#pragma unroll
        for (int c = 0; c < 8; ++c) mean[c] += values[c];
      }
    }
    activate_row(below, mask, i, own_words, own);
    const float share = children == 0 ? 0.0f : 1.0f / static_cast<float>(children);
#pragma unroll
    for (int c = 0; c < 8; ++c) mean[c] *= share;
  }
  store_eight(mean, row + lane * 8);
  store_eight(own, row + kLastLayerWidth + lane * 8);
  if (i >= below.growth.capacity) return;
  Bf16* const out = static_cast<Bf16*>(p.operand) + std::int64_t{i} * kColumns + lane * 8;
  store_eight(mean, out);
  store_eight(own, out + kLastLayerWidth);
}

/// logits = operand * weight^T. Of 32 terms a lane has eight behind each other, which are two products' terms.
__device__ __forceinline__ void multiply(Memory& memory, const Bf16* __restrict__ weight, int classes, int warp,
                                         Lane lane) {
  for (int first = warp * 8; first < classes; first += kWarps * 8) {
    float sums[2][4] = {};
    const Bf16* const row = weight + std::int64_t{first + lane.group} * kColumns + lane.quad * 8;
#pragma unroll 8
    for (int k = 0; k < kColumns; k += 32) {
      const uint4 b = *reinterpret_cast<const uint4*>(row + k);
      const uint4 low = *reinterpret_cast<const uint4*>(&memory.operand[lane.group][k + lane.quad * 8]);
      const uint4 high = *reinterpret_cast<const uint4*>(&memory.operand[lane.group + 8][k + lane.quad * 8]);
      product(sums[0], {low.x, high.x, low.y, high.y}, b.x, b.y);
      product(sums[1], {low.z, high.z, low.w, high.w}, b.z, b.w);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(&memory.logits[lane.group + half * 8][first + lane.quad * 2]) =
          make_float2(sums[0][half * 2] + sums[1][half * 2], sums[0][half * 2 + 1] + sums[1][half * 2 + 1]);
  }
}

/// The loss of seed i, and the gradient of its logits, with zeros up to a multiple of 16.
template <SeedLossKind kind>
__device__ __forceinline__ void find_loss(const LastLayer& p, Memory& memory, LocalId i, int classes, int warp) {
  const int lane = static_cast<int>(threadIdx.x) & 31, end = (classes + 15) / 16 * 16;
  Bf16* const row = memory.gradient[warp];
  const bool is_there = i < p.below.growth.capacity;
  Bf16* const out = static_cast<Bf16*>(p.gradient) + std::int64_t{i} * classes;
  for (int c = (is_there ? classes : 0) + lane; c < end; c += 32) row[c] = static_cast<Bf16>(0.0f);
  if (!is_there) return;
  loss_of_seed<kind>(p.loss, i, memory.logits[warp], classes, [row, out](std::int64_t c, float value) {
    row[c] = static_cast<Bf16>(value);
    out[c] = static_cast<Bf16>(value);
  });
}

/// The operand's gradient = gradient * weight. A warp has 32 columns: a lane loads four of them from four rows of the
/// weight, for four products of eight columns that are four apart.
__device__ __forceinline__ void multiply_back(Memory& memory, const Bf16* __restrict__ weight, int classes, int warp,
                                              Lane lane) {
  float sums[4][4] = {};
  const Bf16* const column = weight + warp * 32 + lane.group * 4;
#pragma unroll 4
  for (int k = 0; k < classes; k += 16) {
    uint2 rows[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = k + lane.quad * 2 + r % 2 + r / 2 * 8;
      rows[r] = row < classes ? *reinterpret_cast<const uint2*>(column + std::int64_t{row} * kColumns) : uint2{};
    }
    const Bf16* const low = memory.gradient[lane.group] + k + lane.quad * 2;
    const Bf16* const high = memory.gradient[lane.group + 8] + k + lane.quad * 2;
    const std::uint32_t a[4] = {word_at(low), word_at(high), word_at(low + 8), word_at(high + 8)};
    constexpr unsigned kLow = 0x5410, kHigh = 0x7632;
    product(sums[0], a, __byte_perm(rows[0].x, rows[1].x, kLow), __byte_perm(rows[2].x, rows[3].x, kLow));
    product(sums[1], a, __byte_perm(rows[0].x, rows[1].x, kHigh), __byte_perm(rows[2].x, rows[3].x, kHigh));
    product(sums[2], a, __byte_perm(rows[0].y, rows[1].y, kLow), __byte_perm(rows[2].y, rows[3].y, kLow));
    product(sums[3], a, __byte_perm(rows[0].y, rows[1].y, kHigh), __byte_perm(rows[2].y, rows[3].y, kHigh));
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float values[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) values[c] = sums[c % 4][half * 2 + c / 4];
    store_eight(values, &memory.operand[lane.group + half * 8][warp * 32 + lane.quad * 8]);
  }
}

/// A row's gradient: a lane's columns of `from`, where they were positive and kept.
__device__ __forceinline__ void store_row(const LastLayer& p, std::int64_t row, unsigned bits, const float (&from)[8]) {
  float values[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) values[c] = (bits >> c & 1) != 0 ? from[c] : 0.0f;
  store_eight(values, static_cast<Bf16*>(p.z_gradient) + row * kLastLayerWidth + (threadIdx.x & 31) * 8);
}

/// The gradients of seed i's own row and of its children's.
__device__ __forceinline__ void spread(const LastLayer& p, const Bf16* gradient, LocalId i) {
  const HiddenLayer& below = p.below;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const LocalId count = *below.growth.num_nodes;
  if (i >= count) return;
  const LocalId first = below.growth.first_child[i], children = below.growth.first_child[i + 1] - first;
  const std::uint8_t* const kept = below.kept + lane;
  float mean[8], own[8];
  load_eight(gradient + lane * 8, mean);
  load_eight(gradient + kLastLayerWidth + lane * 8, own);
  const float share = children == 0 ? 0.0f : below.dropout.scale / static_cast<float>(children);
#pragma unroll
  for (int c = 0; c < 8; ++c) mean[c] *= share, own[c] *= below.dropout.scale;
  store_row(p, i, kept[std::int64_t{i} * kChunks], own);
  for (LocalId at = 0; at < children; at += kInFlight) {
    const std::int64_t row = std::int64_t{count} + first + at;
    unsigned bits[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) bits[k] = at + k < children ? kept[(row + k) * kChunks] : 0;
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (at + k < children) store_row(p, row + k, bits[k], mean);
  }
}

template <SeedLossKind kind>
__global__ void __launch_bounds__(kThreads)
    last_layer_kernel(LastLayer p, const uint4* __restrict__ z, const Bf16* __restrict__ weight, int classes) {
  __shared__ Memory memory;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const Lane lane = Lane::of_thread();
  const LocalId i = static_cast<LocalId>(blockIdx.x) * kSeeds + warp;
  load_rows(p, z, i, memory.operand[warp]);
  __syncthreads();
  multiply(memory, weight, classes, warp, lane);
  __syncthreads();
  find_loss<kind>(p, memory, i, classes, warp);
  __syncthreads();
  multiply_back(memory, weight, classes, warp, lane);
  __syncthreads();
  spread(p, memory.operand[warp], i);
  const float zeros[8] = {};
  for (std::int64_t row = std::int64_t{*p.below.growth.num_grown} + i; row < p.below.growth.grown_capacity;
       row += std::int64_t{gridDim.x} * kSeeds)
    store_row(p, row, 0, zeros);
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void last_layer(const LastLayer& layer, cudaStream_t stream) {
  const auto classes = static_cast<int>(padded(layer.loss.num_classes));
  require(layer.below.width == kLastLayerWidth && layer.below.type == ActivationType::kBf16 &&
              layer.loss.type == ActivationType::kBf16 && classes <= kMaxLastClasses,
          "the kernel of the last layer fits it");
  const auto blocks = static_cast<unsigned>((layer.below.growth.capacity + kSeeds - 1) / kSeeds);
  for_kind(kind_of(layer.loss.targets), [&]<SeedLossKind kind>() {
    last_layer_kernel<kind><<<blocks, kThreads, 0, stream>>>(layer, static_cast<const uint4*>(layer.z),
                                                             static_cast<const Bf16*>(layer.weight), classes);
  });
  cuda_check(cudaGetLastError());
}

}  // namespace salient
