// models/compute_bytes.cpp - rows times widths times the matrices that a layer of each model has alive.
#include "models/compute_bytes.h"

#include <algorithm>
#include <cstddef>

#include "models/kernels/gat_bins.h"
#include "models/kernels/gatv2_bins.h"

namespace salient {
namespace {

/// Matrices of a layer at its peak. Rows: dst are those that it computes, src all that it reads. Widths: in, out.
struct Matrices {
  int dst_in = 0, src_in = 0, dst_out = 0, src_out = 0;
};

struct LayerMatrices {
  Matrices values{}, gradients{};
};

/// What the operators keep and make; fitted to the peaks of trainings with small and large batches, not profiled.
LayerMatrices matrices_of(const ModelOptions& options) {
  using enum ModelKind;
  const auto of_kind = [&]() -> LayerMatrices {
    switch (options.kind) {
      case kSage:
        if (options.aggr != Aggregation::kMean)  // not one fused operator: both products, their sum; what was largest
          return {{.dst_in = 2, .dst_out = 4}, {.dst_in = 2, .dst_out = 2}};
        return {{.dst_in = 1, .dst_out = 2}, {.dst_in = 1, .dst_out = 2}};
      case kGcn:
        return {{.dst_in = options.gcn_norm == GcnNorm::kRow ? 3 : 5, .dst_out = 3}, {.dst_in = 1, .dst_out = 2}};
      case kGin: return {{.dst_in = 4, .dst_out = 4}, {.dst_in = 1, .dst_out = 3}};
      case kGat: return {{.dst_out = 2, .src_out = 1}, {.dst_out = 1, .src_out = 2}};
      case kGatv2: return {{.dst_out = 4, .src_out = 1}, {.dst_out = 3, .src_out = 1}};
      case kSageRi: return {{.dst_in = 2, .src_in = 2, .dst_out = 5}, {.dst_in = 1, .dst_out = 2}};
    }
    return {};
  };
  LayerMatrices found = of_kind();
  if (options.residual && options.kind != ModelKind::kSageRi) ++found.values.dst_out;
  if (options.norm != NormKind::kNone && options.kind != kSageRi) {
    ++found.values.dst_out;
    ++found.gradients.dst_out;
  }
  return found;
}

std::int64_t values_of(const Matrices& count, const MfgShape::Hop& hop, std::int64_t in, std::int64_t out) {
  return hop.num_dst * (count.dst_in * in + count.dst_out * out) +
         hop.num_src * (count.src_in * in + count.src_out * out);
}

/// Of one row between the last layer and the logits: what layers are joined to, and hidden layers of its own.
std::int64_t width_of_head(const ModelOptions& options, InputKind input) {
  const std::int64_t hidden = options.hidden_dim, all = hidden * options.num_layers;
  std::int64_t width = options.jk == JumpingKnowledge::kNone ? 0 : all;
  if (options.kind == ModelKind::kGin) width += 2 * hidden;
  if (options.kind == ModelKind::kSageRi)
    width += (input == InputKind::kDense ? options.in_dim : 0) + all + std::int64_t{6} * options.num_classes;
  return width;
}

bool is_attention(const ModelOptions& options) {
  return options.kind == ModelKind::kGat || options.kind == ModelKind::kGatv2;
}

/// Bytes that attention keeps of a hop's edges for a gradient by bins: on a GPU, in any order. Counted elsewhere, too.
std::int64_t bytes_of_bins(const ModelOptions& options, const MfgShape::Hop& hop, std::int64_t out, int heads) {
  if (!is_attention(options)) return 0;
  const Heads shape{heads, out / heads};
  const bool is_v2 = options.kind == ModelKind::kGatv2;
  if (!(is_v2 ? are_gatv2_bins_faster(shape, hop.num_src, hop.num_edges)
              : are_gat_bins_faster(shape, hop.num_src, hop.num_edges)))
    return 0;
  const std::int64_t signs = is_v2 ? num_attention_edges(hop.num_edges, hop.num_dst) * shape.width() / 4 : 0;
  return attention_bins_size(hop.num_src, hop.num_edges) * static_cast<std::int64_t>(sizeof(LocalId)) + signs;
}

/// Maxima of columns are the one aggregation that dense rows are made for.
bool makes_dense_rows(const ModelOptions& options) {
  return options.kind == ModelKind::kSage && options.aggr != Aggregation::kMean;
}

/// What the first layer of sparse rows has beside the matrices of any layer, in the place of those as wide as its
/// input: products of all sources, and the transposed weight or its gradient.
std::int64_t values_of_sparse_input(const ModelOptions& options, const MfgShape::Hop& hop, std::int64_t out) {
  return hop.num_src * out + 2 * std::int64_t{options.in_dim} * out;
}

}  // namespace

std::int64_t compute_bytes(const ModelOptions& options, const MfgShape& mfg, Gradients gradients, InputKind input) {
  if (mfg.hops.empty()) return 0;
  LayerMatrices matrices = matrices_of(options);
  const bool is_training = gradients == Gradients::kAll;
  if (!is_training) {  // nothing is kept for gradients, and no dropout made
    matrices.values.dst_out = std::min(matrices.values.dst_out, 3);
    matrices.values.src_in = 0;
  }
  const std::int64_t head = width_of_head(options, input);
  std::int64_t values = 0, peak = 0, kept_bytes = 0, in = options.in_dim;
  for (std::size_t layer = 0; layer < mfg.hops.size(); ++layer) {
    const bool is_first = layer == 0, is_last = layer + 1 == mfg.hops.size();
    const MfgShape::Hop& hop = mfg.hops[layer];
    const std::int64_t out = is_last && head == 0 ? options.num_classes : options.hidden_dim;
    Matrices of_values = matrices.values, of_gradients = is_training ? matrices.gradients : Matrices{};
    if (is_first) of_gradients.dst_in = 0;  // features have no gradient
    if (is_last && head == 0) {             // no activation, and its result is the logits, which are counted below
      of_values.dst_out = std::max(0, of_values.dst_out - 2);
      of_gradients.dst_out = std::max(0, of_gradients.dst_out - 2);
    }
    const bool is_sparse = is_first && input == InputKind::kSparse;
    if (is_sparse) values += values_of_sparse_input(options, hop, out);
    if (is_sparse && !makes_dense_rows(options)) in = out;  // it multiplies first
    values += values_of(of_values, hop, in, out);
    // All features as f32: for the product before the edges, or made of sparse ones.
    if (is_first && (is_sparse ? makes_dense_rows(options) : is_attention(options))) values += hop.num_src * in;
    if (is_training) kept_bytes += bytes_of_bins(options, hop, out, is_last && head == 0 ? 1 : options.heads);
    peak = std::max(peak, values + values_of(of_gradients, hop, in, out));  // what comes after this layer is freed then
    in = options.hidden_dim;
  }
  const std::int64_t num_seeds = mfg.hops.back().num_dst;
  values += num_seeds * (is_training ? 2 : 1) * head;
  // At the end log-probabilities, their gradients and those of the logits, else logits and classes.
  values += num_seeds * (is_training ? 3 : 2) * options.num_classes;
  return std::max(peak, values) * static_cast<std::int64_t>(sizeof(float)) + kept_bytes;
}

}  // namespace salient
