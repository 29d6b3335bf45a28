// models/batch_view.cpp - see batch_view.h.
#include "models/batch_view.h"

#include <ATen/ops/from_blob.h>

#include "loaders/batch.h"

namespace salient {

BatchView view_of(const Batch& batch, int device_index) {
  const auto device =
      batch.is_on_device ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device_index)) : at::Device(at::kCPU);
  const auto wrap = [&](std::size_t offset, at::IntArrayRef shape, at::ScalarType type) {
    return at::from_blob(batch.data + offset, shape, at::TensorOptions().dtype(type).device(device));
  };
  const BatchLayout& layout = batch.layout;
  BatchView view;
  const at::ScalarType feature_type = layout.feature_type == FeatureType::kF16 ? at::kHalf : at::kFloat;
  if (layout.feature_layout == FeatureLayout::kCsr)
    view.x = SparseRows{.num_rows = layout.num_nodes,
                        .num_columns = layout.feature_dim,
                        .begin = wrap(layout.x_begin, {layout.num_nodes + 1}, at::kInt),
                        .columns = wrap(layout.x_columns, {layout.num_values}, at::kInt),
                        .values = wrap(layout.x, {layout.num_values}, feature_type)};
  else
    view.x = wrap(layout.x, {layout.num_nodes, layout.feature_dim}, feature_type);
  switch (layout.label_type.task) {
    case Task::kMultiClass: view.y = wrap(layout.y, {layout.num_seeds}, at::kInt); break;
    case Task::kMultiLabel: view.y = wrap(layout.y, {layout.num_seeds, layout.label_type.width}, at::kChar); break;
    case Task::kRegression: view.y = wrap(layout.y, {layout.num_seeds, layout.label_type.width}, at::kFloat); break;
  }
  view.nodes = wrap(layout.nodes, {layout.num_nodes}, at::kInt);
  for (const HopLayout& hop : layout.hops) {
    view.hops.push_back({hop.num_dst, hop.num_src, wrap(hop.indptr, {hop.num_dst + 1}, at::kInt),
                         wrap(hop.indices, {hop.num_edges}, at::kInt)});
    if (layout.degrees_of == Degrees::kOfEveryNode)  // sources are the first nodes
      view.hops.back().degrees = wrap(layout.degrees, {hop.num_src, 2}, at::kInt);
  }
  return view;
}

}  // namespace salient
