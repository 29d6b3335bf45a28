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

/// The draws of eight neighbouring columns.
SALIENT_HOST_DEVICE constexpr PhiloxBlock dropout_draws(const DropoutMask& mask, std::uint32_t node,
                                                        std::uint32_t eight_columns) {
  return philox4x32({{mask.seed, mask.step}}, {{node, eight_columns, mask.layer, 0x44524F50}});
}

SALIENT_HOST_DEVICE constexpr bool is_kept(const DropoutMask& mask, const PhiloxBlock& draws, std::uint32_t column) {
  return (draws.word[column % 8 / 2] >> (column % 2 * 16) & 0xFFFF) >= mask.threshold;
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
/// Cost:         one Philox block for eight elements, eight blocks at a time.
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
