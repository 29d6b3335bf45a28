// engine/train/eager_steps.cpp - see eager_steps.h.
#include "engine/train/eager_steps.h"

#include "models/batch_view.h"

namespace salient {

EagerSteps::EagerSteps(const StepParts& parts, std::unique_ptr<BatchSource> source)
    : EagerSteps(parts, std::move(source),
                 [&objective = parts.objective](std::size_t step, const BatchView& batch, const at::Tensor& logits) {
                   return objective.loss_sum(step, logits, batch.y);
                 }) {}

std::size_t EagerSteps::next(std::uint32_t global_step) {
  const ComputeDevice& device = parts_.run.device;
  const Batch* const batch = source_->next(device.stream());
  if (batch == nullptr) return 0;
  parts_.clock.batch_arrived();
  parts_.optimizer.zero_gradients();
  if (batch->layout.num_seeds == 0) return 1;
  const NoHostWait rule(device);
  const BatchView view = view_of(*batch, device.torch_device().index());
  const DropoutKey key{.seed = parts_.options.seed, .step = global_step, .nodes = view.nodes};
  const std::uint32_t step = batch->key.batch;
  const at::Tensor loss_sum = loss_sum_(step, view, parts_.model.forward(view, key));
  (loss_sum / parts_.seeds.loss_divisor(step)).backward();  // the mean over the global batch
  return 1;
}

}  // namespace salient
