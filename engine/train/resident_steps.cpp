// engine/train/resident_steps.cpp - see resident_steps.h.
#include "engine/train/resident_steps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/cuda/cuda.h"
#include "core/error.h"
#include "engine/comm/agreement.h"
#include "engine/device/gpu_links.h"
#include "engine/infer/resident_model.h"
#include "engine/train/device_targets.h"
#include "models/describe/costs.h"
#include "models/describe/resident_limits.h"
#include "models/resident/model_step.h"
#include "models/resident/sage_step.h"

namespace salient {
namespace {

bool is_plain_sage(const RunPlan& plan, const Dataset& dataset) { return is_plain_sage(plan.training.spec, dataset); }

SageShape sage_shape(const RunPlan& plan, const Dataset& dataset) {
  SageShape shape = sage_shape_of(plan.training.spec, dataset);
  shape.may_fuse = plan.may_fuse_layers;
  return shape;
}

ModelStepShape model_step_shape(const RunPlan& plan, const Dataset& dataset) {
  return model_step_shape_of(plan.training.spec, dataset, StepUse::kTraining);
}

/// Whether steps without an exchange between ranks have the update in them.
bool can_update(const RunPlan& plan, const Dataset& dataset) {
  return !is_plain_sage(plan, dataset) || has_fused_layer(sage_shape(plan, dataset));
}

/// Gradients that ranks sum inside a step: of GraphSAGE elements of all packed weights. 0 = none, they exchange them
/// between steps.
std::int64_t num_summed_values(const RunPlan& plan, const Dataset& dataset, int num_ranks) {
  if (num_ranks == 1 || num_ranks > PeerSums::kMaxRanks || !can_update(plan, dataset)) return 0;
  std::int64_t count = 0;
  if (is_plain_sage(plan, dataset)) {
    for (const SageLayerShape& layer : sage_layer_shapes(sage_shape(plan, dataset))) count += layer.in * layer.out;
  } else {
    count = num_parameters(describe(model_of(plan.training.spec, dataset)));
  }
  return count > kMaxSummedValues ? 0 : count;
}

/// How several ranks exchange gradients.
struct Exchange {
  std::optional<PeerSums> peers{};  ///< inside a step
  std::string reason{};             ///< why between steps
};

/// Where GPUs write each other's memory over NVLink, inside a step: over PCIe NCCL is faster than words of 8 bytes to
/// each rank. Collective.
Exchange make_exchange(const StepParts& parts) {
  Communicator& comm = parts.run.comm;
  const std::int64_t num_values = num_summed_values(parts.run.plan, parts.run.dataset, comm.size());
  if (comm.size() > PeerSums::kMaxRanks) return {.reason = "there are more than 8 ranks"};
  if (!on_all_ranks(comm, num_values > 0))
    return {.reason = can_update(parts.run.plan, parts.run.dataset)
                          ? "the model has more than 2 million parameters"
                          : "these steps are not those of one kernel for a layer"};
  const PeerReach reach = reach_of_all_gpus(comm, parts.run.device);
  if (!reach.obstacle.empty() || !reach.slow_link.empty())
    return {.reason = reach.obstacle.empty() ? reach.slow_link : reach.obstacle};
  const std::optional<PeerAccess> access = comm.peer_access(PeerSums::bytes(comm.size(), num_values));
  if (!access) return {.reason = "the ranks do not share GPU memory"};
  return {.peers = PeerSums::in(access->memory, comm.rank(), num_values, access->is_given_up)};
}

/// The update, if steps can do it themselves. Collective.
std::optional<ParameterUpdate> make_update(const StepParts& parts) {
  ParameterUpdate update{parts.optimizer.device_state(), parts.optimizer.rates()};
  const Communicator& comm = parts.run.comm;
  if (comm.size() == 1) return update;
  const Exchange exchange = make_exchange(parts);
  if (comm.rank() == 0)
    log_info(exchange.peers
                 ? "gradients are exchanged inside a step, over NVLink"
                 : "gradients are exchanged between steps, by " + std::string(comm.name()) + ": " + exchange.reason);
  if (!exchange.peers) return std::nullopt;
  update.peers = exchange.peers;
  return update;
}

StepInputs inputs_of(const StepParts& parts, const DeviceTargets& targets) {
  StepInputs inputs = sage_data_of(parts.run.dataset, parts.run.data.view());
  inputs.links = targets.links();
  return inputs;
}

/// What a step reads of the run, and its parameters.
SageStepData step_data(const StepParts& parts, const DeviceTargets& targets, const SageStepShape&) {
  return {inputs_of(parts, targets), targets.view(), sage_weights_of(parts.model), parts.objective.sums(),
          make_update(parts)};
}
ModelStepData step_data(const StepParts& parts, const DeviceTargets& targets, const ModelStepShape&) {
  return {inputs_of(parts, targets), targets.view(), step_tensors_of(parts.model), parts.objective.sums(),
          make_update(parts)};
}

/// @tparam Step  SageStep or ModelStep
template <class Step>
class ResidentSteps final : public GradientSteps {
 public:
  template <class Shape>
  ResidentSteps(const StepParts& parts, const Shape& shape)
      : parts_(parts),
        targets_(parts.options, parts.run.plan.training.spec, parts.run.dataset),
        step_(shape, step_data(parts, targets_, shape)) {}

