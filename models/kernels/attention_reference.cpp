// models/kernels/attention_reference.cpp - attention written to be read: one list of (source, slot) per row, double precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "models/kernels/attention.h"

namespace salient {
namespace {

struct Term {
  std::size_t source, slot;
};

std::vector<Term> terms_of(const HopEdges& hop, std::int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  std::vector<Term> terms;
  for (LocalId e = hop.indptr[row]; e < hop.indptr[row + 1]; ++e)
    if (hop.indices[e] != row)
      terms.push_back({static_cast<std::size_t>(hop.indices[e]), static_cast<std::size_t>(e) + i});
  terms.push_back({i, static_cast<std::size_t>(hop.indptr[row + 1]) + i});
  return terms;
}

}  // namespace

AttentionReference attention_reference(const HopEdges& hop, Heads shape, float slope, const float* score_src,
                                       const float* score_dst, const float* h, const float* grad_out) {
  const auto heads = static_cast<std::size_t>(shape.heads), channels = static_cast<std::size_t>(shape.channels);
  const auto num_dst = static_cast<std::size_t>(hop.num_dst), num_src = static_cast<std::size_t>(hop.num_src);
  const auto slots = static_cast<std::size_t>(num_slots(hop.indptr[hop.num_dst], hop.num_dst));
  AttentionReference r{std::vector<double>(slots * heads), std::vector<double>(num_dst * heads * channels),
                       std::vector<double>(num_src * heads * channels), std::vector<double>(num_src * heads),
                       std::vector<double>(num_dst * heads)};
  for (std::size_t i = 0; i < num_dst; ++i)
    for (std::size_t k = 0; k < heads; ++k) {
      const std::vector<Term> terms = terms_of(hop, static_cast<std::int64_t>(i));
      const auto raw = [&](const Term& t) {
        return double{score_src[t.source * heads + k]} + score_dst[i * heads + k];
      };
      const auto logit = [&](const Term& t) { return raw(t) > 0 ? raw(t) : slope * raw(t); };
      double largest = -std::numeric_limits<double>::infinity(), total = 0;
      for (const Term& t : terms) largest = std::max(largest, logit(t));
      for (const Term& t : terms) total += std::exp(logit(t) - largest);

      double mean_grad = 0;  // sum of weight * its gradient
      const auto grad_of_weight = [&](const Term& t) {
        double dot = 0;
        for (std::size_t c = 0; c < channels; ++c)
          dot += double{grad_out[(i * heads + k) * channels + c]} * h[(t.source * heads + k) * channels + c];
        return dot;
      };
      for (const Term& t : terms) {
        const double weight = r.weights[t.slot * heads + k] = std::exp(logit(t) - largest) / total;
        mean_grad += weight * grad_of_weight(t);
        for (std::size_t c = 0; c < channels; ++c) {
          r.out[(i * heads + k) * channels + c] += weight * h[(t.source * heads + k) * channels + c];
          r.grad_h[(t.source * heads + k) * channels + c] += weight * grad_out[(i * heads + k) * channels + c];
        }
      }
      for (const Term& t : terms) {
        const double grad_logit = r.weights[t.slot * heads + k] * (grad_of_weight(t) - mean_grad);
        const double grad_raw = raw(t) > 0 ? grad_logit : slope * grad_logit;
        r.grad_src[t.source * heads + k] += grad_raw;
        r.grad_dst[i * heads + k] += grad_raw;
      }
    }
  return r;
}

Gatv2Reference gatv2_reference(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                               const float* att, const float* grad_logits) {
  const auto heads = static_cast<std::size_t>(shape.heads), channels = static_cast<std::size_t>(shape.channels);
  const auto num_dst = static_cast<std::size_t>(hop.num_dst), num_src = static_cast<std::size_t>(hop.num_src);
  const auto slots = static_cast<std::size_t>(num_slots(hop.indptr[hop.num_dst], hop.num_dst));
  Gatv2Reference r{std::vector<double>(slots * heads, -std::numeric_limits<double>::infinity()),
                   std::vector<double>(num_src * heads * channels), std::vector<double>(num_dst * heads * channels),
                   std::vector<double>(heads * channels)};
  for (std::size_t i = 0; i < num_dst; ++i)
    for (const Term& t : terms_of(hop, static_cast<std::int64_t>(i)))
      for (std::size_t k = 0; k < heads; ++k) {
        const double grad = grad_logits[t.slot * heads + k];
        double logit = 0;
        for (std::size_t c = 0; c < channels; ++c) {
          const std::size_t at = k * channels + c;
          const double raw = double{z_src[t.source * heads * channels + at]} + z_dst[i * heads * channels + at];
          const double slope_here = raw > 0 ? 1 : slope;
          logit += att[at] * slope_here * raw;
          r.grad_src[t.source * heads * channels + at] += grad * att[at] * slope_here;
          r.grad_dst[i * heads * channels + at] += grad * att[at] * slope_here;
          r.grad_att[at] += grad * slope_here * raw;
        }
        r.logits[t.slot * heads + k] = logit;
      }
  return r;
}

}  // namespace salient
