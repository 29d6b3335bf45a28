// apps/predictor.cpp - see predictor.h.
#include "apps/predictor.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/StreamGuard.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>
#include <unordered_set>

#include "apps/asked_times.h"
#include "apps/new_node_batch.h"
#include "apps/open_named_dataset.h"
#include "apps/predictor_batches.h"
#include "apps/run_config.h"
#include "apps/selected_nodes.h"
#include "apps/session.h"
#include "apps/trained_on.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "engine/device/fit_to_machine.h"
#include "engine/infer/sampled_inference.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/link_model.h"
#include "engine/train/run_model.h"
#include "engine/train/trained_run.h"
#include "models/describe/costs.h"
#include "models/describe/layer_list.h"
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
  const NodeId first = dataset.first_target();
  const std::size_t end = first + num_targets(dataset);
  for (const NodeId node : nodes) {
    if (node < first || node >= end)
      fail(ErrorKind::kUsage, "node " + std::to_string(node) + ": " + dataset.name + " has nodes " +
                                  std::to_string(first) + " to " + std::to_string(end - 1));
    if (!seen.insert(node).second) fail(ErrorKind::kUsage, "node " + std::to_string(node) + " is there twice");
  }
}

/// Columns of each layer's result: of the last of its operations.
std::vector<int> widths_of_layers(const LayerList& list) {
  std::vector<int> widths(static_cast<std::size_t>(list.num_layers));
  for (const Op& op : list.ops)
    if (op.layer < list.num_layers) widths[static_cast<std::size_t>(op.layer)] = static_cast<int>(op.width);
  return widths;
}

const Model& on_host(Model& model) {
  model.to(at::kCPU);
  return model;
}

/// Of rows and pairs on the host.
std::vector<float> scores_of(const LinkDecoder& decoder, std::span<const float> rows, std::int64_t width,
                             std::span<const std::int64_t> pairs) {
  const at::NoGradGuard no_gradients;
  const auto view = [](auto values, std::int64_t columns, at::ScalarType type) {
    using Value = std::remove_const_t<typename decltype(values)::element_type>;
    return at::from_blob(const_cast<Value*>(values.data()), {std::ssize(values) / columns, columns},
                         at::TensorOptions().dtype(type));
  };
  const at::Tensor scores = decoder.scores(view(rows, width, at::kFloat), view(pairs, 2, at::kLong)).contiguous();
  return {scores.const_data_ptr<float>(), scores.const_data_ptr<float>() + scores.numel()};
}

/// @param times  null: neighbours are of all times
void ask_for(AskedTimes* times, std::span<const NodeId> nodes, std::optional<std::int64_t> time) {
  if (times != nullptr) return times->set(nodes, time);
  if (time) fail(ErrorKind::kUsage, "the run draws neighbours of all times, and is asked for none");
}

/// @return  behind what was written
float* copy_rows(const at::Tensor& logits, float* out) {
  const at::Tensor rows = logits.to(at::kCPU, at::kFloat).contiguous();
  const auto count = static_cast<std::size_t>(rows.numel());
  std::memcpy(out, rows.const_data_ptr<float>(), count * sizeof(float));
  return out + count;
}

}  // namespace

struct Predictor::Impl {
  /// @param said  the run's options
  Impl(const TrainOptions& said, const std::filesystem::path& run, const PredictorOptions& options)
      : comm(make_self_communicator()),
        device(ComputeDevice::choose(options.device, /*local_rank=*/0,
                                     options.threads > 0 ? options.threads : num_usable_cores())),
        stream(stream_of_thread(device.torch_device())),
        trained_with(said),
        numerics(numerics_on(device, said)),
        machine(machine_for(options, device)),
        dataset(open_fitted(run, options)),
        times(said.batches.time.rule() ? std::make_unique<AskedTimes>(dataset) : nullptr),
        trained(open_trained_model(*comm, device, {run, options.checkpoint, trained_with, numerics}, dataset)),
        unit(dataset, device.torch_device()),
        loading(loading_for(options)),
        max_new_edges(options.max_new_edges),
        described(describe(model_options_of(trained_with, dataset))),
        layer_widths(widths_of_layers(described)),
        batches({*comm, launch, device}, {trained_with, numerics, dataset, *trained.model}, loading, options.step) {
    trained.model->eval();
  }

