// models/decoders/decoder.cpp - see decoder.h.
#include "models/decoders/decoder.h"

#include <torch/torch.h>

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace salient {
namespace {

at::Tensor uniform(at::IntArrayRef shape, double low, double high, at::Device device) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat).device(device)).uniform_(low, high);
}

at::Tensor xavier(std::int64_t rows, std::int64_t columns, at::Device device) {
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  return uniform({rows, columns}, -bound, bound, device);
}

/// The halves of complex rows.
struct Complex {
  at::Tensor re, im;
};
Complex halves_of(const at::Tensor& rows, std::int64_t hidden) {
  return {rows.narrow(1, 0, hidden), rows.narrow(1, hidden, hidden)};
}
Complex product(const Complex& a, const Complex& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

}  // namespace

DecoderParameters make_decoder(const DecoderOptions& options, at::Device device) {
  const std::int64_t hidden = options.hidden, relations = options.num_relations;
  switch (options.kind) {
    case DecoderKind::kDot: return {};
    case DecoderKind::kMlp:
      return {{"lin.0.weight", xavier(hidden, hidden, device)},
              {"lin.0.bias", at::zeros({hidden}, at::TensorOptions().device(device))},
              {"lin.1.weight", xavier(1, hidden, device)},
              {"lin.1.bias", at::zeros({1}, at::TensorOptions().device(device))}};
    case DecoderKind::kDistmult: return {{"rel_emb.weight", xavier(relations, hidden, device)}};
    case DecoderKind::kComplex:
      return {{"rel_emb.weight", xavier(relations, hidden, device)},
              {"rel_emb_im.weight", xavier(relations, hidden, device)}};
    case DecoderKind::kRotate:
      return {{"rel_emb.weight", uniform({relations, hidden}, 0, 2 * std::numbers::pi, device)}};
  }
  return {};
}

at::Tensor decode(const DecoderOptions& options, const DecoderParameters& parameters, const at::Tensor& source,
                  const at::Tensor& relation, const at::Tensor& destination) {
  const std::int64_t hidden = options.hidden;
  require(source.size(1) == hidden * node_halves(options.kind) && source.sizes() == destination.sizes(),
          "rows have the decoder's width");
  const auto row_of = [&](const char* name) { return parameters.at(name).index_select(0, relation); };
  switch (options.kind) {
    case DecoderKind::kDot: return (source * destination).sum(-1);
    case DecoderKind::kMlp: {
      const at::Tensor inner =
          at::relu(at::linear(source * destination, parameters.at("lin.0.weight"), parameters.at("lin.0.bias")));
      return at::linear(inner, parameters.at("lin.1.weight"), parameters.at("lin.1.bias")).squeeze(-1);
    }
    case DecoderKind::kDistmult: return (source * row_of("rel_emb.weight") * destination).sum(-1);
    case DecoderKind::kComplex: {
      const Complex query = product(halves_of(source, hidden), {row_of("rel_emb.weight"), row_of("rel_emb_im.weight")});
      const Complex target = halves_of(destination, hidden);
      return (query.re * target.re + query.im * target.im).sum(-1);
    }
    case DecoderKind::kRotate: {
      const at::Tensor angle = row_of("rel_emb.weight");
      const Complex query = product(halves_of(source, hidden), {angle.cos(), angle.sin()});
      const Complex target = halves_of(destination, hidden);
      const at::Tensor difference = at::cat({query.re - target.re, query.im - target.im}, 1);
      return options.margin - at::linalg_vector_norm(difference, 2, {1});
    }
  }
  return {};
}

}  // namespace salient
