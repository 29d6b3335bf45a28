// engine/train/run_model.cpp - see run_model.h.
#include "engine/train/run_model.h"

namespace salient {

ModelOptions model_options_of(const TrainOptions& options) {
  return {.model = options.model,
          .hidden_dim = options.hidden,
          .num_layers = options.layers,
          .dropout = options.dropout,
          .norm = options.norm,
          .residual = options.residual,
          .jk = options.jk,
          .aggr = options.aggr,
          .heads = options.heads,
          .init = options.init,
          .seed = options.seed};
}

ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset) {
  ModelOptions model = model_options_of(options);
  model.in_dim = dataset.feature_dim;
  model.num_classes = dataset.num_classes;
  return model;
}

}  // namespace salient
