// models/resident/sage_step.cpp - see sage_step.h.
//
//   level L-1 of the tree --- hop L-1, gather, mean --> operand 1 --- * W1 --> z1 --- relu, dropout, mean -->
//   operand 2 ...
//   ... operand L --- * WL --> logits --> loss, dz_L --- * WL --> its operand's gradient --- spread --> dz_(L-1) ...
//   dz1 and for each layer dW = dz^T * operand.
#include "models/resident/sage_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/resident/last_layer.h"
#include "models/resident/loss.h"
#include "models/resident/step_graph.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

DeviceArray<std::byte> array_of(std::int64_t count, ActivationType type) {
  return make_device_array<std::byte>(static_cast<std::size_t>(count) * size_of(type));
}

/// Elements of the largest gradient of an operand; the first layer's is not needed.
std::int64_t largest_operand(const std::vector<SageLayerShape>& layers) {
  std::int64_t largest = 8;
  for (std::size_t i = 1; i < layers.size(); ++i) largest = std::max(largest, layers[i].rows * layers[i].in);
  return largest;
}

/// Gradients of one layer's result, in the activations' type, and of its weight.
struct LayerGradients {
  LayerGradients(const SageLayerShape& s, ActivationType type, bool is_fused)
      : result(array_of(is_fused ? 0 : s.rows * s.out, type)),
        weight(make_device_array<float>(is_fused ? 0 : static_cast<std::size_t>(s.in * s.out))) {}

  DeviceArray<std::byte> result;
  DeviceArray<float> weight;
};

}  // namespace

std::int64_t sage_step_bytes(const SageStepShape& shape) {
  const auto size = static_cast<std::int64_t>(size_of(shape.sage.activations));
  const std::vector<SageLayerShape> layers = sage_layer_shapes(shape.sage);
  std::int64_t bytes = sage_layers_bytes(shape.sage, SageUse::kTraining) + largest_operand(layers) * size;
  bytes += std::int64_t{64} << 20;  // the workspace of products beside others
  for (const SageLayerShape& s : std::span(layers).subspan(has_fused_layer(shape.sage) ? 1 : 0))
    bytes += s.rows * s.out * size + s.in * s.out * 4;
  return bytes;
}

struct SageStep::Impl {
  using Place = SageLayers::Place;

  Impl(const SageStepShape& s, const SageStepData& d)
      : shape(s),
        data(d),
        type(s.sage.activations),
        is_last_fused(has_fused_last_layer(s.sage)),
        forward(s.sage, d.inputs, SageUse::kTraining),
        operand_gradient(array_of(largest_operand(sage_layer_shapes(s.sage)), type)),
        seed_losses(make_device_array<float>(static_cast<std::size_t>(2 * s.sage.max_seeds))) {
    require(d.weights.size() == layers().size(), "there are weights for every layer");
    for (std::size_t i = 0; i < layers().size(); ++i) {
      gradients.emplace_back(layers()[i].shape, type, is_fused(i));
      weights.push_back({d.weights[i], layers()[i].weight.get(), gradients[i].weight.get()});
    }
    if (const FusedLayer* const fused = forward.fused())
      weights[0].packed_gradient = fused->partials(), weights[0].num_gradients = fused->num_partials();
    clear_memory();
    plan_products();
    capture();
  }

  const std::vector<SageLayers::Layer>& layers() const { return forward.layers(); }
  bool is_fused(std::size_t layer) const { return layer == 0 && forward.fused() != nullptr; }

  /// What timing runs read must be numbers: some algorithms are faster on others.
  void clear_memory() {
    for (std::size_t i = 0; i < layers().size(); ++i) {
      const SageLayerShape& s = layers()[i].shape;
      if (is_fused(i)) continue;
      cuda_check(cudaMemset(gradients[i].result.get(), 0, static_cast<std::size_t>(s.rows * s.out) * size_of(type)));
    }
    pack_weights(weights, type, stream.get());
    cuda_check(cudaDeviceSynchronize());
  }

  Product plan(ProductKind kind, std::size_t layer, std::int64_t rows) {
    const SageLayerShape& s = layers()[layer].shape;
    const bool is_of_weight = kind == ProductKind::kWeightGradient;
    const ProductShape product{
        kind, rows, s.in, s.out, type, is_of_weight ? ActivationType::kF32 : type, shape.sage.may_use_tf32};
    const ProductMatrices matrices =
        is_of_weight
            ? ProductMatrices{gradients[layer].result.get(), layers()[layer].operand.get(),
                              gradients[layer].weight.get()}
            : ProductMatrices{gradients[layer].result.get(), layers()[layer].weight.get(), operand_gradient.get()};
    const bool is_beside = is_of_weight && layer > 0;
    return Product(is_beside ? products_beside : forward.products(), product, matrices, shape.sage.is_deterministic,
                   stream.get());
  }

