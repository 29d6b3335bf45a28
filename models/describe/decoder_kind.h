// models/describe/decoder_kind.h - how a link is scored from the rows of its ends and its relation.
#pragma once

#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class DecoderKind : std::uint8_t { kDot, kDistmult, kComplex, kRotate, kMlp };

constexpr auto names_of(DecoderKind) {
  return std::to_array<EnumName<DecoderKind>>({{DecoderKind::kDot, "dot"},
                                               {DecoderKind::kDistmult, "distmult"},
                                               {DecoderKind::kComplex, "complex"},
                                               {DecoderKind::kRotate, "rotate"},
                                               {DecoderKind::kMlp, "mlp"}});
}

/// Numbers of a node's row for each hidden one: complex rows have a real and an imaginary half.
constexpr std::int64_t node_halves(DecoderKind kind) {
  return kind == DecoderKind::kComplex || kind == DecoderKind::kRotate ? 2 : 1;
}

/// Likewise of a relation's row, which of kRotate is one angle for each hidden number; 0 without relations.
constexpr std::int64_t relation_halves(DecoderKind kind) {
  switch (kind) {
    case DecoderKind::kDot:
    case DecoderKind::kMlp: return 0;
    case DecoderKind::kDistmult:
    case DecoderKind::kRotate: return 1;
    case DecoderKind::kComplex: return 2;
  }
  return 0;
}

}  // namespace salient
