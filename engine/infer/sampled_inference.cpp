// engine/infer/sampled_inference.cpp - see sampled_inference.h.
#include "engine/infer/sampled_inference.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/core/progress.h"
#include "engine/core/timer.h"
#include "models/tensors.h"

namespace salient {
namespace {

constexpr std::uint32_t kInferenceDomain = 0x494E4652;  // "INFR": keeps these draws apart from those of training

std::vector<BatchRequest> requests_of_rank(std::span<const NodeId> nodes, const InferenceOptions& options,
                                           const Communicator& comm) {
  std::vector<BatchRequest> requests;
  const std::size_t step = options.batch_size * static_cast<std::size_t>(comm.size());
  for (std::size_t at = options.batch_size * static_cast<std::size_t>(comm.rank()); at < nodes.size(); at += step) {
    const auto batch = static_cast<std::uint32_t>(at / options.batch_size);
    requests.push_back({.key = {.seed = options.seed, .epoch = kInferenceDomain, .batch = batch},
                        .seeds = nodes.subspan(at, std::min(options.batch_size, nodes.size() - at))});
  }
  return requests;
}

}  // namespace

InferenceCounts sampled_inference(Model& model, BatchLoader& loader, std::span<const NodeId> nodes,
                                  const InferenceOptions& options, const ComputeDevice& device, Communicator& comm,
                                  const std::function<void(std::size_t, const at::Tensor&)>& on_logits) {
  const at::NoGradGuard no_gradients;
  const Timer timer;
  model.eval();
  at::Tensor counts = at::zeros({2}, at::TensorOptions(device.torch_device()).dtype(at::kLong));  // labelled, correct
  std::vector<BatchRequest> requests = requests_of_rank(nodes, options, comm);
  std::int64_t num_nodes = 0;
  for (const BatchRequest& request : requests) num_nodes += static_cast<std::int64_t>(request.seeds.size());
  Progress progress(options.label, static_cast<std::uint64_t>(num_nodes), "nodes");
  loader.start(std::move(requests));
  while (const Batch* batch = loader.next(device.stream())) {
    const BatchView view = view_of(*batch, device.torch_device().index());
    const at::Tensor logits = model.forward(view, {});
    counts[0] += view.y.ge(0).sum();
    counts[1] += at::argmax(logits, -1).eq(view.y).sum();
    if (on_logits) on_logits(batch->key.batch * options.batch_size, logits);
    progress.add(static_cast<std::uint64_t>(batch->layout.num_seeds));
    if (options.stop != nullptr && options.stop->load() != 0) {
      loader.stop();
      break;
    }
  }
  const at::Tensor on_host = counts.cpu();
  std::array<double, 3> sums{static_cast<double>(num_nodes), static_cast<double>(on_host[0].item<std::int64_t>()),
                             static_cast<double>(on_host[1].item<std::int64_t>())};
  comm.all_reduce_sum(std::span<double>(sums));
  return {.nodes = static_cast<std::int64_t>(sums[0]),
          .labelled = static_cast<std::int64_t>(sums[1]),
          .correct = static_cast<std::int64_t>(sums[2]),
          .seconds = timer.seconds()};
}

}  // namespace salient