  void start(std::vector<BatchRequest> requests, std::vector<double> rates) override {
    requests_ = std::move(requests);
    rates_ = std::move(rates);
    next_ = 0;
    step_.start_epoch(parts_.seeds.order());
  }

  std::size_t next(std::uint32_t global_step) override {
    parts_.clock.batch_arrived();
    if (next_ == requests_.size()) return 0;
    std::array<StepHeader, kMostNamed> headers;
    const std::span<StepHeader> rest = std::span(headers).first(std::min(headers.size(), requests_.size() - next_));
    for (std::size_t i = 0; i < rest.size(); ++i)
      rest[i] = header_of(next_ + i, global_step + static_cast<std::uint32_t>(i));
    std::size_t count = 0;
    const auto run = [&] { count = step_.run_some(rest, parts_.run.device.stream()); };
    if (step_.has_update())
      parts_.run.comm.watch(parts_.run.device.stream(), run);
    else
      run();
    next_ += count;
    return count;
  }

  bool has_updates() const override { return step_.has_update(); }

  void stop() override { requests_.resize(next_); }

  LoaderStats stats() const override { return loader_stats_of(requests_, step_.counts(parts_.run.device.stream())); }

 private:
  static constexpr std::size_t kMostNamed = Step::kMaxAtOnce + Step::kMaxAhead;

  StepHeader header_of(std::size_t step, std::uint32_t global_step) const {
    const BatchRequest& request = requests_[step];
    const auto place_of = [&](std::span<const NodeId> items) {
      return static_cast<std::uint32_t>(items.empty() ? 0 : items.data() - parts_.seeds.order().data());
    };
    return {.seed = request.key.seed,
            .epoch = request.key.epoch,
            .batch = request.key.batch,
            .global_step = global_step,
            .first_seed = place_of(request.seeds),
            .num_seeds = static_cast<std::uint32_t>(request.seeds.size()),
            .gradient_scale = 1.0F / static_cast<float>(parts_.seeds.loss_divisor(request.key.batch)),
            .learning_rate = rates_[step],
            .first_in_batch = place_of(request.batch),
            .links_in_batch = static_cast<std::uint32_t>(request.batch.size())};
  }

  StepParts parts_;
  DeviceTargets targets_;
  Step step_;
  std::vector<BatchRequest> requests_;
  std::vector<double> rates_;
  std::size_t next_ = 0;
};

}  // namespace

std::int64_t resident_steps_bytes(const RunPlan& plan, const Dataset& dataset, int num_ranks) {
  const std::int64_t num_values = num_summed_values(plan, dataset, num_ranks);
  const auto exchange = static_cast<std::int64_t>(num_values == 0 ? 0 : PeerSums::bytes(num_ranks, num_values));
  const std::int64_t step = is_plain_sage(plan, dataset) ? sage_step_bytes({sage_shape(plan, dataset)})
                                                         : model_step_bytes(model_step_shape(plan, dataset));
  return step + DeviceTargets::bytes(plan.training.spec, dataset) + exchange;
}

std::unique_ptr<GradientSteps> make_resident_steps(const StepParts& parts) {
  const RunPlan& plan = parts.run.plan;
  const Dataset& dataset = parts.run.dataset;
  const double label_smoothing = parts.options.optimisation.label_smoothing;
  if (is_plain_sage(plan, dataset))
    return std::make_unique<ResidentSteps<SageStep>>(parts, SageStepShape{sage_shape(plan, dataset), label_smoothing});
  ModelStepShape shape = model_step_shape(plan, dataset);
  shape.label_smoothing = label_smoothing;
  return std::make_unique<ResidentSteps<ModelStep>>(parts, shape);
}

}  // namespace salient