  void plan_products() {
    for (const std::int64_t rows : forward.first_rows())
      if (!is_fused(0)) first_layer.push_back(plan(ProductKind::kWeightGradient, 0, rows));
    for (std::size_t i = 1; i < layers().size(); ++i) {
      const SageLayers::Layer& layer = layers()[i];
      later_layers.push_back({.weight = plan(ProductKind::kWeightGradient, i, layer.shape.rows)});
      if (forward.has_hidden_product(i))
        later_layers.back().hidden.emplace(HiddenProduct::Kind::kGradient, gradients[i].result.get(), layer.shape.rows,
                                           layer.weight.get(), forward.multiprocessors());
      else if (i + 1 < layers().size() || !is_last_fused)
        later_layers.back().input.emplace(plan(ProductKind::kInputGradient, i, layer.shape.rows));
    }
  }

  /// The gradient of layer i's operand.
  void enqueue_input_gradient(std::size_t i, Place place, cudaStream_t on) const {
    const LaterLayer& layer = later_layers[i - 1];
    if (layer.input) return layer.input->run(on);
    layer.hidden->run(forward.hidden_layer(i, place.tree).growth.num_grown, operand_gradient.get(), on);
  }

  /// The layers from i on, and the way back.
  void enqueue_later(std::size_t i, Place place, cudaStream_t on) {
    for (; i + (is_last_fused ? 1 : 0) < layers().size(); ++i) forward.enqueue_layer(i, place, on);
    enqueue_backward(place, on);
  }

  void enqueue_all(Place place, cudaStream_t on) {
    pack_weights(weights, type, on);
    forward.gather(place, on);
    forward.enqueue_first(place, on);
    enqueue_later(1, place, on);
    unpack_gradients(weights, on);
  }

  /// The layer that layer i reads, of as many rows as are computed.
  HiddenLayer below_of(std::size_t i, Place place) const {
    HiddenLayer below = forward.hidden_layer(i - 1, place.tree);
    if (i == 1) below.growth.grown_capacity = forward.first_rows()[place.choice];
    return below;
  }

  void enqueue_backward(Place place, cudaStream_t on) {
    const SampledTree& tree = forward.batches().tree(place.tree);
    const SeedLoss loss{.header = tree.header(),
                        .nodes = tree.nodes(),
                        .labels = data.labels,
                        .max_seeds = shape.sage.max_seeds,
                        .num_classes = shape.sage.num_classes,
                        .label_smoothing = static_cast<float>(shape.label_smoothing),
                        .type = type,
                        .rows = seed_losses.get(),
                        .sums = data.sums};
    const std::size_t last = layers().size() - 1;
    if (is_last_fused) {
      const HiddenLayer below = below_of(last, place);
      last_layer({below, loss, layers()[last].weight.get(), layers()[last - 1].result.get(),
                  layers()[last].operand.get(), gradients[last].result.get(), gradients[last - 1].result.get()},
                 on);
    } else {
      seed_loss(loss, forward.logits(), gradients[last].result.get(), on);
    }
    // What nothing waits for but the step's end goes beside the rest.
    const cudaStream_t other = beside.get();
    follow(other, on);
    follow(summing.get(), on);
    sum_losses(loss, summing.get());
    for (std::size_t i = last; i > 0; --i) {
      later_layers[i - 1].weight.run(other);
      if (i == last && is_last_fused) continue;
      enqueue_input_gradient(i, place, on);
      const HiddenLayer below = below_of(i, place);
      if (is_fused(i - 1)) {
        follow(gathering.get(), on);
        forward.enqueue_fused_gradient(place, operand_gradient.get(), on);
        enqueue_beside_backward(place.tree);
        break;
      }
      spread_gradient(below, operand_gradient.get(), gradients[i - 1].result.get(), on);
      follow(other, on);
    }
    if (!is_fused(0)) first_layer[place.choice].run(on);
    follow(on, other);
    follow(on, summing.get());
  }

  /// Later work on `stream` comes behind what `ahead` has so far.
  static void follow(cudaStream_t stream, cudaStream_t ahead) {
    CudaEvent passed(CudaEvent::Kind::kOrder);
    passed.record(ahead);
    passed.make_wait(stream);
  }

  /// On the multiprocessors where the gather was, the dropout of the batch behind that in `tree`, which is arithmetic,
  /// and the last hop of a later one, which waits for memory. Earlier, blocks of both would hold multiprocessors that
  /// products want whole, and the hop's reads would slow down those of the last layer.
  void enqueue_beside_backward(std::size_t tree) {
    SampledBatches& batches = forward.batches();
    follow(preparing.get(), gathering.get());
    forward.draw({batches.tree_behind(tree, 1), 0}, gathering.get());
    batches.sample_last_hop(tree, preparing.get());
  }

