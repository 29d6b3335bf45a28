// models/typed_stack.cpp - see typed_stack.h.
#include "models/typed_stack.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "models/describe/type_names.h"
#include "models/init.h"
#include "models/ops/operators.h"
#include "models/ops/relations.h"

namespace salient {
namespace {

ModelOptions with_hidden_input(ModelOptions options) {
  options.in_dim = options.hidden_dim;
  return options;
}

}  // namespace

LearnedRows::LearnedRows(std::int64_t num_rows, std::int64_t width)
    : weight_(register_parameter("weight", at::empty({num_rows, width}, at::kFloat))) {}

void LearnedRows::initialise(const std::string& name, InitScheme, std::uint32_t seed) {
  fill_uniform(weight_.detach(), name + ".weight", 1, seed);
}

at::Tensor LearnedRows::forward(const at::Tensor& ids) const {
  return at::embedding(weight_, ids, /*padding_idx=*/-1, /*scale_grad_by_freq=*/false, is_sparse_);
}

at::Tensor LearnedRows::forward_or_mean(const at::Tensor& ids) {
  const at::NoGradGuard no_gradients;  // what is new is predicted, and trains nothing
  const std::int64_t num_rows = weight_.size(0);
  if (const auto version = static_cast<std::int64_t>(weight_._version()); version != mean_of_) {
    mean_ = num_rows > 0 ? weight_.detach().mean(0) : at::zeros({weight_.size(1)}, weight_.options());
    mean_of_ = version;
  }
  if (num_rows == 0) return mean_.expand({ids.numel(), -1});
  return at::where(ids.lt(num_rows).unsqueeze(1), forward(ids.clamp_max(num_rows - 1)), mean_);
}

TypedStack::TypedStack(const ModelOptions& options, const MakeConv& make_conv)
    : ConvStack(with_hidden_input(options), make_conv),
      width_(options.hidden_dim),
      is_activated_(options.activate_input) {
  if (is_activated_ && options.norm != NormKind::kNone)
    norm_in_ = register_module("norm_in", make_norm(options.norm, width_));
  const auto maps = register_module("lin_in", std::make_shared<ModuleDict>());
  const auto learned = register_module("emb", std::make_shared<ModuleDict>());
  std::int64_t first_node = 0;
  for (const GraphTypes::NodeType& type : options.types.node_types) {
    types_.push_back({first_node, nullptr, nullptr});
    const std::string name = module_name(type);
    if (type.feature_dim > 0)
      types_.back().map = maps->add(name, std::make_shared<Linear>(type.feature_dim, width_, Bias::kYes));
    else
      types_.back().rows = learned->add(name, std::make_shared<LearnedRows>(type.num_nodes, width_));
    first_node += type.num_nodes;
  }
}

InputRows TypedStack::input(const BatchView& batch, const DropoutKey& key) {
  require(batch.types.size() == types_.size(), "a batch has rows of each node type of its model");
  std::vector<at::Tensor> nodes, rows;
  std::vector<std::int64_t> count;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const auto& [first_node, map, learned] = types_[t];
    nodes.push_back(batch.types[t].rows);
    count.push_back(nodes.back().numel());
    if (map != nullptr) {
      require(batch.types[t].x.is_defined(), "a batch that enters a model carries features");
      rows.push_back(map->forward(batch.types[t].x));
    } else {
      const at::Tensor places = places_in_table(batch.nodes, nodes.back(), first_node);
      rows.push_back(batch.types[t].has_unknown ? learned->forward_or_mean(places) : learned->forward(places));
    }
  }
  const at::Tensor joined = RowsByType{nodes, count}.join(rows, width_);
  if (!is_activated_) return joined;
  return activated(norm_in_ == nullptr ? joined : norm_in_->forward(joined), key,
                   static_cast<std::uint32_t>(num_layers()));
}

}  // namespace salient
