// models/model.cpp - the way through the layers, and the list of models.
#include "models/model.h"

#include <string>

#include "core/error.h"
#include "models/gat.h"
#include "models/gatv2.h"
#include "models/gcn.h"
#include "models/gin.h"
#include "models/hgt.h"
#include "models/layers.h"
#include "models/rgat.h"
#include "models/rgcn.h"
#include "models/rsage.h"
#include "models/sage.h"
#include "models/sage_ri.h"
#include "models/transformer.h"

namespace salient {
namespace {

std::shared_ptr<Model> make_empty_model(const ModelOptions& options) {
  switch (options.kind) {
    case ModelKind::kSage: return make_sage(options);
    case ModelKind::kGat: return make_gat(options);
    case ModelKind::kGin:
    case ModelKind::kGine: return std::make_shared<Gin>(options);
    case ModelKind::kSageRi: return std::make_shared<SageRi>(options);
    case ModelKind::kGcn: return make_gcn(options);
    case ModelKind::kGatv2: return make_gatv2(options);
    case ModelKind::kTransformer: return make_transformer(options);
    case ModelKind::kRgcn: return make_rgcn(options);
    case ModelKind::kRsage: return make_rsage(options);
    case ModelKind::kRgat: return make_rgat(options);
    case ModelKind::kHgt: return make_hgt(options);
  }
  fail(ErrorKind::kInternal, "an unknown model");
}

}  // namespace

std::shared_ptr<Model> make_model(const ModelOptions& options, const Numerics& numerics) {
  const std::vector<FieldProblem> problems = problems_of(options);
  if (!problems.empty()) fail(ErrorKind::kUsage, problems.front().field + ": " + problems.front().rule);
  const std::string obstacle = obstacle_in_types(options.kind, options.types);
  if (!obstacle.empty()) fail(ErrorKind::kUsage, obstacle);
  if (options.kind == ModelKind::kGine && options.edge_dim == 0)
    fail(ErrorKind::kUsage, "gine reads the features of edges, and there are none");
  require((options.in_dim > 0 || is_typed(options.kind)) && options.num_classes > 0, "a model has positive dimensions");
  std::shared_ptr<Model> model = make_empty_model(options);
  for (const auto& item : model->named_modules())
    if (auto* owner = dynamic_cast<ParameterOwner*>(item.value().get())) {
      owner->initialise(item.key(), options.init, options.seed);
      owner->set_numerics(numerics);
    }
  return model;
}

InputRows Model::input(const BatchView& batch, const DropoutKey&) {
  require(batch.x.is_defined(), "a batch that enters a model carries features");
  return batch.x;
}

at::Tensor Model::head(const std::vector<InputRows>& h, const DropoutKey&) { return h.back().dense(); }

std::vector<InputRows> Model::layers(const BatchView& batch, const DropoutKey& key) {
  require(batch.hops.size() == static_cast<std::size_t>(num_layers()), "a batch has one hop per layer");
  const std::int64_t num_seeds = batch.hops.back().num_dst;
  InputRows x = input(batch, key);
  std::vector<InputRows> h{x.first(num_seeds)};
  for (int i = 0; i < num_layers(); ++i) {
    x = layer(i, batch.hops[static_cast<std::size_t>(i)], x, key);
    h.push_back(x.first(num_seeds));
  }
  return h;
}

}  // namespace salient