  /// A step whose first layer is fused. Beside all of it the next batch is gathered, on multiprocessors that the first
  /// layer leaves to that. Nothing else has room beside that layer, and the product behind it wants whole
  /// multiprocessors, so levels are sampled behind both, beside the last layer, which is captured first.
  void enqueue_fused(std::size_t tree, cudaStream_t on) {
    const Place place{tree, 0};
    SampledBatches& batches = forward.batches();
    follow(gathering.get(), on);
    forward.gather({batches.tree_behind(tree, 1), 0}, gathering.get());
    pack_weights(weights, type, on);
    forward.enqueue_first(place, on);
    forward.enqueue_layer(1, place, on);
    follow(sampling.get(), on);
    enqueue_later(2, place, on);
    batches.sample_levels(tree, sampling.get());
    unpack_gradients(weights, on);
    cuda_check(cudaEventRecordWithFlags(computed.get(), on, cudaEventRecordExternal));
    follow(on, sampling.get());
    follow(on, preparing.get());
    follow(on, gathering.get());
  }

  /// The launches of a step are the same for every batch: what differs is read from the header.
  void capture() {
    stream.wait();
    SampledBatches& batches = forward.batches();
    graphs.resize(batches.num_trees());
    for (std::size_t tree = 0; tree < graphs.size(); ++tree) {
      if (is_fused(0)) {
        graphs[tree].emplace([&](cudaStream_t on) { enqueue_fused(tree, on); }, nullptr,
                             std::vector<StepGraph::Variant>{{forward.first_rows()[0], [](cudaStream_t) {}}});
        continue;
      }
      const LocalId* const size = batches.tree(tree).size_of(layers().size() - 1);
      std::vector<StepGraph::Variant> variants;
      for (std::size_t choice = 0; choice < forward.first_rows().size(); ++choice)
        variants.push_back({forward.first_rows()[choice],
                            [this, place = Place{tree, choice}](cudaStream_t on) { enqueue_all(place, on); }});
      graphs[tree].emplace([](cudaStream_t) {}, size, variants,
                           [&](cudaStream_t on) {
                             batches.sample_levels(tree, on);
                             batches.sample_last_hop(tree, on);
                           });
    }
  }

  /// A step whose first layer is fused. Its gradients are there before its graph ends, so that their exchange and the
  /// update run beside the rest of the next batch's dropout.
  void run_fused(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t on) {
    const std::size_t tree = forward.batches().begin(header, ahead, stepping.get());
    if (!is_gathered) {
      forward.gather({tree, 0}, stepping.get());
      forward.draw({tree, 0}, stepping.get());
    }
    updated.record(on);
    updated.make_wait(stepping.get());
    graphs[tree]->launch(stepping.get());
    computed.make_wait(on);
    is_gathered = !ahead.empty();
  }

  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  struct LaterLayer {
    Product weight;                  // its gradient
    std::optional<Product> input{};  // that of the operand, by one of two; of a fused last layer by neither
    std::optional<HiddenProduct> hidden{};
  };

  const SageStepShape shape;
  const SageStepData data;
  const ActivationType type;
  const bool is_last_fused;
  CudaStream stream;             // of the timing of products
  UrgentStream beside, summing;  // of a step's launches beside the others, when they are recorded
  SageLayers forward;
  std::vector<LayerGradients> gradients;  // of each layer, the first one's first
  std::vector<PackedWeights> weights;
  Products products_beside;  // of the weights' gradients, at the same time as others
  DeviceArray<std::byte> operand_gradient;
  DeviceArray<float> seed_losses;                // and predictions, see loss.h
  std::vector<Product> first_layer;              // gradient of its weight, by choice of rows
  std::vector<LaterLayer> later_layers;          // later_layers[i] is layer i + 1
  std::vector<std::optional<StepGraph>> graphs;  // by tree
  CudaStream gathering, preparing;  // of batches behind, when a graph is recorded: they give way to all else
  UrgentStream sampling;            // of levels, small kernels that wait for each other
  CudaStream stepping;              // where graphs of fused steps run
  CudaEvent computed{CudaEvent::Kind::kOrder};  // recorded inside them, when the gradients are there
  CudaEvent updated{CudaEvent::Kind::kOrder};   // the weights, by what the caller enqueued
  bool is_gathered = false;                     // the operand of the next batch, by the graph before
};

SageStep::SageStep(const SageStepShape& shape, const SageStepData& data) : impl_(std::make_unique<Impl>(shape, data)) {}
SageStep::~SageStep() = default;

void SageStep::start_epoch(std::span<const NodeId> order) {
  impl_->forward.batches().start(order);
  impl_->is_gathered = false;
}

void SageStep::run(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream) {
  if (impl_->forward.fused() != nullptr) return impl_->run_fused(header, ahead, stream);
  impl_->graphs[impl_->forward.batches().begin(header, ahead, stream)]->launch(stream);
}

SageCounts SageStep::counts(cudaStream_t stream) const { return impl_->forward.batches().counts(stream); }

}  // namespace salient
