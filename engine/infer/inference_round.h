// engine/infer/inference_round.h - the results of inference, one batch of nodes per rank and round, and their counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/comm/communicator.h"
#include "models/input_rows.h"

namespace salient {

struct InferenceCounts {
  std::int64_t nodes = 0;     ///< predicted
  std::int64_t labelled = 0;  ///< known labels, or values; of all but one class a node several per node
  std::int64_t correct =
      0;  ///< known labels predicted right; multi-label: a label is predicted if its logit is above 0
  std::int64_t positives = 0;            ///< multi-label: known labels that are 1
  std::int64_t predicted_positives = 0;  ///< multi-label: known labels that are predicted
  std::int64_t true_positives = 0;       ///< multi-label: known labels that are 1 and predicted
  std::int64_t not_finite = 0;           ///< nodes with a logit that is not a number
  double seconds = 0;

  double accuracy() const { return labelled == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(labelled); }
  /// Multi-label: micro-F1 over all known labels.
  double f1() const {
    const std::int64_t both = positives + predicted_positives;
    return both == 0 ? 0 : 2 * static_cast<double>(true_positives) / static_cast<double>(both);
  }
};

/// In round k rank r has the nodes of batch k * size + r: the rounds of all ranks, in rank order, are the nodes in
/// their order. A rank without a batch in the last round has 0 nodes and undefined tensors.
struct InferenceRound {
  std::int64_t num_nodes = 0;
  std::vector<InputRows> layers{};  ///< the input of Model::head(), on the compute device; empty if not computed apart
  at::Tensor logits{};  ///< [num_nodes, C] on the compute device, rows may be padded; values are in the targets' unit
};

/// Called on every rank in every round: it may be collective, wait for the device, and throw.
using OnRound = std::function<void(const InferenceRound&)>;

/// Counts on the device and sums over ranks at the end; add() does not wait for the device.
class AccuracyCounter {
 public:
  explicit AccuracyCounter(at::Device device);

  /// @param labels  int32 [S], int8 [S, C] or f32 [S, C], as in LabelType
  void add(const at::Tensor& logits, const at::Tensor& labels);

  /// Waits for the device. Collective. @return all but the seconds
  InferenceCounts sum_over_ranks(Communicator& comm) const;

 private:
  at::Tensor counts_;  // the counts of InferenceCounts, in their order
};

}  // namespace salient
