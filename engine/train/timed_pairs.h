// engine/train/timed_pairs.h - scores of pairs, each as it is seen at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/compute_device.h"
#include "engine/train/link_model.h"
#include "loaders/batch_loader.h"
#include "models/model.h"
#include "sampler/link_seeds.h"
#include "store/dataset.h"

namespace salient {

/// The ends of pairs are sampled at the times of these, batch by batch: a row is computed for each distinct
/// (end, time) of a batch, and forgotten behind it.
class TimedPairs {
 public:
  /// @param loading  with a rule of times; of links nothing is read    @param batch_size  pairs of a batch
  /// @param dataset  outlives this
  TimedPairs(const Dataset& dataset, LoaderOptions loading, const ComputeDevice& device, std::size_t batch_size,
             std::uint32_t seed, bool has_pair_features);
  ~TimedPairs();

  /// [P] in the order of the pairs. Pairs of equal times should follow each other, so that ends are computed once.
  /// Not collective: ranks may ask for different pairs.
  /// @param times  [P]
  /// Determinism: a score depends on the model, the pairs and times of its batch, and the seed.
  /// Memory: that of a batch's rows, and 20 bytes a pair
  std::vector<float> scores(Model& model, const LinkDecoder& decoder, std::span<const NodePair> pairs,
                            std::span<const std::int64_t> times);

 private:
  void ask(std::span<const NodePair> pairs, std::span<const std::int64_t> times);

  static constexpr std::size_t kBlockPairs = std::size_t{1} << 15;

  const ComputeDevice& device_;
  const std::size_t batch_size_;
  const std::uint32_t seed_;
  std::vector<NodeId> ends_;         // [kBlockPairs, 2], which the batches are of
  std::vector<std::int64_t> times_;  // [kBlockPairs]
  std::vector<NodeId> numbers_;      // [kBlockPairs] 0, 1, ...
  std::unique_ptr<BatchSource> batches_;
};

}  // namespace salient
