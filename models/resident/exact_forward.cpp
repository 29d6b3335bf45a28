// models/resident/exact_forward.cpp - see exact_forward.h.
//
//   features --- all neighbours, mean --> operand --- * W1, relu --> h1 ... h(L-2), of all nodes, block after block
//   h(L-2) --- mean --> operand --- * W(L-1), relu --> h(L-1) of a block --- * WL around --> p, of all nodes
//   h(L-2) --- the same for the nodes asked for --- * WL self --> logits --- + mean of p
#include "models/resident/exact_forward.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.h"
#include "models/resident/all_neighbors.h"

namespace salient {
namespace {

constexpr ActivationType kType = ActivationType::kF16;
constexpr std::int64_t kSize = 2;

struct Width {
  std::int64_t in, out;  ///< padded; in is of one part of the operand
};

std::vector<Width> widths_of(const ExactShape& shape) {
  std::vector<Width> widths;
  for (int i = 0; i < shape.num_layers; ++i)
    widths.push_back({padded(i == 0 ? shape.in_dim : shape.hidden_dim),
                      padded(i + 1 == shape.num_layers ? shape.num_classes : shape.hidden_dim)});
  return widths;
}

/// Whole blocks, as products have a fixed number of rows.
std::int64_t rows_of(const ExactShape& shape, std::size_t num_nodes) {
  const auto count = static_cast<std::int64_t>(num_nodes);
  return (count + shape.block_rows - 1) / shape.block_rows * shape.block_rows;
}

/// Results of hidden layers that are kept at a time.
int num_kept(const ExactShape& shape) { return std::min(shape.num_layers - 2, 2); }

DeviceArray<std::byte> array_of(std::int64_t bytes, const char* what) {
  auto array = make_device_array<std::byte>(static_cast<std::size_t>(bytes), what);
  cuda_check(cudaMemset(array.get(), 0, static_cast<std::size_t>(bytes)));  // products read rows behind the last node
  return array;
}

}  // namespace

std::int64_t exact_forward_bytes(const ExactShape& shape, std::size_t num_nodes) {
  const std::vector<Width> widths = widths_of(shape);
  const std::int64_t hidden = padded(shape.hidden_dim), classes = widths.back().out;
  const std::int64_t widest = std::max(widths[0].in, hidden);
  const std::int64_t block_row = (2 * widest + hidden) * kSize + classes * 4 + 8;
  return rows_of(shape, num_nodes) * (num_kept(shape) * hidden + classes) * kSize + shape.block_rows * block_row +
         (std::int64_t{100} << 20);
}

struct ExactForward::Impl {
  Impl(const ExactShape& s, const SageData& d)
      : shape(s),
        data(d),
        widths(widths_of(s)),
        operand(array_of(s.block_rows * 2 * std::max(widths[0].in, hidden()) * kSize, "a block's operand")),
        block_result(array_of(s.block_rows * hidden() * kSize, "a block's result")),
        projected(array_of(rows_of(s, d.graph.num_nodes) * classes() * kSize, "the last layer of all nodes")),
        logits(make_device_array<float>(static_cast<std::size_t>(s.block_rows * classes()))),
        nodes(make_device_array<NodeId>(static_cast<std::size_t>(s.block_rows))),
        long_rows(make_device_array<std::int32_t>(static_cast<std::size_t>(s.block_rows))),
        flags(make_device_array<std::int32_t>(2)) {
    require(s.num_layers >= 2 && s.hidden_dim % 8 == 0, "there are hidden layers of a multiple of 8 columns");
    for (int i = 0; i < num_kept(s); ++i)
      kept[static_cast<std::size_t>(i)] =
          array_of(rows_of(s, d.graph.num_nodes) * hidden() * kSize, "a layer's result of all nodes");
    for (const Width& w : widths) weights.push_back(array_of(2 * w.in * w.out * kSize, "a layer's weight"));
    plan();
  }

  std::int64_t hidden() const { return widths[0].out; }
  std::int64_t classes() const { return widths.back().out; }
  NeighborNotes notes() const { return {long_rows.get(), flags.get(), flags.get() + 1}; }

