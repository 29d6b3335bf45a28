// engine/train/timed_pairs.cpp - see timed_pairs.h.
#include "engine/train/timed_pairs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/batch_view.h"

namespace salient {

TimedPairs::TimedPairs(const Dataset& dataset, LoaderOptions loading, const ComputeDevice& device,
                       std::size_t batch_size, std::uint32_t seed, bool has_pair_features)
    : device_(device),
      batch_size_(batch_size),
      seed_(seed),
      ends_(2 * kBlockPairs),
      times_(kBlockPairs),
      numbers_(kBlockPairs) {
  std::iota(numbers_.begin(), numbers_.end(), NodeId{0});
  loading.links =
      LinkBatches{.ends = ends_, .rule = {.negatives = 0}, .times = times_, .has_pair_features = has_pair_features};
  batches_ = std::make_unique<BatchLoader>(dataset, std::move(loading));
}

TimedPairs::~TimedPairs() = default;

/// Starts the batches of these pairs.
void TimedPairs::ask(std::span<const NodePair> pairs, std::span<const std::int64_t> times) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ends_[2 * i] = pairs[i].source;
    ends_[2 * i + 1] = pairs[i].destination;
  }
  std::ranges::copy(times, times_.begin());
  std::vector<BatchRequest> requests;
  for (std::size_t first = 0; first < pairs.size(); first += batch_size_) {
    const auto numbers = std::span(numbers_).subspan(first, std::min(batch_size_, pairs.size() - first));
    requests.push_back({.key = {.seed = seed_}, .seeds = numbers, .batch = numbers});
  }
  batches_->start(std::move(requests));
}

std::vector<float> TimedPairs::scores(Model& model, const LinkDecoder& decoder, std::span<const NodePair> pairs,
                                      std::span<const std::int64_t> times) {
  const at::NoGradGuard no_gradients;
  model.eval();
  std::vector<float> all;
  all.reserve(pairs.size());
  for (std::size_t first = 0; first < pairs.size(); first += kBlockPairs) {
    const std::size_t count = std::min(kBlockPairs, pairs.size() - first);
    ask(pairs.subspan(first, count), times.subspan(first, count));
    while (const Batch* const batch = batches_->next(device_.stream())) {
      const BatchView view = view_of(*batch, device_.torch_device().index());
      const at::Tensor scores =
          decoder.scores_with(model.forward(view, {}), view.pairs, view.pair_x).cpu().contiguous();
      const float* const values = scores.const_data_ptr<float>();
      all.insert(all.end(), values, values + scores.numel());
    }
  }
  return all;
}

}  // namespace salient
