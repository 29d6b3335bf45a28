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
#include "models/kernels/dropout.h"
#include "models/resident/loss.h"
#include "models/resident/products.h"
#include "models/resident/step_graph.h"
#include "models/resident/tree.h"

namespace salient {
namespace {

/// Sizes of one layer; rows are those of the tree's level that it computes.
struct LayerShape {
  std::int64_t rows, in, out;  ///< in = both parts of the operand; in and out padded
};

std::vector<LayerShape> layer_shapes(const SageStepShape& shape) {
  const std::vector<std::int64_t> capacities = tree_capacities(shape.fanouts, shape.max_seeds);
  const std::size_t count = shape.fanouts.size();
  std::vector<LayerShape> layers;
  for (std::size_t i = 0; i < count; ++i)
    layers.push_back({capacities[count - 1 - i], 2 * padded(i == 0 ? shape.in_dim : shape.hidden_dim),
                      padded(i + 1 == count ? shape.num_classes : shape.hidden_dim)});
  return layers;
}

/// Memory of one layer, in the activations' type where nothing else is said.
struct LayerMemory {
  LayerMemory(const LayerShape& s, ActivationType type, bool is_last)
      : operand(array(s.rows * s.in, type)),
        result(array(s.rows * s.out, is_last ? ActivationType::kF32 : type)),
        result_gradient(array(s.rows * s.out, type)),
        weight(array(s.in * s.out, type)),
        weight_gradient(make_device_array<float>(static_cast<std::size_t>(s.in * s.out))),
        kept(make_device_array<std::uint8_t>(static_cast<std::size_t>(s.rows * s.out / 8))) {}

  static DeviceArray<std::byte> array(std::int64_t count, ActivationType type) {
    return make_device_array<std::byte>(static_cast<std::size_t>(count) * size_of(type));
  }

  DeviceArray<std::byte> operand, result, result_gradient, weight;
  DeviceArray<float> weight_gradient;
  DeviceArray<std::uint8_t> kept;  // of the result, a bit per element
};

std::int64_t bytes_of(const LayerShape& s, ActivationType type) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  return s.rows * (s.in + 2 * s.out) * size + s.in * s.out * (size + 4) + s.rows * s.out / 8;
}

}  // namespace

std::int64_t sage_step_bytes(const SageStepShape& shape) {
  std::int64_t bytes = std::int64_t{100} << 20;  // the products' workspace, the tree's scratch
  const std::vector<LayerShape> layers = layer_shapes(shape);
  for (const LayerShape& layer : layers) bytes += bytes_of(layer, shape.activations);
  return bytes + layers.front().rows * (16 + 4 * shape.fanouts.back()) +
         layers.front().rows * layers.front().in * static_cast<std::int64_t>(size_of(shape.activations)) / 8;
}

struct SageStep::Impl {
  Impl(const SageStepShape& s, const SageStepData& d)
      : shape(s),
        data(d),
        layers(layer_shapes(s)),
        tree(d.graph, s.fanouts, s.replacement, s.max_seeds),
        seed_losses(make_device_array<float>(static_cast<std::size_t>(2 * s.max_seeds))) {
    require(s.hidden_dim % 8 == 0 || s.fanouts.size() == 1, "hidden layers have a multiple of 8 columns");
    require(d.weights.size() == layers.size(), "there are weights for every layer");
    for (std::size_t i = 0; i < layers.size(); ++i)
      memory.emplace_back(layers[i], s.activations, /*is_last=*/i + 1 == layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i)
      weights.push_back({d.weights[i], memory[i].weight.get(), memory[i].weight_gradient.get()});
    std::int64_t largest = 0;  // gradient of an operand; the first layer's is not needed
    for (std::size_t i = 1; i < layers.size(); ++i) largest = std::max(largest, layers[i].rows * layers[i].in);
    operand_gradient = LayerMemory::array(std::max<std::int64_t>(largest, 8), s.activations);
    clear_memory();
    plan_products();
    capture();
  }