  Dataset open_fitted(const std::filesystem::path& run, const PredictorOptions& options) const {
    if (predicts_links(trained_with) != options.predicts_links)
      fail(ErrorKind::kUsage,
           run.string() + (options.predicts_links ? ": the run predicts nodes, and not links"
                                                  : ": the run predicts links; salient-infer scores pairs by it, and "
                                                    "requests of nodes have no answer"));
    return fit_to_run(*comm,
                      {.run = run,
                       .checkpoint = options.checkpoint,
                       .is_other_data_meant = !options.dataset.empty(),
                       .features = options.match_features},
                      open_named_dataset(options.dataset.empty() ? trained_with.data.dataset : options.dataset,
                                         options.data_root.empty() ? trained_with.data.root : options.data_root,
                                         FeatureFile::kNeeded, options.graphs))
        .dataset;
  }

  LoaderOptions loading_for(const PredictorOptions& options) const {
    const std::vector<int>& fanouts = options.fanouts.empty() ? trained_with.evaluation.fanout : options.fanouts;
    if (!are_fanouts(fanouts) || std::ssize(fanouts) != trained_with.model.num_layers)
      fail(ErrorKind::kUsage, "fanouts: " + std::to_string(trained_with.model.num_layers) +
                                  " numbers, one per layer of the run's model, each 1 to 65535 or -1");
    return {
        .rule = with_fanouts_of({fanouts, trained_with.batches.draw}, trained_with.batches.fanout_of, dataset.types),
        .time = trained_with.batches.time.rule(),
        .degrees = degrees_for(reads_degrees(trained_with.model)),
        .entries = entry_parts_for(trained_with.model, dataset),
        .num_workers = machine.workers,
        .num_slots = machine.slots,
        .to_device = device.is_cuda()};
  }

  std::vector<float> rows_of(std::span<const NodeId> nodes, int layer, std::optional<std::int64_t> time) {
    check_nodes(nodes, dataset);
    ask_for(times.get(), nodes, time);
    const c10::OptionalStreamGuard on_stream(stream);
    std::vector<float> rows(nodes.size() * row_width(layer));
    float* next = rows.data();
    const InferenceOptions options{.batch_size = batch_size(), .seed = seed(), .unit = unit};
    Predictions& predictions = layer > 0 ? batches.eager() : batches.predictions();
    (void)sampled_inference({*trained.model, device, *comm}, predictions, nodes, options,
                            [&](const InferenceRound& round) {
                              if (round.num_nodes > 0) next = copy_rows(with_layer(round, layer), next);
                            });
    return rows;
  }

  std::vector<float> rows_of(std::span<const NewNodes> lists, int layer) {
    if (loading.time)
      fail(ErrorKind::kUsage, "the run draws neighbours by the times of seeds, and new nodes have none");
    require_plain_edges(trained_with.model, dataset);
    const at::NoGradGuard no_gradients;
    const c10::OptionalStreamGuard on_stream(stream);
    const NewNodeBatch batch(dataset, lists,
                             {.rule = loading.rule,
                              .key = inference_key(seed(), 0),
                              .degrees = loading.degrees,
                              .max_edges = max_new_edges});
    std::size_t num_nodes = 0;
    for (const NewNodes& list : lists) num_nodes += list.num_predicted();
    std::vector<float> rows(num_nodes * row_width(layer));
    if (rows.empty()) return rows;
    InferenceRound round{.layers = trained.model->layers(batch.view(device.torch_device()), {})};
    round.logits = unit.of(trained.model->head(round.layers, {}));
    copy_rows(with_layer(round, layer), rows.data());
    return rows;
  }

