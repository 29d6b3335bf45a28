// models/batch_view.cpp - see batch_view.h.
#include "models/batch_view.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "core/error.h"
#include "loaders/batch.h"
#include "loaders/pair_features.h"

namespace salient {
namespace {

/// Makes a tensor over a part of the slab.
class Wrap {
 public:
  Wrap(const Batch& batch, at::Device device) : data_(batch.data), device_(device) {}
  at::Tensor operator()(std::size_t offset, at::IntArrayRef shape, at::ScalarType type) const {
    return at::from_blob(data_ + offset, shape, at::TensorOptions().dtype(type).device(device_));
  }

 private:
  std::byte* data_;
  at::Device device_;
};

at::ScalarType scalar_of(FeatureType type) { return type == FeatureType::kF16 ? at::kHalf : at::kFloat; }

/// @param part  BatchLayout or TypeLayout: where the rows are
template <class Part>
InputRows rows_in(const Wrap& wrap, const Part& part, std::int64_t num_nodes) {
  const at::ScalarType type = scalar_of(part.feature_type);
  if (part.feature_layout == FeatureLayout::kDense) return wrap(part.x, {num_nodes, part.feature_dim}, type);
  return SparseRows{.num_rows = num_nodes,
                    .num_columns = part.feature_dim,
                    .begin = wrap(part.x_begin, {num_nodes + 1}, at::kInt),
                    .columns = wrap(part.x_columns, {part.num_values}, at::kInt),
                    .values = wrap(part.x, {part.num_values}, type)};
}

/// @param nodes_of_type  [T]
TypedHop typed_hop_in(const Wrap& wrap, const TypedHopLayout& hop, std::int64_t num_dst,
                      const std::vector<at::Tensor>& nodes_of_type) {
  const auto counts = [](const std::vector<LocalId>& of) { return std::vector<std::int64_t>(of.begin(), of.end()); };
  return {.row_begin = wrap(hop.row_begin, {num_dst + 1}, at::kInt),
          .row_dst = wrap(hop.row_dst, {hop.shape.num_rows}, at::kInt),
          .relation_rows = wrap(hop.relation_rows, {hop.shape.relation_begin.back()}, at::kInt),
          .relation_begin = counts(hop.shape.relation_begin),
          .nodes_of_type = nodes_of_type,
          .num_src_of_type = counts(hop.shape.num_src_of_type),
          .num_dst_of_type = counts(hop.shape.num_dst_of_type)};
}

}  // namespace

at::Tensor edge_features_of(const HopView& hop, std::int64_t dim) {
  if (!hop.edge_x.defined() && hop.indices.numel() == 0)
    return at::empty({0, dim}, hop.indices.options().dtype(at::kFloat));
  require(hop.edge_x.defined() && hop.edge_x.size(0) == hop.indices.numel() && hop.edge_x.size(1) == dim,
          "a batch for this model carries the features of edges");
  return hop.edge_x;
}

BatchView view_of(const Batch& batch, int device_index) {
  const auto device =
      batch.is_on_device ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device_index)) : at::Device(at::kCPU);
  const Wrap wrap(batch, device);
  const BatchLayout& layout = batch.layout;
  BatchView view;
  const bool is_typed = !layout.types.empty();
  if (!is_typed || layout.feature_dim > 0) view.x = rows_in(wrap, layout, layout.num_nodes);
  std::vector<at::Tensor> nodes_of_type;
  for (const TypeLayout& type : layout.types) {
    nodes_of_type.push_back(wrap(type.nodes, {type.num_nodes}, at::kInt));
    view.types.push_back(
        {nodes_of_type.back(), type.feature_dim > 0 ? rows_in(wrap, type, type.num_nodes) : InputRows()});
  }
  switch (layout.label_type.task) {
    case Task::kMultiClass: view.y = wrap(layout.y, {layout.num_seeds}, at::kInt); break;
    case Task::kMultiLabel: view.y = wrap(layout.y, {layout.num_seeds, layout.label_type.width}, at::kChar); break;
    case Task::kRegression: view.y = wrap(layout.y, {layout.num_seeds, layout.label_type.width}, at::kFloat); break;
  }
  view.nodes = wrap(layout.nodes, {layout.num_nodes}, at::kInt);
  if (layout.num_pairs > 0) view.pairs = wrap(layout.pairs, {layout.num_pairs, is_typed ? 3 : 2}, at::kInt);
  if (layout.has_pair_features) view.pair_x = wrap(layout.pair_x, {layout.num_pairs, kPairFeatures}, at::kFloat);
  for (std::size_t h = 0; h < layout.hops.size(); ++h) {
    const HopLayout& hop = layout.hops[h];
    const std::int64_t num_rows = is_typed ? layout.typed_hops[h].shape.num_rows : hop.num_dst;
    view.hops.push_back({hop.num_dst, hop.num_src, wrap(hop.indptr, {num_rows + 1}, at::kInt),
                         wrap(hop.indices, {hop.num_edges}, at::kInt)});
    if (is_typed) view.hops.back().typed = typed_hop_in(wrap, layout.typed_hops[h], hop.num_dst, nodes_of_type);
    if (layout.entries.features)
      view.hops.back().edge_x = wrap(hop.edge_x, {hop.num_edges, layout.edge_dim}, scalar_of(layout.edge_type));
    if (layout.entries.gaps) view.hops.back().edge_gap = wrap(hop.gaps, {hop.num_edges}, at::kFloat);
    if (layout.entries.weights) view.hops.back().edge_weight = wrap(hop.weights, {hop.num_edges}, at::kFloat);
    if (layout.entries.row_weights) view.hops.back().row_weights = wrap(layout.row_weights, {hop.num_src}, at::kFloat);
    if (layout.degrees_of == Degrees::kOfEveryNode)  // sources are the first nodes
      view.hops.back().degrees = wrap(layout.degrees, {hop.num_src, 2}, at::kInt);
  }
  return view;
}

}  // namespace salient
