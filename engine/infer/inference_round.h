// engine/infer/inference_round.h - what inference hands out while it goes: one batch of nodes per rank and round.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/comm/communicator.h"

namespace salient {

struct InferenceCounts {
  std::int64_t nodes = 0;     ///< predicted
  std::int64_t labelled = 0;  ///< known labels: one of a node, or several
  std::int64_t correct = 0;   ///< of these, predicted right; one of several labels is predicted if its logit is above 0
  std::int64_t held = 0;      ///< several labels: known that the node has it,
  std::int64_t claimed = 0;   ///< known and predicted,
  std::int64_t found = 0;     ///< and both
  std::int64_t not_finite = 0;  ///< nodes with a logit that is not a number: their predictions mean nothing
  double seconds = 0;

  double accuracy() const { return labelled == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(labelled); }
  /// Micro-F1 over all known labels, several of a node.
  double f1() const {
    return held + claimed == 0 ? 0 : 2 * static_cast<double>(found) / static_cast<double>(held + claimed);
  }
};

/// In round k rank r has the nodes of batch k * size + r, so that all ranks' nodes, in rank order and round after round,
/// are the nodes in their order. A rank that has run out takes part with none, and undefined tensors.
struct InferenceRound {
  std::int64_t num_nodes = 0;
  std::vector<at::Tensor> layers{};  ///< what Model::head() took; on the compute device
  at::Tensor logits{};               ///< [num_nodes, C] on the compute device
};

/// Called on every rank in every round, so it may be collective, wait for the device, and throw.
using OnRound = std::function<void(const InferenceRound&)>;

/// Counts on the device, sums over ranks at the end: nothing waits in between.
class AccuracyCounter {
 public:
  explicit AccuracyCounter(at::Device device);

  /// @param labels  int32 [S], or int8 [S, C] for several labels a node, as in LabelType
  void add(const at::Tensor& logits, const at::Tensor& labels);

  /// Waits for the device. Collective. @return all but the seconds
  InferenceCounts sum_over_ranks(Communicator& comm) const;

 private:
  at::Tensor counts_;  // the counts of InferenceCounts, in their order
};

}  // namespace salient