  std::size_t row_width(int layer) const {
    if (layer < 0 || layer > std::ssize(layer_widths))
      fail(ErrorKind::kUsage, "layer " + std::to_string(layer) + ": the model has " +
                                  std::to_string(layer_widths.size()) + ", counted from 1");
    const int more = layer > 0 ? layer_widths[static_cast<std::size_t>(layer) - 1] : 0;
    return static_cast<std::size_t>(num_outputs()) + static_cast<std::size_t>(more);
  }
  int num_outputs() const { return predicts_links(trained_with) ? trained_with.model.hidden_dim : dataset.num_classes; }

  std::vector<float> pair_scores(std::span<const float> rows, std::span<const std::int64_t> pairs) {
    if (!decoder) decoder.emplace(on_host(*trained.model), trained_with.links.decoder, trained_with.model.hidden_dim);
    return scores_of(*decoder, rows, num_outputs(), pairs);
  }

  at::Tensor with_layer(const InferenceRound& round, int layer) const {
    if (layer == 0) return round.logits;
    at::Tensor rows = at::cat({round.logits, round.layers[static_cast<std::size_t>(layer)].dense()}, 1);
    require(static_cast<std::size_t>(rows.size(1)) == row_width(layer), "a layer's result is as wide as described");
    return rows;
  }

  PredictorFacts facts() const {
    return {.model = name_of(trained_with.model.kind),
            .num_layers = trained_with.model.num_layers,
            .fanouts = loading.rule.fanouts,
            .checkpoint = trained.checkpoint.filename().string(),
            .precision = name_of(numerics.precision),
            .device = device.is_cuda() ? DeviceKind::kCuda : DeviceKind::kCpu,
            .layer_widths = layer_widths,
            .last_hidden = described.num_layers - (described.ops.back().layer < described.num_layers ? 1 : 0),
            .draws_by_time = times != nullptr};
  }

  std::size_t batch_size() const { return static_cast<std::size_t>(trained_with.evaluation.batch_size); }
  std::uint32_t seed() const { return static_cast<std::uint32_t>(trained_with.seed); }

  const Launch launch{};  // alone
  std::unique_ptr<Communicator> comm;
  ComputeDevice device;
  std::optional<c10::Stream> stream;  // none on a CPU
  TrainOptions trained_with;
  Numerics numerics;
  MachineOptions machine;
  Dataset dataset;
  std::unique_ptr<AskedTimes> times;  // null: neighbours are of all times
  TrainedModel trained;
  TargetUnit unit;
  LoaderOptions loading;
  std::int64_t max_new_edges;
  LayerList described;
  std::vector<int> layer_widths;
  PredictorBatches batches;
  std::optional<LinkDecoder> decoder{};  // of a run of links, once it was asked
};

Predictor::Predictor(const std::filesystem::path& run, const PredictorOptions& options)
    : impl_(std::make_unique<Impl>(read_run_options(*make_self_communicator(), run), run, options)) {}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

PredictorFacts Predictor::facts() const { return impl_->facts(); }
const Dataset& Predictor::dataset() const { return impl_->dataset; }
std::vector<float> Predictor::logits(std::span<const NodeId> nodes, std::optional<std::int64_t> time) {
  return impl_->rows_of(nodes, 0, time);
}
std::vector<float> Predictor::logits(std::span<const NewNodes> lists) { return impl_->rows_of(lists, 0); }
std::vector<float> Predictor::logits_and_embeddings(std::span<const NodeId> nodes, int layer,
                                                    std::optional<std::int64_t> time) {
  return impl_->rows_of(nodes, layer, time);
}
std::vector<float> Predictor::logits_and_embeddings(std::span<const NewNodes> lists, int layer) {
  return impl_->rows_of(lists, layer);
}
int Predictor::row_width() const { return impl_->num_outputs(); }
std::vector<float> Predictor::pair_scores(std::span<const float> rows, std::span<const std::int64_t> pairs) {
  return impl_->pair_scores(rows, pairs);
}
std::size_t Predictor::batch_size() const { return impl_->batch_size(); }

}  // namespace salient
