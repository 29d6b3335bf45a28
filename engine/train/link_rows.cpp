// engine/train/link_rows.cpp - see link_rows.h.
#include "engine/train/link_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/comm/agreement.h"
#include "engine/infer/sampled_inference.h"

namespace salient {

void share_values(Communicator& comm, std::span<float> values) {
  if (comm.size() == 1) return;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::vector<double> sums;
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    const std::span<float> block = values.subspan(at, std::min(kBlock, values.size() - at));
    sums.assign(block.begin(), block.end());
    comm.all_reduce_sum(std::span<double>(sums));
    std::ranges::transform(sums, block.begin(), [](double sum) { return static_cast<float>(sum); });
  }
}

void require_numbers(Communicator& comm, std::span<const float> scores) {
  if (std::ranges::any_of(scores, [](float value) { return std::isnan(value); }))
    fail_on_all_ranks(comm, ErrorKind::kDiverged, "scores of links are not numbers");
}

double compute_rows(const LinkRowsOf& of, Model& model, Predictions& predictions, std::span<const NodeId> nodes,
                    std::span<float> rows) {
  Communicator& comm = of.run.comm;
  const auto batch_size = static_cast<std::size_t>(of.options.evaluation.batch_size);
  const InferenceOptions inference{
      .batch_size = batch_size, .seed = of.options.seed, .label = name_of(of.set), .must_stop = [&of] {
        return of.signals.must_stop_after_round();
      }};
  const std::int64_t width = of.options.model.hidden_dim;
  at::Tensor out = at::from_blob(rows.data(), {std::ssize(nodes), width}, at::TensorOptions().dtype(at::kFloat));
  std::size_t batch = static_cast<std::size_t>(comm.rank());
  const auto keep = [&](const InferenceRound& round) {
    const std::size_t first = batch * batch_size;
    batch += static_cast<std::size_t>(comm.size());
    if (round.num_nodes > 0) out.narrow(0, static_cast<std::int64_t>(first), round.num_nodes).copy_(round.logits);
  };
  const InferenceCounts counts = sampled_inference({model, of.run.device, comm}, predictions, nodes, inference, keep);
  if (counts.not_finite > 0)
    fail_on_all_ranks(comm, ErrorKind::kDiverged,
                      "the rows of " + std::to_string(counts.not_finite) + " of " + std::to_string(counts.nodes) +
                          " ends of " + name_of(of.set) +
                          " links are not numbers: weights, or features that they see, are "
                          "not finite");
  share_values(comm, rows);
  return counts.seconds;
}

}  // namespace salient
