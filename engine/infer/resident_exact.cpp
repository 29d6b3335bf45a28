// engine/infer/resident_exact.cpp - see resident_exact.h.
#include "engine/infer/resident_exact.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>

#include "core/console/progress.h"
#include "core/cuda/cuda.h"
#include "core/error.h"
#include "core/timer.h"
#include "engine/infer/node_labels.h"
#include "engine/infer/resident_model.h"
#include "engine/infer/target_unit.h"
#include "models/exact/exact_forward.h"

namespace salient {
namespace {

ExactShape exact_shape(const ResidentSpec& spec, const Dataset& dataset) {
  return {.num_layers = spec.model.num_layers,
          .in_dim = dataset.feature_dim,
          .hidden_dim = spec.model.hidden_dim,
          .num_classes = dataset.num_classes,
          .is_deterministic = spec.numerics.gradient_order == GradientOrder::kFixed};
}

/// Infinite results may end as plausible predictions: ReLU makes zeros of products with them.
void require_range_of_f16(bool is_beyond) {
  if (is_beyond)
    fail(ErrorKind::kUsage,
         "exact inference on the GPU keeps layers' results in f16, and some are beyond its range of 65504",
         Topic::kHalfRange);
}

void require_weights_in_f16(const Model& model) {
  for (const at::Tensor& parameter : model.parameters())
    require_range_of_f16(!(parameter.detach().abs().max().item<float>() <= 65504));
}

std::span<std::byte> spent_features_of(const ResidentView& data, const ResidentExactRequest& request) {
  if (!request.may_overwrite_features) return {};
  const RowTable& rows = data.device_rows;  // of this GPU alone: there is one rank
  return {const_cast<std::byte*>(rows.data), rows.num_rows * rows.row_bytes};
}

}  // namespace

std::int64_t resident_exact_bytes(const ResidentSpec& spec, const Dataset& dataset) {
  return exact_forward_bytes(exact_shape(spec, dataset), dataset.num_nodes());
}

InferenceCounts resident_exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, const ResidentView& data,
                                         const ResidentSpec& spec, const ResidentExactRequest& request,
                                         const OnRound& on_round) {
  const at::NoGradGuard no_gradients;
  ranks.model.eval();
  const ComputeDevice& device = ranks.device;
  const ExactShape shape = exact_shape(spec, dataset);
  require_weights_in_f16(ranks.model);
  const std::span<const NodeId> nodes = request.nodes;
  ExactForward forward(shape, sage_data_of(dataset, data), spent_features_of(data, request));
  const Timer timer;
  AccuracyCounter counter(device.torch_device());
  Progress progress("exact", nodes.size(), "nodes");
  forward.start(sage_weights_of(ranks.model), device.stream());
  const TargetUnit unit(dataset, device.torch_device());
  std::array<CudaEvent, 2> done{CudaEvent(CudaEvent::Kind::kBlockingWait), CudaEvent(CudaEvent::Kind::kBlockingWait)};
  std::size_t turn = 0;
  for (std::size_t first = 0; first < nodes.size(); first += static_cast<std::size_t>(shape.block_rows)) {
    const std::size_t count = std::min(static_cast<std::size_t>(shape.block_rows), nodes.size() - first);
    const std::span<const NodeId> block = nodes.subspan(first, count);
    const auto rows = static_cast<std::int64_t>(count);
    CudaEvent& done_before = done[turn++ % done.size()];
    done_before.wait();  // the host is at most done.size() blocks ahead of the GPU
    const float* const logits = forward.predict(block, device.stream());
    InferenceRound round{.num_nodes = rows};
    round.logits = at::from_blob(const_cast<float*>(logits), {rows, dataset.num_classes}, {forward.logits_stride(), 1},
                                 at::TensorOptions(device.torch_device()).dtype(at::kFloat));
    round.logits = unit.of(round.logits);
    const at::Tensor labels = labels_of(dataset.label_table(), block, LabelMemory::kPinned);  // the host does not wait
    counter.add(round.logits, labels.to(device.torch_device(), /*non_blocking=*/true));
    done_before.record(device.stream());
    if (on_round) {
      require_range_of_f16(forward.is_beyond_f16(device.stream()));
      on_round(round);
    }
    progress.add(count);
  }
  require_range_of_f16(forward.is_beyond_f16(device.stream()));
  InferenceCounts counts = counter.sum_over_ranks(ranks.comm);
  counts.seconds = timer.seconds();
  return counts;
}

}  // namespace salient
