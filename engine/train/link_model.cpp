// engine/train/link_model.cpp - see link_model.h.
#include "engine/train/link_model.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>

#include "core/error.h"
#include "loaders/pair_features.h"
#include "models/init.h"

namespace salient {
namespace {

constexpr char kModule[] = "decoder";

/// A module that has parameters and does nothing with them.
class Room final : public torch::nn::Module {};

DecoderOptions options_of(const DecoderShape& shape) {
  require(shape.width % node_halves(shape.kind) == 0, "complex rows have two halves");
  return {.kind = shape.kind, .hidden = shape.width / node_halves(shape.kind), .num_relations = shape.num_relations};
}

/// Registers a parameter by a name with dots, whose parts before the last are modules.
void add_parameter(torch::nn::Module& module, const std::string& name, const at::Tensor& value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) {
    module.register_parameter(name, value);
    return;
  }
  const std::string inner = name.substr(0, dot);
  const auto children = module.named_children();
  const std::shared_ptr<torch::nn::Module>* found = children.find(inner);
  const auto room = found != nullptr ? *found : module.register_module(inner, std::make_shared<Room>());
  add_parameter(*room, name.substr(dot + 1), value);
}

/// By a function of (seed, name), as all other parameters; angles are uniform within 2 pi.
void initialise(const std::string& name, const at::Tensor& value, DecoderKind kind, std::uint32_t seed) {
  if (value.dim() < 2) return;  // biases are 0
  constexpr double kPi = 3.14159265358979323846;
  const bool is_angle = kind == DecoderKind::kRotate;
  fill_uniform(value, name, is_angle ? kPi : glorot_bound(value.size(1), value.size(0)), seed);
  if (is_angle) value.add_(kPi);
}

}  // namespace

void add_decoder(Model& encoder, const DecoderShape& shape, std::uint32_t seed) {
  const at::NoGradGuard no_gradients;
  const auto decoder = encoder.register_module(kModule, std::make_shared<Room>());
  const auto add = [&](const std::string& name, const at::Tensor& value, DecoderKind of) {
    initialise(std::string(kModule) + "." + name, value, of, seed);
    add_parameter(*decoder, name, value);
  };
  for (const auto& [name, value] : make_decoder(options_of(shape), at::kCPU)) add(name, value, shape.kind);
  if (!shape.has_pair_features) return;
  const std::int64_t width = shape.width;
  const auto zeros = [](std::int64_t out, std::int64_t in) { return at::zeros({out, in}); };
  add("pair.lin_src.weight", zeros(width, width), DecoderKind::kMlp);
  add("pair.lin_dst.weight", zeros(width, width), DecoderKind::kMlp);
  add("pair.lin_x.weight", zeros(width, kPairFeatures), DecoderKind::kMlp);
  add("pair.lin_x.bias", at::zeros({width}), DecoderKind::kMlp);
  add("pair.lin_final.weight", zeros(1, width), DecoderKind::kMlp);
  add("pair.lin_final.bias", at::zeros({1}), DecoderKind::kMlp);
}

LinkDecoder::LinkDecoder(const Model& model, DecoderKind kind, std::int64_t width)
    : options_(options_of({kind, width})) {
  const std::string prefix = std::string(kModule) + ".";
  for (const auto& named : model.named_parameters())
    if (named.key().starts_with(prefix)) parameters_[named.key().substr(prefix.size())] = named.value();
}

at::Tensor LinkDecoder::scores(const at::Tensor& rows, const at::Tensor& pairs) const {
  const at::Tensor relation = relation_halves(options_.kind) == 0
                                  ? at::Tensor()
                                  : at::zeros({pairs.size(0)}, at::TensorOptions(rows.device()).dtype(at::kLong));
  return scores(rows, pairs, relation);
}

at::Tensor LinkDecoder::scores(const at::Tensor& rows, const at::Tensor& pairs, const at::Tensor& relations) const {
  return decode(options_, parameters_, rows.index_select(0, pairs.select(1, 0)), relations,
                rows.index_select(0, pairs.select(1, 1)));
}

at::Tensor LinkDecoder::scores_with(const at::Tensor& rows, const at::Tensor& pairs, const at::Tensor& pair_x) const {
  const bool reads_pairs = parameters_.contains("pair.lin_x.weight");
  require(reads_pairs == pair_x.defined(), "features of pairs are there where the model reads them");
  const at::Tensor of_rows = scores(rows, pairs);
  if (!reads_pairs) return of_rows;
  const auto of = [&](const char* name) { return parameters_.at(std::string("pair.") + name); };
  const at::Tensor source = rows.index_select(0, pairs.select(1, 0));
  const at::Tensor destination = rows.index_select(0, pairs.select(1, 1));
  const at::Tensor inner = at::linear(source, of("lin_src.weight")) + at::linear(destination, of("lin_dst.weight")) +
                           at::linear(pair_x, of("lin_x.weight"), of("lin_x.bias"));
  return of_rows + at::linear(inner.relu(), of("lin_final.weight"), of("lin_final.bias")).squeeze(1);
}

at::Tensor link_loss_sum(const at::Tensor& scores, std::int64_t num_links, LinkLoss loss) {
  const at::Tensor links = scores.narrow(0, 0, num_links);
  const at::Tensor negatives = scores.narrow(0, num_links, scores.size(0) - num_links).view({num_links, -1});
  const at::Tensor column = links.unsqueeze(1);
  switch (loss) {
    case LinkLoss::kBce: return at::softplus(-links).sum() + at::softplus(negatives).sum();
    case LinkLoss::kSoftmax: return (at::logsumexp(at::cat({column, negatives}, 1), 1) - links).sum();
    case LinkLoss::kMargin: return at::relu(1 - column + negatives).sum();
    case LinkLoss::kBpr: return at::softplus(negatives - column).sum();
  }
  return {};
}

}  // namespace salient
