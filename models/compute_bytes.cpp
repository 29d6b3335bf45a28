// models/compute_bytes.cpp - rows times widths times the matrices that the operations of each layer have alive.
#include "models/compute_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"
#include "models/describe/costs.h"
#include "models/kernels/gat_bins.h"
#include "models/kernels/gatv2_bins.h"

namespace salient {
namespace {

/// Matrices of a layer at its peak. Rows: dst are those that it computes, src all that it reads, edge its entries, row
/// pairs of a destination and a relation that have entries. Widths: in, out.
struct Matrices {
  double dst_in = 0, src_in = 0, dst_out = 0, src_out = 0, edge_out = 0, row_in = 0, row_out = 0, edge_in = 0;

  Matrices& operator+=(const Matrices& more) {
    dst_in += more.dst_in, src_in += more.src_in, dst_out += more.dst_out, src_out += more.src_out;
    edge_out += more.edge_out, row_in += more.row_in, row_out += more.row_out;
    edge_in += more.edge_in;
    return *this;
  }
  Matrices operator*(double share) const {
    return {dst_in * share,   src_in * share, dst_out * share, src_out * share,
            edge_out * share, row_in * share, row_out * share, edge_in * share};
  }
};

struct LayerMatrices {
  Matrices values{}, gradients{};
};

/// What each operation keeps and makes; fitted to the peaks of trainings with small and large batches, not profiled.
class Counter {
 public:
  Counter(const LayerList& list, OpId id)
      : list_(list), id_(id), op_(list.at(id)), is_logits_(id + 1 == static_cast<OpId>(list.ops.size())) {}

  /// Of one type or relation: a share of those of all, which are taken for equally frequent.
  LayerMatrices count() const {
    const bool is_of_sources = op_.rows == RowSet::kSources;
    const double share = op_.type == kEvery                        ? 1
                         : op_.relation == kEvery || is_of_sources ? 1.0 / list_.num_types
                                                                   : 1.0 / list_.num_relations;
    const LayerMatrices found = std::visit([this](const auto& what) { return of(what); }, op_.what);
    return {found.values * share, found.gradients * share};
  }

 private:
  /// Logits are counted apart.
  Matrices result() const {
    if (is_logits_) return {};
    if (op_.rows == RowSet::kSources) return {.src_out = 1};
    return op_.relation == kEvery ? Matrices{.dst_out = 1} : Matrices{.row_out = 1};
  }
  LayerMatrices value_and_gradient() const { return {result(), result()}; }