  /// Rows of the first layer that are computed: the tree's last level is nearly as large as all other arrays
  /// together, and seldom full, so the GPU chooses among products of several sizes.
  std::vector<std::int64_t> row_choices() const {
    const std::int64_t capacity = layers[0].rows;
    if (!shape.has_size_choice) return {capacity};
    constexpr std::int64_t kSteps = StepGraph::kMaxVariants;
    std::vector<std::int64_t> choices;
    for (std::int64_t i = 0; i < kSteps; ++i)  // half, two thirds, five sixths, all; whole tiles of products
      choices.push_back(std::min(capacity, (capacity * (kSteps - 1 + i) / (2 * kSteps - 2) + 127) / 128 * 128));
    return choices;
  }

  /// What timing runs read must be numbers: some algorithms are faster on others.
  void clear_memory() {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto size = size_of(shape.activations);
      cuda_check(
          cudaMemset(memory[i].operand.get(), 0, static_cast<std::size_t>(layers[i].rows * layers[i].in) * size));
      cuda_check(cudaMemset(memory[i].result_gradient.get(), 0,
                            static_cast<std::size_t>(layers[i].rows * layers[i].out) * size));
    }
    pack_weights(weights, shape.activations, stream.get());
    cuda_check(cudaDeviceSynchronize());
  }

  Product plan(ProductKind kind, std::size_t layer, std::int64_t rows) {
    const LayerShape& s = layers[layer];
    const LayerMemory& m = memory[layer];
    const bool is_last = layer + 1 == layers.size();
    ProductShape product{kind, rows, s.in, s.out, shape.activations, shape.activations, shape.may_use_tf32};
    const void *first = m.result_gradient.get(), *second = m.weight.get();
    void* result = operand_gradient.get();
    if (kind == ProductKind::kForward) {
      if (is_last) product.result = ActivationType::kF32;
      first = m.operand.get();
      result = m.result.get();
    } else if (kind == ProductKind::kWeightGradient) {
      product.result = ActivationType::kF32;
      second = m.operand.get();
      result = m.weight_gradient.get();
    }
    return Product(products, product, {first, second, result}, shape.is_deterministic, stream.get());
  }

  void plan_products() {
    for (const std::int64_t rows_chosen : row_choices())
      first_layer.push_back({rows_chosen, plan(ProductKind::kForward, 0, rows_chosen),
                             plan(ProductKind::kWeightGradient, 0, rows_chosen)});
    for (std::size_t i = 1; i < layers.size(); ++i)
      later_layers.push_back({plan(ProductKind::kForward, i, layers[i].rows),
                              plan(ProductKind::kWeightGradient, i, layers[i].rows),
                              plan(ProductKind::kInputGradient, i, layers[i].rows)});
  }

  TreeDropout dropout_of(std::size_t layer) const {
    const auto i = static_cast<std::uint32_t>(layer);
    const DropoutMask mask = DropoutMask::make(shape.dropout, 0, 0, i);  // seed and step are the header's
    return {tree.header(), i, mask.threshold, mask.threshold == 0 ? 1.0f : mask.scale};
  }

  /// Layer i, which is hidden, and the tree's level whose nodes layer i + 1 computes from it.
  HiddenLayer hidden_layer(std::size_t i) const {
    return {tree.growth(layers.size() - 2 - i),
            tree.nodes(),
            dropout_of(i),
            layers[i].out,
            shape.activations,
            memory[i].kept.get()};
  }

  /// The first layer's products for up to `rows` nodes of the tree's last level.
  struct FirstLayer {
    std::int64_t rows;
    Product forward, weight_gradient;
  };
  struct LaterLayer {
    Product forward, weight_gradient, input_gradient;
  };

  void enqueue_forward(const FirstLayer& first, cudaStream_t on) const {
    LastHop hop = tree.last_hop();
    hop.capacity = first.rows;
    first_operand(hop, data.features, shape.activations, memory[0].operand.get(), on);
    pack_weights(weights, shape.activations, on);
    first.forward.run(on);
    for (std::size_t i = 1; i < layers.size(); ++i) {
      next_operand(hidden_layer(i - 1), memory[i - 1].result.get(), memory[i].operand.get(), on);
      later_layers[i - 1].forward.run(on);
    }
  }

  void enqueue_backward(const FirstLayer& first, cudaStream_t on) const {
    const LayerMemory& last = memory.back();
    seed_loss({.header = tree.header(),
               .nodes = tree.nodes(),
               .labels = data.labels,
               .max_seeds = shape.max_seeds,
               .num_classes = shape.num_classes,
               .label_smoothing = static_cast<float>(shape.label_smoothing),
               .type = shape.activations,
               .rows = seed_losses.get(),
               .sums = data.sums},
              reinterpret_cast<const float*>(last.result.get()), last.result_gradient.get(), on);
    for (std::size_t i = layers.size() - 1; i > 0; --i) {
      later_layers[i - 1].weight_gradient.run(on);
      later_layers[i - 1].input_gradient.run(on);
      HiddenLayer below = hidden_layer(i - 1);
      if (i == 1) below.growth.grown_capacity = first.rows;
      spread_gradient(below, operand_gradient.get(), memory[i - 1].result_gradient.get(), on);
    }
    first.weight_gradient.run(on);
    unpack_gradients(weights, on);
  }

  /// The launches of a step are the same for every batch: what differs is read from the header.
  void capture() {
    std::vector<StepGraph::Variant> variants;
    for (const FirstLayer& first : first_layer)
      variants.push_back({first.rows, [this, &first](cudaStream_t on) {
                            enqueue_forward(first, on);
                            enqueue_backward(first, on);
                          }});
    stream.wait();
    graph.emplace([this](cudaStream_t on) { tree.sample(on); }, tree.size_of(layers.size() - 1), variants);
  }

  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const SageStepShape shape;
  const SageStepData data;
  const std::vector<LayerShape> layers;
  CudaStream stream;  // of the timing of products
  SampledTree tree;
  std::vector<LayerMemory> memory;  // of each layer, the first one's first
  std::vector<PackedWeights> weights;
  DeviceArray<std::byte> operand_gradient;
  DeviceArray<float> seed_losses;  // and predictions, see loss.h
  Products products;
  std::vector<FirstLayer> first_layer;   // for ascending numbers of rows
  std::vector<LaterLayer> later_layers;  // later_layers[i] is layer i + 1
  DeviceArray<NodeId> order;
  std::size_t order_size = 0;
  std::int64_t num_seeds = 0;  // of the epoch so far
  std::optional<StepGraph> graph;
};

SageStep::SageStep(const SageStepShape& shape, const SageStepData& data) : impl_(std::make_unique<Impl>(shape, data)) {}
SageStep::~SageStep() = default;

void SageStep::start_epoch(std::span<const NodeId> order) {
  Impl& self = *impl_;
  cuda_check(cudaDeviceSynchronize());  // steps of the last epoch read the order
  if (order.size() > self.order_size) {
    self.order = make_device_array<NodeId>(order.size());
    self.order_size = order.size();
  }
  cuda_check(cudaMemcpy(self.order.get(), order.data(), order.size_bytes(), cudaMemcpyHostToDevice));
  self.tree.clear_counts();
  self.num_seeds = 0;
}

void SageStep::run(const StepHeader& header, cudaStream_t stream) {
  impl_->num_seeds += header.num_seeds;
  impl_->tree.begin(header, impl_->order.get(), stream);
  impl_->graph->launch(stream);
}

SageStep::Counts SageStep::counts(cudaStream_t stream) const {
  Counts result{{}, impl_->tree.num_edges(stream)};
  std::int64_t nodes = impl_->num_seeds;
  for (const std::int64_t edges : result.hop_edges) result.hop_nodes.push_back(nodes += edges);
  return result;
}

}  // namespace salient
