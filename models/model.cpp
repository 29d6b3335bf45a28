// models/model.cpp - the way through the layers, and the list of models.
#include "models/model.h"

#include "engine/core/error.h"
#include "models/gat.h"
#include "models/gcn.h"
#include "models/gin.h"
#include "models/layers.h"
#include "models/sage.h"
#include "models/sage_ri.h"

namespace salient {
namespace {

std::shared_ptr<Model> construct(const ModelOptions& options) {
  if (options.model == "sage") return std::make_shared<Sage>(options);
  if (options.model == "gat") return std::make_shared<Gat>(options);
  if (options.model == "gin") return std::make_shared<Gin>(options);
  if (options.model == "gcn") return std::make_shared<Gcn>(options);
  if (options.model == "sage-ri") return std::make_shared<SageRi>(options);
  std::string known;
  for (const std::string& name : model_names()) known += (known.empty() ? "" : ", ") + name;
  fail(ErrorKind::kUsage, "--model: '" + options.model + "' is not known; known models: " + known);
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"sage", "gat", "gin", "sage-ri", "gcn"};
  return names;
}

std::shared_ptr<Model> make_model(const ModelOptions& options) {
  require(options.in_dim > 0 && options.hidden_dim > 0 && options.num_classes > 0 && options.num_layers > 0,
          "a model has positive dimensions");
  std::shared_ptr<Model> model = construct(options);
  for (const auto& item : model->named_modules())
    if (auto* owner = dynamic_cast<ParameterOwner*>(item.value().get()))
      owner->initialise(item.key(), options.init, options.seed);
  return model;
}

at::Tensor Model::head(const std::vector<at::Tensor>& h, const DropoutKey&) { return h.back(); }

at::Tensor Model::forward(const BatchView& batch, const DropoutKey& key) {
  require(batch.hops.size() == static_cast<std::size_t>(num_layers()), "a batch has one hop per layer");
  require(batch.x.defined(), "a batch that enters a model carries features");
  const std::int64_t num_seeds = batch.hops.back().num_dst;
  at::Tensor x = batch.x;
  std::vector<at::Tensor> h{x.narrow(0, 0, num_seeds)};
  for (int i = 0; i < num_layers(); ++i) {
    x = layer(i, batch.hops[static_cast<std::size_t>(i)], x, key);
    h.push_back(x.narrow(0, 0, num_seeds));
  }
  return head(h, key);
}

}  // namespace salient