  LayerMatrices of(const Input&) const { return {}; }
  LayerMatrices of(const EdgeInput&) const { return {}; }
  LayerMatrices of(const Lookup&) const { return value_and_gradient(); }
  bool is_of_edges() const { return std::holds_alternative<EdgeInput>(list_.at(op_.inputs.front()).what); }
  /// Of features of edges and, beside what a layer has without them, behind them: their product, and its sum with the
  /// others. Times are encoded in rows of the entries, which have gradients.
  LayerMatrices of_edges() const {
    const auto product = std::ranges::find_if(list_.ops, [this](const Op& reader) {
      return std::holds_alternative<Project>(reader.what) && reader.inputs.front() == id_;
    });
    const double share = static_cast<double>(op_.width) / static_cast<double>(product->width);
    const double entries = list_.time_dim > 0 ? 2 * share : 0;
    return {{.dst_out = 2 + share, .edge_out = entries}, {.dst_out = 1, .edge_out = entries}};
  }
  LayerMatrices of(const Aggregate& aggregate) const {
    if (is_of_edges()) return of_edges();
    if (op_.relation != kEvery) return {{.row_in = 2}, {.row_in = 2}};  // in the order of rows and of relations
    LayerMatrices found{{.dst_in = 1}, {.dst_in = 1}};
    if (aggregate.is_by_weight) {  // rows as f32, and their gradient; no operator joins it with the product behind it
      found.values.src_in = 1, found.values.dst_out = 1;
      found.gradients.src_in = 1;
      return found;
    }
    if (aggregate.kind == SumKind::kMean) return found;  // one operator with the product behind it; no other sum is
    found.values.dst_out = 1;
    if (!aggregate.edge_weight.empty()) {  // rows of sources, mapped features, their sum behind ReLU
      found.values.edge_in = 3;
      found.gradients.edge_in = 2;
    }
    switch (aggregate.kind) {
      case SumKind::kMean: break;
      case SumKind::kRowMean: found.values.dst_in = 3; break;
      case SumKind::kSymmetric: found.values.dst_in = 5; break;
      case SumKind::kPlain:
      case SumKind::kScaled: found.values.dst_in = 4; break;
    }
    return found;
  }
  /// And both products behind it, before their sum; what was largest.
  LayerMatrices of(const Maximum&) const {
    if (is_of_edges()) return of_edges();
    return {{.dst_in = 2, .dst_out = 2}, {.dst_in = 2}};
  }
  LayerMatrices of(const Attend& attend) const {
    LayerMatrices found = value_and_gradient();
    if (!attend.edge_weight.empty() || attend.is_by_weight) add_edges(attend.kind, found);
    switch (attend.kind) {
      case AttentionKind::kGat: found.gradients.dst_out = 0, found.gradients.src_out = 1; break;
      case AttentionKind::kGatv2: ++found.values.dst_out; break;  // before its bias
      case AttentionKind::kDot:  // a query, a key, their product, a value and its weighted one for each entry
        found.values.dst_out += 1, found.values.edge_out += 5;
        found.gradients.edge_out += 2;
        break;
      case AttentionKind::kRelationGat: found.gradients = {.src_out = 1, .row_out = 1}; break;
      case AttentionKind::kHgt:  // as kDot, with queries and sums of each relation, before and behind its maps
        found.values.row_out += 4, found.values.edge_out = 5, found.values.src_out = 2;  // its input is three matrices
        found.gradients.row_out = 2, found.gradients.edge_out = 2, found.gradients.src_out = 2;
        break;
    }
    return found;
  }
  /// Mapped features, and what the operators are made of where they read them: models/ops/edge_attention.cpp.
  static void add_edges(AttentionKind kind, LayerMatrices& found) {
    const bool is_v2 = kind == AttentionKind::kGatv2, is_dot = kind == AttentionKind::kDot;
    found.values.edge_out = is_dot ? 3 : is_v2 ? 8 : 4;
    found.gradients.edge_out = is_dot ? 1 : is_v2 ? 3 : 2;
  }
  LayerMatrices of(const Project&) const {
    if (op_.type != kEvery) return of_type();
    const bool is_added = std::ranges::any_of(list_.ops, [this](const Op& reader) {  // where another one is
      const auto* combine = std::get_if<Combine>(&reader.what);
      if (combine == nullptr || combine->kind != CombineKind::kSum) return false;
      const auto place = std::ranges::find(reader.inputs, id_);
      return place != reader.inputs.end() && (place != reader.inputs.begin() || is_joined_product(list_, reader));
    });
    return is_added ? LayerMatrices{} : value_and_gradient();
  }
  /// Rows of a type are gathered for their product.
  LayerMatrices of_type() const {
    LayerMatrices found = value_and_gradient();
    if (op_.relation != kEvery) return found;
    const bool reads_input = std::holds_alternative<Input>(list_.at(op_.inputs.front()).what);
    if (!reads_input) (op_.rows == RowSet::kSources ? found.values.src_in : found.values.dst_in) += 1;
    return found;
  }
  LayerMatrices of(const Normalise&) const { return value_and_gradient(); }
  LayerMatrices of(const Activate& activate) const {
    return {activate.negative_slope == 0 ? Matrices{} : result(), {}};  // in place
  }
  LayerMatrices of(const Gelu&) const { return value_and_gradient(); }
  LayerMatrices of(const Mix&) const { return {{.dst_out = 2}, result()}; }
  LayerMatrices of(const Drop& drop) const {
    if (!drop.is_by_node) return value_and_gradient();
    const Op& input = list_.at(op_.inputs.front());
    if (std::holds_alternative<Input>(input.what)) return {};
    if (op_.rows == RowSet::kSources) return {{.src_in = 2}, {}};
    return {std::holds_alternative<Activate>(input.what) ? result() : Matrices{.dst_in = 1}, {}};
  }
  LayerMatrices of(const Combine&) const { return {result(), is_joined_product(list_, op_) ? result() : Matrices{}}; }

