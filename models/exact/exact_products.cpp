// models/exact/exact_products.cpp - see exact_products.h.
#include "models/exact/exact_products.h"

#include <algorithm>

#include "core/error.h"

namespace salient {
namespace {

constexpr ActivationType kType = ActivationType::kF16;
constexpr std::int64_t kSize = 2;

}  // namespace

DeviceArray<std::byte> zeroed_array(std::int64_t bytes, const char* what) {
  auto array = make_device_array<std::byte>(static_cast<std::size_t>(bytes), what);
  cuda_check(cudaMemset(array.get(), 0, static_cast<std::size_t>(bytes)));
  return array;
}

ExactProducts::ExactProducts(const ExactShape& shape, std::span<const FeatureRows> tables,
                             const ExactPlanMemory& memory)
    : shape_(shape), widths_(widths_of(shape)), tables_(tables.begin(), tables.end()) {
  for (const ExactWidth& w : widths_) weights_.push_back(zeroed_array(2 * w.in * w.out * kSize, "a layer's weight"));
  const auto fits = [&](const FeatureRows& table) { return ExactLayer::fits(table, shape.hidden_dim); };
  if (std::ranges::all_of(tables_, fits))
    plan_exact_layers();
  else
    plan_products(memory);
}

void ExactProducts::plan_exact_layers() {
  const ExactWidth last = widths_.back();
  last_weight_ = zeroed_array(2 * last.in * last.out * kSize, "the last layer's weight");
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const bool has_next = i + 1 == tables_.size();
    exact_layers_.emplace_back(ExactLayerWeights{widths_[i].in, weights_[i].get(),
                                                 has_next ? last_weight_.get() : nullptr, has_next ? last.out : 0});
  }
}

void ExactProducts::plan_products(const ExactPlanMemory& memory) {
  const ExactWidth last = widths_.back();
  hidden_rows_ = zeroed_array(shape_.block_rows * last.in * kSize, "a block's result");
  products_.emplace();
  const CudaStream stream;
  cuda_check(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < tables_.size(); ++i)
    layers_.emplace_back(*products_,
                         ProductShape{.kind = ProductKind::kForward,
                                      .rows = shape_.block_rows,
                                      .in = 2 * widths_[i].in,
                                      .out = widths_[i].out,
                                      .inputs = kType,
                                      .result = kType,
                                      .may_use_tf32 = false,
                                      .has_relu = true},
                         ProductMatrices{memory.operand, weights_[i].get(), hidden_rows_.get()},
                         shape_.is_deterministic, stream.get());
  const ProductShape of_last{.kind = ProductKind::kForward,
                             .rows = shape_.block_rows,
                             .in = last.in,
                             .out = last.out,
                             .inputs = kType,
                             .result = kType,
                             .may_use_tf32 = false,
                             .weight_stride = 2 * last.in};
  for (std::int64_t part = 0; part < 2; ++part)
    layers_.emplace_back(
        *products_, of_last,
        ProductMatrices{hidden_rows_.get(), weights_.back().get() + part * last.in * kSize, memory.classes},
        shape_.is_deterministic, stream.get());
  stream.wait();
}

void ExactProducts::pack(std::span<const SageWeights> of_model, cudaStream_t stream) {
  require(of_model.size() == widths_.size(), "there are weights for every layer");
  std::vector<PackedWeights> packed;
  for (std::size_t i = 0; i < of_model.size(); ++i) packed.push_back({of_model[i], weights_[i].get(), nullptr});
  pack_weights(packed, kType, stream);
  if (exact_layers_.empty()) return;
  const auto row = static_cast<std::size_t>(widths_.back().in * kSize);
  const auto rows = static_cast<std::size_t>(widths_.back().out);
  for (std::size_t part = 0; part < 2; ++part)
    cuda_check(cudaMemcpy2DAsync(last_weight_.get() + part * rows * row, row, weights_.back().get() + part * row,
                                 2 * row, row, rows, cudaMemcpyDeviceToDevice, stream));
}

void ExactProducts::run(std::size_t i, const NodeBlock& block, const std::byte* operand, const ExactResults& to,
                        int multiprocessors, cudaStream_t stream) const {
  if (!exact_layers_.empty()) {
    const bool is_from_table = reads_means_alone(block);
    const std::int64_t width = widths_[i].in;
    const std::byte* const own =
        is_from_table ? tables_[i].data + std::int64_t{block.first} * width * kSize : operand + width * kSize;
    const ExactLayerBlock rows{.count = block.count,
                               .means = operand,
                               .own = own,
                               .row_stride = is_from_table ? width : 2 * width,
                               .result = to.result,
                               .around = to.around,
                               .self = to.self,
                               .beyond_f16 = to.beyond_f16};
    return exact_layers_[i].run(rows, multiprocessors, stream);
  }
  std::byte* const result = to.result != nullptr ? to.result : hidden_rows_.get();
  layers_[i].run_on(operand, result, stream);
  if (to.around != nullptr) layers_[i + 1].run_on(result, to.around, stream);
  if (to.self != nullptr) layers_[i + 2].run_on(result, to.self, stream);
}

}  // namespace salient
