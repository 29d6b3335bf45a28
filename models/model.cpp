// models/model.cpp - the way through the layers, and the list of models.
#include "models/model.h"

#include <cmath>

#include "engine/core/error.h"
#include "models/init.h"
#include "models/sage.h"

namespace salient {
namespace {

std::shared_ptr<Model> construct(const ModelOptions& options) {
  if (options.model == "sage") return std::make_shared<Sage>(options);
  std::string known;
  for (const std::string& name : model_names()) known += (known.empty() ? "" : ", ") + name;
  fail(ErrorKind::kUsage, "--model: '" + options.model + "' is not known; known models: " + known);
}

/// Weights by the scheme; biases within 1/sqrt(fan_in) of the weight beside them, as torch does.
void initialise(Model& model, const ModelOptions& options) {
  double bias_bound = 0;
  for (const auto& item : model.named_parameters()) {
    const at::Tensor values = item.value().detach();
    if (values.dim() >= 2) {
      fill_uniform(values, item.key(), bound_of(options.init, values.size(1), values.size(0)), options.seed);
      bias_bound = 1 / std::sqrt(static_cast<double>(values.size(1)));
    } else {
      fill_uniform(values, item.key(), bias_bound, options.seed);
    }
  }
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"sage"};
  return names;
}

std::shared_ptr<Model> make_model(const ModelOptions& options) {
  require(options.in_dim > 0 && options.hidden_dim > 0 && options.num_classes > 0 && options.num_layers > 0,
          "a model has positive dimensions");
  std::shared_ptr<Model> model = construct(options);
  initialise(*model, options);
  return model;
}

at::Tensor Model::head(const at::Tensor& x, const DropoutKey&) { return x; }

at::Tensor Model::forward(const BatchView& batch, const DropoutKey& key) {
  require(batch.hops.size() == static_cast<std::size_t>(num_layers()), "a batch has one hop per layer");
  require(batch.x.defined(), "a batch that enters a model carries features");
  at::Tensor h = batch.x;
  for (int i = 0; i < num_layers(); ++i) h = layer(i, batch.hops[static_cast<std::size_t>(i)], h, key);
  return head(h, key);
}

}  // namespace salient
