// engine/links/link_query.cpp - see link_query.h.
#include "engine/links/link_query.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace salient {
namespace {

/// The factor that a complex node row is multiplied by: the relation, or its conjugate where the link is turned.
struct Factor {
  float re, im;
};
Factor factor_at(const QueryRows& rows, std::int64_t k) {
  const auto& [shape, is_turned, node, relation] = rows;
  const Factor factor = shape.decoder == DecoderKind::kRotate ? Factor{std::cos(relation[k]), std::sin(relation[k])}
                                                              : Factor{relation[k], relation[shape.hidden + k]};
  return {factor.re, is_turned ? -factor.im : factor.im};
}

}  // namespace

std::vector<std::optional<std::uint32_t>> reverses_of(const GraphSchema& schema) {
  std::vector<std::optional<std::uint32_t>> reverses(schema.relations.size());
  for (std::size_t r = 0; r < schema.relations.size(); ++r)
    if (const std::optional<int> of = schema.relations[r].reverse_of)
      reverses[static_cast<std::size_t>(*of)] = static_cast<std::uint32_t>(r);
  return reverses;
}

LinkQuery link_query(LinkSide side, NodeId node, std::uint32_t relation, NodeId target,
                     std::span<const std::optional<std::uint32_t>> reverses) {
  if (side == LinkSide::kTail) return {node, target, relation, false};
  const std::optional<std::uint32_t> reverse = reverses[relation];
  return {node, target, reverse.value_or(relation), !reverse.has_value()};
}

LinkQuery link_query(const LinkTable& links, std::size_t i, LinkSide side,
                     std::span<const std::optional<std::uint32_t>> reverses) {
  const bool asks_tail = side == LinkSide::kTail;
  return link_query(side, asks_tail ? links.source(i) : links.destination(i), links.relations[i],
                    asks_tail ? links.destination(i) : links.source(i), reverses);
}

PairScore pair_score_of(DecoderKind kind) {
  return kind == DecoderKind::kRotate ? PairScore::kDistance : PairScore::kDot;
}

void make_query(const QueryRows& rows, float* out) {
  const auto& [shape, is_turned, node, relation] = rows;
  const std::int64_t hidden = shape.hidden;
  if (shape.decoder == DecoderKind::kDistmult) {
    for (std::int64_t k = 0; k < hidden; ++k) out[k] = node[k] * relation[k];
    return;
  }
  if (shape.decoder == DecoderKind::kDot) return void(std::copy_n(node, hidden, out));
  require(node_halves(shape.decoder) == 2, "a decoder of rows");
  for (std::int64_t k = 0; k < hidden; ++k) {
    const auto [re, im] = factor_at(rows, k);
    const float a = node[k], b = node[hidden + k];
    out[k] = a * re - b * im;
    out[hidden + k] = b * re + a * im;
  }
}

void query_gradients(const QueryRows& rows, const float* gradient, float* node_gradient, float* relation_gradient) {
  const auto& [shape, is_turned, node, relation] = rows;
  const std::int64_t hidden = shape.hidden;
  if (shape.decoder == DecoderKind::kDistmult) {
    for (std::int64_t k = 0; k < hidden; ++k) {
      node_gradient[k] = gradient[k] * relation[k];
      relation_gradient[k] = gradient[k] * node[k];
    }
    return;
  }
  for (std::int64_t k = 0; k < hidden; ++k) {
    const auto [re, im] = factor_at(rows, k);
    const float a = node[k], b = node[hidden + k], to_re = gradient[k], to_im = gradient[hidden + k];
    node_gradient[k] = to_re * re + to_im * im;
    node_gradient[hidden + k] = to_im * re - to_re * im;
    const float factor_re = to_re * a + to_im * b, factor_im = to_im * a - to_re * b;
    if (shape.decoder == DecoderKind::kRotate) {  // of cos(w) and sin(w), or -sin(w)
      const float turned = is_turned ? -1.F : 1.F;
      relation_gradient[k] = factor_im * turned * re - factor_re * turned * im;
    } else {
      relation_gradient[k] = factor_re;
      relation_gradient[hidden + k] = is_turned ? -factor_im : factor_im;
    }
  }
}

}  // namespace salient
