// engine/train/trained_run.cpp - see trained_run.h.
#include "engine/train/trained_run.h"

#include <utility>

#include "core/error.h"
#include "engine/comm/agreement.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/rank_state.h"
#include "engine/train/run_model.h"

namespace salient {
TrainedModel open_trained_model(Communicator& comm, const ComputeDevice& device, const ModelOfRun& which,
                                const Dataset& dataset) {
  TrainedModel trained;
  together(comm, [&] {
    require_model_of_graph(which.options.model, dataset);
    if (dataset.feature_dim == 0 && !dataset.types.is_typed())
      fail(ErrorKind::kUsage, dataset.name + ": has no features to predict from");
    trained.model = make_model_of_run(which.options, dataset, which.numerics);  // as the evaluation in training
    if (comm.rank() != 0) return;
    const std::string config = model_config_of(which.options, dataset);
    LoadedWeights loaded = load_named_weights(which.run / "checkpoints", which.checkpoint, *trained.model, config);
    trained.checkpoint = std::move(loaded.folder);
    trained.origin = std::move(loaded.origin);
  });
  trained.model->to(device.torch_device());
  trained.model->eval();
  take_weights_of_rank_0(comm, device, *trained.model);
  return trained;
}

}  // namespace salient
