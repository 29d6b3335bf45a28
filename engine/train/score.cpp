// engine/train/score.cpp - see score.h.
#include "engine/train/score.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/infer/roc_auc.h"

namespace salient {
namespace {

std::vector<std::int32_t> labels_of(const Dataset& dataset, std::span<const NodeId> nodes) {
  std::vector<std::int32_t> labels;
  for (const NodeId node : nodes) labels.push_back(dataset.labels[node]);
  return labels;
}

void require_both_classes(const Dataset& dataset, std::span<const NodeId> nodes, const char* which) {
  const std::vector<std::int32_t> labels = labels_of(dataset, nodes);
  const auto zeros = std::ranges::count(labels, 0), ones = std::ranges::count(labels, 1);
  if ((zeros == 0) != (ones == 0))
    fail(ErrorKind::kBadData, dataset.name + ": its " + which +
                                  " nodes are all of one class, so ROC AUC is not defined; use --metric accuracy");
}

}  // namespace

std::string name_of(Metric metric) { return metric == Metric::kRocAuc ? "rocauc" : "accuracy"; }

Metric metric_for(const std::string& wanted, const Dataset& dataset) {
  const bool is_binary = dataset.num_classes == 2;
  if (wanted == "accuracy" || (wanted == "auto" && !is_binary)) return Metric::kAccuracy;
  if (!is_binary)
    fail(ErrorKind::kUsage,
         "--metric rocauc: is for two classes, " + dataset.name + " has " + std::to_string(dataset.num_classes));
  require_both_classes(dataset, dataset.valid, "validation");
  require_both_classes(dataset, dataset.test, "test");
  return Metric::kRocAuc;
}

Score score_nodes(Metric metric, const Dataset& dataset, std::span<const NodeId> nodes, Model& model,
                  BatchLoader& loader, const InferenceOptions& options, const ComputeDevice& device,
                  Communicator& comm) {
  if (metric == Metric::kAccuracy) {
    const InferenceCounts counts = sampled_inference(model, loader, nodes, options, device, comm);
    return {.value = counts.accuracy(), .accuracy = counts.accuracy(), .seconds = counts.seconds};
  }
  const auto num_nodes = static_cast<std::int64_t>(nodes.size());
  const at::Tensor margins = at::zeros({num_nodes}, at::TensorOptions(device.torch_device()).dtype(at::kFloat));
  std::size_t batch = static_cast<std::size_t>(comm.rank());  // this rank's in the round
  const auto keep = [&](const InferenceRound& round) {
    const std::size_t first = std::exchange(batch, batch + static_cast<std::size_t>(comm.size())) * options.batch_size;
    if (round.num_nodes == 0) return;
    const at::Tensor& logits = round.logits;
    margins.narrow(0, static_cast<std::int64_t>(first), logits.size(0))
        .copy_(logits.select(1, 1) - logits.select(1, 0));
  };
  const InferenceCounts counts = sampled_inference(model, loader, nodes, options, device, comm, keep);
  const at::Tensor on_host = margins.cpu();
  const float* values = on_host.data_ptr<float>();
  std::vector<double> sums(values, values + num_nodes);  // each is one rank's, and 0 on the others
  comm.all_reduce_sum(std::span<double>(sums));
  const std::vector<float> scores(sums.begin(), sums.end());
  const double rocauc = roc_auc(scores, labels_of(dataset, nodes)).value_or(0);
  return {.value = rocauc, .accuracy = counts.accuracy(), .rocauc = rocauc, .seconds = counts.seconds};
}

}  // namespace salient
