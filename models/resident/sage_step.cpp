// models/resident/sage_step.cpp - see sage_step.h.
//
//   level L-1 of the tree --- hop L-1, gather, mean --> operand 1 --- * W1 --> z1 --- relu, dropout, mean -->
//   operand 2 ...
//   ... operand L --- * WL --> logits --> loss, dz_L --- * WL --> its operand's gradient --- spread --> dz_(L-1) ...
//   dz1 and for each layer dW = dz^T * operand.
#include "models/resident/sage_step.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
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
    for (std::size_t i = 1; i < layers().size(); ++i)
      later_layers.push_back({plan(ProductKind::kWeightGradient, i, layers()[i].shape.rows),
                              plan(ProductKind::kInputGradient, i, layers()[i].shape.rows)});
  }

  void enqueue_later(Place place, cudaStream_t on) const {
    forward.enqueue_later(place, on);
    enqueue_backward(place, on);
  }

  void enqueue_all(Place place, cudaStream_t on) const {
    pack_weights(weights, type, on);
    forward.gather(place, on);
    forward.enqueue_first(place, on);
    enqueue_later(place, on);
    unpack_gradients(weights, on);
  }

  void enqueue_backward(Place place, cudaStream_t on) const {
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
    seed_loss(loss, forward.logits(), gradients.back().result.get(), on);
    // What nothing waits for but the step's end goes beside the rest.
    const cudaStream_t other = beside.get();
    follow(other, on);
    sum_losses(loss, other);
    for (std::size_t i = layers().size() - 1; i > 0; --i) {
      later_layers[i - 1].weight.run(other);
      later_layers[i - 1].input.run(on);
      HiddenLayer below = forward.hidden_layer(i - 1, place.tree);
      if (is_fused(i - 1)) {
        forward.fused()->backward(below, place.tree, operand_gradient.get(), on);
        break;
      }
      if (i == 1) below.growth.grown_capacity = forward.first_rows()[place.choice];
      spread_gradient(below, operand_gradient.get(), gradients[i - 1].result.get(), on);
      follow(other, on);
    }
    if (!is_fused(0)) first_layer[place.choice].run(on);
    follow(on, other);
  }

  /// Later work on `stream` comes behind what `ahead` has so far.
  static void follow(cudaStream_t stream, cudaStream_t ahead) {
    CudaEvent passed(CudaEvent::Kind::kOrder);
    passed.record(ahead);
    passed.make_wait(stream);
  }

  /// The last hop of the next batch, which waits for memory, and its dropout, which is arithmetic.
  void prepare_next(std::size_t tree, cudaStream_t on) {
    follow(drawing.get(), on);
    forward.batches().sample_next_last_hop(tree, on);
    forward.draw({SampledBatches::next(tree), 0}, drawing.get());
    follow(on, drawing.get());
  }

  /// The launches of a step are the same for every batch: what differs is read from the header. A fused first layer
  /// leaves no room beside it, so the next batch is prepared beside what follows.
  void capture() {
    stream.wait();
    for (std::size_t tree = 0; tree < graphs.size(); ++tree) {
      SampledBatches& batches = forward.batches();
      const LocalId* const size = batches.tree(tree).size_of(layers().size() - 1);
      std::vector<StepGraph::Variant> variants;
      if (is_fused(0)) {
        const Place place{tree, 0};
        variants.push_back({forward.first_rows()[0], [&](cudaStream_t on) { enqueue_later(place, on); }});
        graphs[tree].emplace([&](cudaStream_t on) { forward.enqueue_first(place, on); }, size, variants,
                             [this, tree](cudaStream_t on) { prepare_next(tree, on); });
        continue;
      }
      for (std::size_t choice = 0; choice < forward.first_rows().size(); ++choice)
        variants.push_back({forward.first_rows()[choice],
                            [this, place = Place{tree, choice}](cudaStream_t on) { enqueue_all(place, on); }});
      graphs[tree].emplace([](cudaStream_t) {}, size, variants,
                           [&](cudaStream_t on) { batches.sample_next(tree, on); });
    }
  }

  /// A step whose first layer is fused. Behind its graph the next batch is gathered, and the levels of the one after
  /// that are sampled: beside what is between two graphs, the exchange of gradients, the update, and launches, which
  /// leave the GPU idle.
  void run_fused(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t on) {
    SampledBatches& batches = forward.batches();
    computed.make_wait(sampling.get());  // of the batch before, whose tree `next` gets
    const std::size_t tree = batches.begin(header, next, sampling.get());
    batches.sample_next_levels(tree, sampling.get());
    sampled.record(sampling.get());
    pack_weights(weights, type, on);
    sampled.make_wait(on);
    if (is_gathered) {
      gathered.make_wait(on);
    } else {
      forward.gather({tree, 0}, on);
      forward.draw({tree, 0}, on);
    }
    graphs[tree]->launch(on);
    computed.record(on);
    unpack_gradients(weights, on);
    is_gathered = next.has_value();
    if (!is_gathered) return;
    computed.make_wait(gathering.get());
    forward.gather({SampledBatches::next(tree), 0}, gathering.get());
    gathered.record(gathering.get());
  }

  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  struct LaterLayer {
    Product weight, input;  // gradients
  };

  const SageStepShape shape;
  const SageStepData data;
  const ActivationType type;
  CudaStream stream;    // of the timing of products
  UrgentStream beside;  // of a step's launches beside the others, when they are recorded
  SageLayers forward;
  std::vector<LayerGradients> gradients;  // of each layer, the first one's first
  std::vector<PackedWeights> weights;
  Products products_beside;  // of the weights' gradients, at the same time as others
  DeviceArray<std::byte> operand_gradient;
  DeviceArray<float> seed_losses;        // and predictions, see loss.h
  std::vector<Product> first_layer;      // gradient of its weight, by choice of rows
  std::vector<LaterLayer> later_layers;  // later_layers[i] is layer i + 1
  std::array<std::optional<StepGraph>, SampledBatches::kNumTrees> graphs;
  CudaStream gathering;   // of the next batch: gives way to all else
  CudaStream drawing;     // of its dropout
  UrgentStream sampling;  // of the next batch's levels: small kernels that wait for each other
  CudaEvent computed{CudaEvent::Kind::kOrder}, gathered{CudaEvent::Kind::kOrder}, sampled{CudaEvent::Kind::kOrder};
  bool is_gathered = false;  // the operand of the next batch, or will be when `gathered` has passed
};

SageStep::SageStep(const SageStepShape& shape, const SageStepData& data) : impl_(std::make_unique<Impl>(shape, data)) {}
SageStep::~SageStep() = default;

void SageStep::start_epoch(std::span<const NodeId> order) {
  impl_->forward.batches().start(order);
  impl_->is_gathered = false;
}

void SageStep::run(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream) {
  if (impl_->forward.fused() != nullptr) return impl_->run_fused(header, next, stream);
  impl_->graphs[impl_->forward.batches().begin(header, next, stream)]->launch(stream);
}

SageCounts SageStep::counts(cudaStream_t stream) const { return impl_->forward.batches().counts(stream); }

}  // namespace salient
