// models/model.cpp - the way through the layers, and the list of models.
#include "models/model.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "models/gat.h"
#include "models/gatv2.h"
#include "models/gcn.h"
#include "models/gin.h"
#include "models/layers.h"
#include "models/sage.h"
#include "models/sage_ri.h"

namespace salient {
namespace {

struct Known {
  const char* name;
  std::shared_ptr<Model> (*make)(const ModelOptions&);
};

const Known kModels[] = {
    {"sage", make_sage},
    {"gat", make_gat},
    {"gin", [](const ModelOptions& o) -> std::shared_ptr<Model> { return std::make_shared<Gin>(o); }},
    {"sage-ri", [](const ModelOptions& o) -> std::shared_ptr<Model> { return std::make_shared<SageRi>(o); }},
    {"gcn", make_gcn},
    {"gatv2", make_gatv2}};

const Known* find_model(const std::string& name) {
  const auto* found = std::ranges::find_if(kModels, [&](const Known& known) { return name == known.name; });
  return found == std::end(kModels) ? nullptr : found;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Known& known : kModels) all.emplace_back(known.name);
    return all;
  }();
  return names;
}

std::vector<std::string> problems_of(const ModelOptions& o) {
  std::vector<std::string> found;
  const auto rule = [&](bool holds, std::string text) {
    if (!holds) found.push_back(std::move(text));
  };
  const bool has_heads = o.model == "gat" || o.model == "gatv2", has_own_shape = o.model == "sage-ri";
  rule(find_model(o.model) != nullptr,
       "--model: '" + o.model + "' is not known; known models: " + joined(model_names()));
  rule(o.num_layers >= 1 && o.num_layers <= 64, "--layers: 1 to 64");
  rule(o.hidden_dim >= 1 && o.hidden_dim <= 1 << 16, "--hidden: 1 to 65536");
  rule(o.dropout >= 0 && o.dropout < 1, "--dropout: from 0 to below 1");
  rule(o.init == "pyg" || o.init == "xavier", "--init: pyg or xavier");
  rule(o.norm == "none" || o.norm == "batch" || o.norm == "layer", "--norm: none, batch or layer");
  rule(o.jk == "none" || o.jk == "cat" || o.jk == "max", "--jk: none, cat or max");
  rule(!has_own_shape || (o.norm == "none" && !o.residual && o.jk == "none"),
       "--model sage-ri: has a norm, residual connections and jumping knowledge of its own; leave out --norm, "
       "--residual "
       "and --jk");
  rule(o.aggr == "mean" || o.aggr == "max", "--aggr: mean or max");
  rule(o.aggr != "max" || o.model == "sage", "--aggr: only sage has a choice, not " + o.model);
  rule(o.heads >= 1 && o.heads <= 1024, "--heads: 1 to 1024");
  rule(o.heads == 1 || has_heads, "--heads: " + o.model + " has no attention heads; gat and gatv2 have");
  rule(!has_heads || o.heads < 1 || o.hidden_dim % o.heads == 0,
       "--heads " + std::to_string(o.heads) + ": must divide --hidden " + std::to_string(o.hidden_dim));
  return found;
}

std::shared_ptr<Model> make_model(const ModelOptions& options) {
  const std::vector<std::string> problems = problems_of(options);
  if (!problems.empty()) fail(ErrorKind::kUsage, problems.front());
  require(options.in_dim > 0 && options.num_classes > 0, "a model has positive dimensions");
  std::shared_ptr<Model> model = find_model(options.model)->make(options);
  for (const auto& item : model->named_modules())
    if (auto* owner = dynamic_cast<ParameterOwner*>(item.value().get()))
      owner->initialise(item.key(), options.init, options.seed);
  return model;
}

at::Tensor Model::head(const std::vector<at::Tensor>& h, const DropoutKey&) { return h.back(); }

std::vector<at::Tensor> Model::layers(const BatchView& batch, const DropoutKey& key) {
  require(batch.hops.size() == static_cast<std::size_t>(num_layers()), "a batch has one hop per layer");
  require(batch.x.defined(), "a batch that enters a model carries features");
  const std::int64_t num_seeds = batch.hops.back().num_dst;
  at::Tensor x = batch.x;
  std::vector<at::Tensor> h{x.narrow(0, 0, num_seeds)};
  for (int i = 0; i < num_layers(); ++i) {
    x = layer(i, batch.hops[static_cast<std::size_t>(i)], x, key);
    h.push_back(x.narrow(0, 0, num_seeds));
  }
  return h;
}

}  // namespace salient