  const LayerList& list_;
  const OpId id_;
  const Op& op_;
  const bool is_logits_;
};

struct HopRows : MfgShape::Hop {
  std::int64_t num_filled = 0;  ///< pairs of a destination and a relation that have entries, at most

  HopRows(const MfgShape::Hop& hop, const LayerList& list)
      : Hop(hop), num_filled(std::min(std::int64_t{hop.num_edges}, std::int64_t{hop.num_dst} * list.num_relations)) {}
};

/// A layer of the list.
struct Layer {
  LayerMatrices matrices{};
  std::int64_t out = 0;  ///< columns of its result
  std::vector<const Op*> attends{};
  bool takes_dense_rows = false;    ///< which are made of sparse ones: for a maximum, and beside features of edges
  bool multiplies_sources = false;  ///< before the edges
  double features = 0;              ///< values that are mapped of each row of a typed graph, on average over its types
};

std::vector<Layer> layers_of(const LayerList& list) {
  std::vector<Layer> layers(static_cast<std::size_t>(list.num_layers));
  for (OpId id = 0; id < static_cast<OpId>(list.ops.size()) && list.at(id).layer < list.num_layers; ++id) {
    const Op& op = list.at(id);
    if (std::holds_alternative<Input>(op.what) && op.type != kEvery)
      layers.front().features += static_cast<double>(op.width) / list.num_types;
    Layer& layer = layers[static_cast<std::size_t>(op.layer)];
    const LayerMatrices more = Counter(list, id).count();
    layer.matrices.values += more.values;
    layer.matrices.gradients += more.gradients;
    layer.out = op.width;
    if (std::holds_alternative<Attend>(op.what)) layer.attends.push_back(&op);
    const auto* aggregate = std::get_if<Aggregate>(&op.what);
    layer.takes_dense_rows |=
        std::holds_alternative<Maximum>(op.what) || (aggregate != nullptr && !aggregate->edge_weight.empty());
    layer.multiplies_sources |= std::holds_alternative<Project>(op.what) && op.rows == RowSet::kSources;
  }
  return layers;
}

std::int64_t values_of(const Matrices& count, const HopRows& hop, std::int64_t in, std::int64_t out) {
  const auto values = [&](std::int64_t rows, double of_in, double of_out) {
    return static_cast<double>(rows) * (of_in * static_cast<double>(in) + of_out * static_cast<double>(out));
  };
  return std::llround(
      values(hop.num_dst, count.dst_in, count.dst_out) + values(hop.num_src, count.src_in, count.src_out) +
      values(hop.num_edges, count.edge_in, count.edge_out) + values(hop.num_filled, count.row_in, count.row_out));
}

/// Of one row between the last layer and the logits: what layers are joined to, and hidden layers of its own.
std::int64_t width_of_head(const LayerList& list, InputKind input) {
  std::int64_t width = 0;
  for (OpId id = 0; id < static_cast<OpId>(list.ops.size()); ++id) {
    const Op& op = list.at(id);
    if (op.layer < list.num_layers) continue;
    if (!std::holds_alternative<Combine>(op.what)) {
      width += std::llround(Counter(list, id).count().values.dst_out * static_cast<double>(op.width));
      continue;
    }
    for (const OpId joined : op.inputs)
      if (input == InputKind::kDense || !reads_features(list, list.at(joined))) width += list.at(joined).width;
  }
  return width;
}

/// Bytes that attention keeps of a hop's edges for a gradient by bins: on a GPU, in any order. Counted elsewhere, too.
std::int64_t bytes_of_bins(const Op& op, const MfgShape::Hop& hop) {
  const Attend& attend = std::get<Attend>(op.what);
  if (attend.kind != AttentionKind::kGat && attend.kind != AttentionKind::kGatv2) return 0;
  const Heads shape{attend.heads, op.width / attend.heads};
  const bool is_v2 = attend.kind == AttentionKind::kGatv2;
  if (!(is_v2 ? are_gatv2_bins_faster(shape, hop.num_src, hop.num_edges)
              : are_gat_bins_faster(shape, hop.num_src, hop.num_edges)))
    return 0;
  const std::int64_t signs = is_v2 ? num_attention_edges(hop.num_edges, hop.num_dst) * shape.width() / 4 : 0;
  return attention_bins_size(hop.num_src, hop.num_edges) * static_cast<std::int64_t>(sizeof(LocalId)) + signs;
}

/// What the first layer of sparse rows has beside the matrices of any layer, in the place of those as wide as its
/// input: products of all sources, and the transposed weight or its gradient.
std::int64_t values_of_sparse_input(std::int64_t in, const MfgShape::Hop& hop, std::int64_t out) {
  return hop.num_src * out + 2 * in * out;
}

}  // namespace

std::int64_t compute_bytes(const ModelOptions& options, const MfgShape& mfg, Gradients gradients, InputKind input) {
  if (mfg.hops.empty()) return 0;
  const LayerList list = describe(options);
  require(mfg.hops.size() == static_cast<std::size_t>(list.num_layers), "a hop for each layer");
  const std::vector<Layer> layers = layers_of(list);
  const bool is_training = gradients == Gradients::kAll;
  const std::int64_t head = width_of_head(list, input);
  const bool is_typed_model = is_typed(options.kind);
  std::int64_t values = 0, peak = 0, kept_bytes = 0, in = is_typed_model ? options.hidden_dim : options.in_dim;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const HopRows hop(mfg.hops[i], list);
    const bool is_first = i == 0 && !is_typed_model, has_logits = i + 1 == layers.size() && head == 0;
    Matrices of_values = layer.matrices.values, of_gradients = is_training ? layer.matrices.gradients : Matrices{};
    if (is_first) of_gradients.dst_in = 0;  // features have no gradient
    if (!is_training) {                     // nothing is kept for gradients, and no dropout made
      of_values.dst_out = std::min(of_values.dst_out, has_logits ? 1.0 : 3.0);
      of_values.src_in = 0;
    }
    const bool is_sparse = is_first && input == InputKind::kSparse;
    if (is_sparse) values += values_of_sparse_input(in, hop, layer.out);
    if (is_sparse && !layer.takes_dense_rows) in = layer.out;  // it multiplies first
    values += values_of(of_values, hop, in, layer.out);
    values += std::llround(layer.features * static_cast<double>(hop.num_src));  // as f32
    // All features as f32: for the product before the edges, or made of sparse ones.
    if (is_first && (is_sparse ? layer.takes_dense_rows : layer.multiplies_sources)) values += hop.num_src * in;
    if (is_training)
      for (const Op* attend : layer.attends) kept_bytes += bytes_of_bins(*attend, hop);
    peak = std::max(peak, values + values_of(of_gradients, hop, in, layer.out));  // freed after the layer
    in = layer.out;
  }
  const std::int64_t num_seeds = mfg.hops.back().num_dst;
  values += num_seeds * (is_training ? 2 : 1) * head;
  // At the end log-probabilities, their gradients and those of the logits, else logits and classes.
  values += num_seeds * (is_training ? 3 : 2) * options.num_classes;
  return std::max(peak, values) * static_cast<std::int64_t>(sizeof(float)) + kept_bytes;
}

}  // namespace salient
