// apps/predictor.cpp - see predictor.h.
#include "apps/predictor.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "apps/new_node_batch.h"
#include "apps/open_named_dataset.h"
#include "apps/predictor_batches.h"
#include "apps/run_config.h"
#include "apps/session.h"
#include "apps/trained_on.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "engine/device/fit_to_machine.h"
#include "engine/infer/sampled_inference.h"
#include "engine/train/run_model.h"
#include "engine/train/trained_run.h"
#include "models/describe/costs.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

MachineOptions machine_for(const PredictorOptions& options, const ComputeDevice& device) {
  MachineOptions machine{.device = options.device, .workers = options.workers, .threads = options.threads};
  fit_to_machine(machine, device, num_usable_cores());
  return machine;
}

/// Where LibTorch's operators run on this thread. Another thread has another stream, which waits for no batch.
std::optional<c10::Stream> stream_of_thread(c10::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

void check_nodes(std::span<const NodeId> nodes, const Dataset& dataset) {
  std::unordered_set<NodeId> seen;
  for (const NodeId node : nodes) {
    if (node >= dataset.num_nodes())
      fail(ErrorKind::kUsage, "node " + std::to_string(node) + ": " + dataset.name + " has nodes 0 to " +
                                  std::to_string(dataset.num_nodes() - 1));
    if (!seen.insert(node).second) fail(ErrorKind::kUsage, "node " + std::to_string(node) + " is there twice");
  }
}

}  // namespace

struct Predictor::Impl {
  /// @param said  the run's options
  Impl(const TrainOptions& said, const std::filesystem::path& run, const PredictorOptions& options)
      : comm(make_self_communicator()),
        device(ComputeDevice::choose(options.device, /*local_rank=*/0,
                                     options.threads > 0 ? options.threads : num_usable_cores())),
        stream(stream_of_thread(device.torch_device())),
        trained_with(with_precision_of(device, said)),
        machine(machine_for(options, device)),
        dataset(open_fitted(run, options)),
        trained(open_trained_model(*comm, device, run, trained_with, dataset, options.checkpoint)),
        unit(dataset, device.torch_device()),
        loading(loading_for(options)),
        max_new_edges(options.max_new_edges),
        batches({*comm, launch, device}, {trained_with, dataset, *trained.model}, loading, options.step) {
    trained.model->eval();
  }

  Dataset open_fitted(const std::filesystem::path& run, const PredictorOptions& options) const {
    return fit_to_run(*comm,
                      {.run = run,
                       .checkpoint = options.checkpoint,
                       .is_other_data_meant = !options.dataset.empty(),
                       .features = options.match_features},
                      open_named_dataset(options.dataset.empty() ? trained_with.data.dataset : options.dataset,
                                         options.data_root.empty() ? trained_with.data.root : options.data_root))
        .dataset;
  }

  LoaderOptions loading_for(const PredictorOptions& options) const {
    const std::vector<int>& fanouts = options.fanouts.empty() ? trained_with.evaluation.fanout : options.fanouts;
    if (!are_fanouts(fanouts) || std::ssize(fanouts) != trained_with.model.num_layers)
      fail(ErrorKind::kUsage, "fanouts: " + std::to_string(trained_with.model.num_layers) +
                                  " numbers, one per layer of the run's model, each 1 to 65535 or -1");
    return {.rule = {fanouts, trained_with.batches.draw},
            .degrees = degrees_for(reads_degrees(trained_with.model)),
            .num_workers = machine.workers,
            .num_slots = machine.slots,
            .to_device = device.is_cuda()};
  }

  std::vector<float> logits(std::span<const NodeId> nodes) {
    check_nodes(nodes, dataset);
    const c10::OptionalStreamGuard on_stream(stream);
    const auto width = static_cast<std::size_t>(dataset.num_classes);
    std::vector<float> rows(nodes.size() * width);
    float* next = rows.data();
    const InferenceOptions options{.batch_size = batch_size(), .seed = seed(), .unit = unit};
    (void)sampled_inference({*trained.model, device, *comm}, batches.predictions(), nodes, options,
                            [&](const InferenceRound& round) {
                              if (round.num_nodes > 0) next = copy_rows(round.logits, next);
                            });
    return rows;
  }

  std::vector<float> logits(std::span<const NewNodes> lists) {
    const at::NoGradGuard no_gradients;
    const c10::OptionalStreamGuard on_stream(stream);
    const NewNodeBatch batch(dataset, lists,
                             {.rule = loading.rule,
                              .key = inference_key(seed(), 0),
                              .degrees = loading.degrees,
                              .max_edges = max_new_edges});
    std::size_t num_nodes = 0;
    for (const NewNodes& list : lists) num_nodes += list.num_nodes();
    std::vector<float> rows(num_nodes * static_cast<std::size_t>(dataset.num_classes));
    if (!rows.empty()) copy_rows(unit.of(trained.model->forward(batch.view(device.torch_device()), {})), rows.data());
    return rows;
  }

  PredictorFacts facts() const {
    return {.model = name_of(trained_with.model.kind),
            .num_layers = trained_with.model.num_layers,
            .fanouts = loading.rule.fanouts,
            .checkpoint = trained.checkpoint.filename().string(),
            .precision = name_of(numerics_of(trained_with).precision),
            .device = device.is_cuda() ? DeviceKind::kCuda : DeviceKind::kCpu};
  }

  std::size_t batch_size() const { return static_cast<std::size_t>(trained_with.evaluation.batch_size); }
  std::uint32_t seed() const { return static_cast<std::uint32_t>(trained_with.seed); }

  /// @return  behind what was written
  static float* copy_rows(const at::Tensor& logits, float* out) {
    const at::Tensor rows = logits.to(at::kCPU, at::kFloat).contiguous();
    const auto count = static_cast<std::size_t>(rows.numel());
    std::memcpy(out, rows.const_data_ptr<float>(), count * sizeof(float));
    return out + count;
  }

  const Launch launch{};  // alone
  std::unique_ptr<Communicator> comm;
  ComputeDevice device;
  std::optional<c10::Stream> stream;  // none on a CPU
  TrainOptions trained_with;
  MachineOptions machine;
  Dataset dataset;
  TrainedModel trained;
  TargetUnit unit;
  LoaderOptions loading;
  std::int64_t max_new_edges;
  PredictorBatches batches;
};

Predictor::Predictor(const std::filesystem::path& run, const PredictorOptions& options)
    : impl_(std::make_unique<Impl>(read_run_options(*make_self_communicator(), run), run, options)) {}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

PredictorFacts Predictor::facts() const { return impl_->facts(); }
const Dataset& Predictor::dataset() const { return impl_->dataset; }
std::vector<float> Predictor::logits(std::span<const NodeId> nodes) { return impl_->logits(nodes); }
std::vector<float> Predictor::logits(std::span<const NewNodes> lists) { return impl_->logits(lists); }
std::size_t Predictor::batch_size() const { return impl_->batch_size(); }

}  // namespace salient
