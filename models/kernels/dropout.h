// models/kernels/dropout.h - which elements a dropout mask keeps, and the kernels that apply it.
// By hand, as torch's masks depend on its generator's state, not on the node.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/philox.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// One mask. Element (row, column) draws 16 bits: half `column % 2` (low first) of word `column % 8 / 2` of the Philox
/// block with key (seed, step) and counter (nodes[row], column / 8, layer, 'DROP'). It is dropped if they are below
/// `threshold`. So p is a multiple of 2^-16, and the kept elements are scaled by exactly 1 / (kept share).
///
/// For p = 1/2 one bit is enough, and a block serves 128 columns: bit `column % 32` (low first) of word `column % 128 /
/// 32` of the block with counter (nodes[row], column / 128, layer, 'HALF') is set where the element is kept.
struct DropoutMask {
  std::uint32_t seed;
  std::uint32_t step;
  std::uint32_t layer;
  std::uint32_t threshold;  ///< in [0, 2^16]
  float scale;              ///< 2^16 / (2^16 - threshold); 0 if nothing is kept

  static DropoutMask make(double p, std::uint32_t seed, std::uint32_t step, std::uint32_t layer) {
    const auto threshold = static_cast<std::uint32_t>(std::lround(p * 65536.0));
    const float scale = threshold >= 65536 ? 0.0f : 65536.0f / static_cast<float>(65536 - threshold);
    return {seed, step, layer, threshold, scale};
  }
};

inline constexpr std::uint32_t kHalfOfDraws = 1 << 15;  ///< the threshold of p = 1/2

inline constexpr std::uint32_t kDropoutTag = 0x44524F50, kHalfTag = 0x48414C46;

/// The draws of eight neighbouring columns, where p is not 1/2.
SALIENT_HOST_DEVICE constexpr PhiloxBlock dropout_draws(const DropoutMask& mask, std::uint32_t node,
                                                        std::uint32_t eight_columns) {
  return philox4x32({{mask.seed, mask.step}}, {{node, eight_columns, mask.layer, kDropoutTag}});
}

/// The bits of 128 neighbouring columns, where it is.
SALIENT_HOST_DEVICE constexpr PhiloxBlock dropout_bits(const DropoutMask& mask, std::uint32_t node,
                                                       std::uint32_t columns_128) {
  return philox4x32({{mask.seed, mask.step}}, {{node, columns_128, mask.layer, kHalfTag}});
}

/// Bit c: column 8 * eight_columns + c of a node's row is kept.
///
/// One Philox block serves every p: two, of which one is computed, cost the kernels that unroll this over many rows
/// their registers.
SALIENT_HOST_DEVICE constexpr std::uint32_t kept_of_eight(const DropoutMask& mask, std::uint32_t node,
                                                          std::uint32_t eight_columns) {
  const bool is_half = mask.threshold == kHalfOfDraws;
  const PhiloxBlock block =
      philox4x32({{mask.seed, mask.step}},
                 {{node, is_half ? eight_columns / 16 : eight_columns, mask.layer, is_half ? kHalfTag : kDropoutTag}});
  const std::uint32_t low = (eight_columns & 4) == 0 ? block.word[0] : block.word[1];
  const std::uint32_t high = (eight_columns & 4) == 0 ? block.word[2] : block.word[3];
  const std::uint32_t bits = ((eight_columns & 8) == 0 ? low : high) >> eight_columns % 4 * 8 & 0xFF;
  std::uint32_t kept = 0;
  for (std::uint32_t pair = 0; pair < 4; ++pair) {
    // Of p = 1/2 the pair's bits become the highest ones of two draws, which then are compared as others are.
    const std::uint32_t draws = is_half ? bits * 0x8001 << (15 - 2 * pair) : block.word[pair];
    kept |= ((draws & 0xFFFF) >= mask.threshold ? 1U : 0U) << 2 * pair;
    kept |= (draws >> 16 >= mask.threshold ? 1U : 0U) << (2 * pair + 1);
  }
  return kept;
}

SALIENT_HOST_DEVICE constexpr bool is_kept(const DropoutMask& mask, std::uint32_t node, std::uint32_t column) {
  return (kept_of_eight(mask, node, column / 8) >> column % 8 & 1) != 0;
}

enum class Activation : std::uint8_t { kNone, kRelu };

/// A matrix whose rows belong to nodes.
struct NodeRows {
  const float* x;              ///< [rows, columns] f32
  const std::uint32_t* nodes;  ///< [rows] global ids
  std::int64_t rows;
  std::int64_t columns;
};

/// Where a result goes.
struct DroppedRows {
  float* values;                     ///< [rows, columns] f32; may be x itself
  std::uint8_t* positive = nullptr;  ///< unless null [rows, (columns + 7) / 8]: bit c % 8 of byte c / 8 of a row is set
                                     ///< where the value of column c is above 0
};

/// out = activation(x) * mask * scale.
///
/// @param in, out  host
/// Determinism:  the same bits from the reference and the device version, for any thread count.
/// Threads:      runs on the caller's oneTBB arena.
/// Cost:         one Philox block for eight elements, eight blocks at a time; for 128 where p is 1/2.
/// Oracle:       dropout_reference()
void dropout(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out);
void dropout_reference(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out);

/// As DroppedRows::positive.
struct PositiveBits {
  const std::uint8_t* bits;  ///< [rows, (columns + 7) / 8]
  std::int64_t rows;
  std::int64_t columns;
};

/// out = x * scale where positive, else 0, of [rows, columns] f32, host. The gradient of kRelu's dropout: neither mask
/// nor result is needed.
void scale_where_positive(const PositiveBits& positive, const float* x, float scale, float* out);

/// The same two on device memory: they enqueue on `stream` and return.
void dropout(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out,
             CUstream_st* stream);
void scale_where_positive(const PositiveBits& positive, const float* x, float scale, float* out, CUstream_st* stream);

}  // namespace salient
