// models/kernels/attention_reference.cpp - attention written to be read: one list of (source, edge) per row.
#include "models/kernels/attention_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace salient {
namespace {

struct Term {
  std::size_t source, edge;
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

AttentionReference attention_reference(const HopEdges& hop, const GatScores& scores, std::int64_t num_channels,
                                       const float* h, const float* grad_out) {
  const auto heads = static_cast<std::size_t>(scores.heads), channels = static_cast<std::size_t>(num_channels);
  const auto num_dst = static_cast<std::size_t>(hop.num_dst), num_src = static_cast<std::size_t>(hop.num_src);
  const auto edges = static_cast<std::size_t>(num_attention_edges(hop.indptr[hop.num_dst], hop.num_dst));
  AttentionReference r{std::vector<double>(edges * heads), std::vector<double>(num_dst * heads * channels),
                       std::vector<double>(num_src * heads * channels), std::vector<double>(num_src * heads),
                       std::vector<double>(num_dst * heads)};
  for (std::size_t i = 0; i < num_dst; ++i)
    for (std::size_t k = 0; k < heads; ++k) {
      const std::vector<Term> terms = terms_of(hop, static_cast<std::int64_t>(i));
      const auto raw = [&](const Term& t) {
        return double{scores.src[t.source * heads + k]} + scores.dst[i * heads + k];
      };
      const auto logit = [&](const Term& t) { return raw(t) > 0 ? raw(t) : scores.slope * raw(t); };
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
        const double weight = r.weights[t.edge * heads + k] = std::exp(logit(t) - largest) / total;
        mean_grad += weight * grad_of_weight(t);
        for (std::size_t c = 0; c < channels; ++c) {
          r.out[(i * heads + k) * channels + c] += weight * h[(t.source * heads + k) * channels + c];
          r.grad_h[(t.source * heads + k) * channels + c] += weight * grad_out[(i * heads + k) * channels + c];
        }
      }
      for (const Term& t : terms) {
        const double grad_logit = r.weights[t.edge * heads + k] * (grad_of_weight(t) - mean_grad);
        const double grad_raw = raw(t) > 0 ? grad_logit : scores.slope * grad_logit;
        r.grad_src[t.source * heads + k] += grad_raw;
        r.grad_dst[i * heads + k] += grad_raw;
      }
    }
  return r;
}

Gatv2Reference gatv2_reference(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits) {
  const auto heads = static_cast<std::size_t>(in.shape.heads), channels = static_cast<std::size_t>(in.shape.channels);
  const auto num_dst = static_cast<std::size_t>(hop.num_dst), num_src = static_cast<std::size_t>(hop.num_src);
  const auto edges = static_cast<std::size_t>(num_attention_edges(hop.indptr[hop.num_dst], hop.num_dst));
  Gatv2Reference r{std::vector<double>(edges * heads, -std::numeric_limits<double>::infinity()),
                   std::vector<double>(num_src * heads * channels), std::vector<double>(num_dst * heads * channels),
                   std::vector<double>(heads * channels)};
  for (std::size_t i = 0; i < num_dst; ++i)
    for (const Term& t : terms_of(hop, static_cast<std::int64_t>(i)))
      for (std::size_t k = 0; k < heads; ++k) {
        const double grad = grad_logits[t.edge * heads + k];
        double logit = 0;
        for (std::size_t c = 0; c < channels; ++c) {
          const std::size_t at = k * channels + c;
          const double raw = double{in.z_src[t.source * heads * channels + at]} + in.z_dst[i * heads * channels + at];
          const double slope_here = raw > 0 ? 1 : in.slope;
          logit += in.att[at] * slope_here * raw;
          r.grad_src[t.source * heads * channels + at] += grad * in.att[at] * slope_here;
          r.grad_dst[i * heads * channels + at] += grad * in.att[at] * slope_here;
          r.grad_att[at] += grad * slope_here * raw;
        }
        r.logits[t.edge * heads + k] = logit;
      }
  return r;
}

}  // namespace salient