  void plan() {
    const CudaStream stream;
    cuda_check(cudaDeviceSynchronize());
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
      layers.emplace_back(products,
                          ProductShape{.kind = ProductKind::kForward,
                                       .rows = shape.block_rows,
                                       .in = 2 * widths[i].in,
                                       .out = widths[i].out,
                                       .inputs = kType,
                                       .result = kType,
                                       .may_use_tf32 = false,
                                       .has_relu = true},
                          ProductMatrices{operand.get(), weights[i].get(), block_result.get()}, shape.is_deterministic,
                          stream.get());
    const ProductShape last{.kind = ProductKind::kForward,
                            .rows = shape.block_rows,
                            .in = hidden(),
                            .out = classes(),
                            .inputs = kType,
                            .result = kType,
                            .may_use_tf32 = false,
                            .weight_stride = 2 * hidden()};
    ProductShape own = last;
    own.result = ActivationType::kF32;
    const std::byte* const around = weights.back().get();
    layers.emplace_back(products, last, ProductMatrices{block_result.get(), around, projected.get()},
                        shape.is_deterministic, stream.get());
    layers.emplace_back(products, own, ProductMatrices{block_result.get(), around + hidden() * kSize, logits.get()},
                        shape.is_deterministic, stream.get());
    stream.wait();
  }

  /// The rows that layer i reads.
  FeatureRows table(std::size_t i) const {
    if (i == 0) return data.features;
    return {kept[(i - 1) % 2].get(), FeatureType::kF16, hidden()};
  }

  /// Layer i of a block, into `result`.
  void compute(std::size_t i, const NodeBlock& block, void* result, cudaStream_t stream) const {
    all_neighbors_operand(data.graph, block, table(i), notes(), operand.get(), stream);
    layers[i].run_into(result, stream);
  }

  template <class F>
  void for_each_block(const F& f) const {
    const auto num_nodes = static_cast<std::int64_t>(data.graph.num_nodes);
    for (std::int64_t first = 0; first < num_nodes; first += shape.block_rows)
      f(NodeBlock{nullptr, static_cast<NodeId>(first), std::min(shape.block_rows, num_nodes - first)});
  }

  void start(std::span<const SageWeights> of_model, cudaStream_t stream) {
    require(of_model.size() == widths.size(), "there are weights for every layer");
    cuda_check(cudaMemsetAsync(notes().beyond_f16, 0, sizeof(std::int32_t), stream));
    std::vector<PackedWeights> packed;
    for (std::size_t i = 0; i < of_model.size(); ++i) packed.push_back({of_model[i], weights[i].get(), nullptr});
    pack_weights(packed, kType, stream);
    const std::size_t before_last = widths.size() - 2;
    for (std::size_t i = 0; i < before_last; ++i)
      for_each_block([&](const NodeBlock& block) {
        compute(i, block, kept[i % 2].get() + std::int64_t{block.first} * hidden() * kSize, stream);
      });
    for_each_block([&](const NodeBlock& block) {
      compute(before_last, block, block_result.get(), stream);
      layers[before_last + 1].run_into(projected.get() + std::int64_t{block.first} * classes() * kSize, stream);
    });
  }

  const float* predict(std::span<const NodeId> of, cudaStream_t stream) {
    const auto count = static_cast<std::int64_t>(of.size());
    require(count <= shape.block_rows, "a block has no more nodes than was said");
    cuda_check(cudaMemcpyAsync(nodes.get(), of.data(), of.size_bytes(), cudaMemcpyHostToDevice, stream));
    const NodeBlock block{nodes.get(), 0, count};
    compute(widths.size() - 2, block, block_result.get(), stream);
    layers.back().run(stream);
    add_mean_of_neighbors(data.graph, block, {projected.get(), FeatureType::kF16, classes()}, notes(), logits.get(),
                          stream);
    return logits.get();
  }

  const ExactShape shape;
  const SageData data;
  const std::vector<Width> widths;
  DeviceArray<std::byte> operand, block_result, projected;
  std::array<DeviceArray<std::byte>, 2> kept;  // of layer i in kept[i % 2]
  DeviceArray<float> logits;
  DeviceArray<NodeId> nodes;
  DeviceArray<std::int32_t> long_rows, flags;  // flags: the number of long rows; beyond f16
  std::vector<DeviceArray<std::byte>> weights;
  Products products;
  std::vector<Product> layers;  // of hidden layers; then the last one's two matrices, around and self
};

ExactForward::ExactForward(const ExactShape& shape, const SageData& data)
    : impl_(std::make_unique<Impl>(shape, data)) {}
ExactForward::~ExactForward() { (void)cudaDeviceSynchronize(); }

void ExactForward::start(std::span<const SageWeights> weights, cudaStream_t stream) { impl_->start(weights, stream); }
const float* ExactForward::predict(std::span<const NodeId> nodes, cudaStream_t stream) {
  return impl_->predict(nodes, stream);
}
std::int64_t ExactForward::logits_stride() const { return impl_->classes(); }

bool ExactForward::is_beyond_f16(cudaStream_t stream) const {
  std::int32_t found = 0;
  cuda_check(cudaMemcpyAsync(&found, impl_->notes().beyond_f16, sizeof found, cudaMemcpyDeviceToHost, stream));
  cuda_check(cudaStreamSynchronize(stream));
  return found != 0;
}

}  // namespace salient
