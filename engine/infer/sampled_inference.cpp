// engine/infer/sampled_inference.cpp - see sampled_inference.h.
#include "engine/infer/sampled_inference.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/console/progress.h"
#include "core/timer.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

constexpr std::uint32_t kInferenceDomain = 0x494E4652;  // "INFR": keeps these draws apart from those of training

/// The batches of this rank. All ranks have the same number; the last one may be empty.
std::vector<BatchRequest> requests_of_rank(std::span<const NodeId> nodes, const InferenceOptions& options,
                                           const Communicator& comm) {
  const auto num_ranks = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  const std::size_t num_rounds = num_global_batches(nodes.size(), options.batch_size * num_ranks);
  std::vector<BatchRequest> requests;
  for (std::size_t round = 0; round < num_rounds; ++round) {
    const std::size_t batch = round * num_ranks + rank;
    const std::size_t first = std::min(batch * options.batch_size, nodes.size());
    requests.push_back({.key = inference_key(options.seed, batch),
                        .seeds = nodes.subspan(first, std::min(options.batch_size, nodes.size() - first))});
  }
  return requests;
}

}  // namespace

BatchKey inference_key(std::uint32_t seed, std::size_t batch) {
  return {.seed = seed, .epoch = kInferenceDomain, .batch = static_cast<std::uint32_t>(batch)};
}

InferenceCounts sampled_inference(const ModelOnRanks& ranks, Predictions& predictions, std::span<const NodeId> nodes,
                                  const InferenceOptions& options, const OnRound& on_round) {
  const auto& [model, device, comm] = ranks;
  const at::NoGradGuard no_gradients;
  const Timer timer;
  model.eval();
  AccuracyCounter counter(device.torch_device());
  std::vector<BatchRequest> requests = requests_of_rank(nodes, options, comm);
  std::uint64_t num_own = 0;
  for (const BatchRequest& request : requests) num_own += request.seeds.size();
  Progress progress(options.label, num_own, "nodes");
  predictions.start(model, std::move(requests));
  while (std::optional<PredictedBatch> batch = predictions.next()) {
    InferenceRound& round = batch->round;
    if (round.num_nodes > 0) {
      round.logits = options.unit.of(round.logits);
      counter.add(round.logits, batch->labels);
      if (options.tally != nullptr) options.tally->add(round.logits, batch->labels);
    }
    if (on_round) on_round(round);
    progress.add(static_cast<std::uint64_t>(round.num_nodes));
    if (options.must_stop && options.must_stop()) {
      predictions.stop();
      break;
    }
  }
  InferenceCounts counts = counter.sum_over_ranks(comm);
  counts.seconds = timer.seconds();
  return counts;
}

}  // namespace salient
