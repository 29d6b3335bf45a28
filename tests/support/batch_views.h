// tests/support/batch_views.h - generated batches as tensors, for tests of whole models.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <utility>

#include "models/batch_view.h"
#include "tests/support/hops.h"
#include "tests/support/small_types.h"

namespace salient::test {

inline HopView view_of(const OwnedHop& hop) {
  return {hop.num_dst, hop.num_src, at::tensor(hop.indptr, at::kInt), at::tensor(hop.indices, at::kInt)};
}

/// The same for one whose sources are its destinations, with degrees.
inline HopView whole_graph_view_of(const OwnedHop& hop) {
  HopView view = view_of(hop);
  view.degrees = at::tensor(whole_graph_degrees(hop), at::kInt).view({hop.num_dst, 2});
  return view;
}

/// Degrees in some graph that a batch of so many nodes was sampled from; every other node has a self loop.
inline at::Tensor made_up_degrees(std::int64_t num_nodes) {
  const at::Tensor nodes = at::arange(num_nodes, at::kInt);
  return at::stack({nodes * 7 % 11 + 6, nodes % 2}, 1).to(at::kInt).contiguous();
}

/// [entries, kEdgeDim]
inline at::Tensor random_edge_features(const HopView& hop, std::uint32_t seed) {
  const std::int64_t num_entries = hop.indices.numel();
  return at::tensor(random_values(num_entries * kEdgeDim, seed + 100)).view({num_entries, kEdgeDim});
}

/// One hop per entry of `num_nodes` but the last, outermost first: {40, 12, 5} is two hops onto 5 seeds.
inline BatchView random_batch(const std::vector<std::int64_t>& num_nodes, std::int64_t in_dim, std::int64_t num_classes,
                              std::uint32_t seed) {
  BatchView batch;
  for (std::size_t i = 0; i + 1 < num_nodes.size(); ++i)
    batch.hops.push_back(view_of(random_hop(num_nodes[i + 1], num_nodes[i], 5, seed + static_cast<std::uint32_t>(i))));
  for (HopView& hop : batch.hops) {
    hop.degrees = made_up_degrees(hop.num_src);
    hop.edge_x = random_edge_features(hop, seed);
    hop.edge_weight = hop.edge_x.select(1, 0).square().contiguous();
    hop.row_weights = at::arange(hop.num_src).remainder(7).add(1).to(at::kFloat);
  }
  batch.x = at::tensor(random_values(num_nodes.front() * in_dim, seed)).view({num_nodes.front(), in_dim});
  batch.y = at::arange(num_nodes.back()).remainder(num_classes).to(at::kInt);
  batch.nodes = at::arange(num_nodes.front(), at::kInt);
  return batch;
}

inline SparseRows to(const SparseRows& rows, at::Device device) {
  return {.num_rows = rows.num_rows,
          .num_columns = rows.num_columns,
          .begin = rows.begin.to(device),
          .columns = rows.columns.to(device),
          .values = rows.values.to(device)};
}

inline InputRows to(const InputRows& rows, at::Device device) {
  if (!rows.is_defined()) return {};
  return rows.is_sparse() ? InputRows(to(rows.sparse(), device)) : InputRows(rows.dense().to(device));
}

inline TypedHop to(TypedHop hop, at::Device device) {
  for (at::Tensor* ids : {&hop.row_begin, &hop.row_dst, &hop.relation_rows}) *ids = ids->to(device);
  for (at::Tensor& nodes : hop.nodes_of_type) nodes = nodes.to(device);
  return hop;
}

/// The same batch on another device.
inline BatchView to(const BatchView& batch, at::Device device) {
  BatchView moved{to(batch.x, device), batch.y.to(device), batch.nodes.to(device), {}};
  for (const HopView& hop : batch.hops) {
    moved.hops.push_back({hop.num_dst, hop.num_src, hop.indptr.to(device), hop.indices.to(device),
                          hop.degrees.defined() ? hop.degrees.to(device) : at::Tensor()});
    if (hop.edge_x.defined()) moved.hops.back().edge_x = hop.edge_x.to(device);
    if (hop.edge_weight.defined()) moved.hops.back().edge_weight = hop.edge_weight.to(device);
    if (hop.row_weights.defined()) moved.hops.back().row_weights = hop.row_weights.to(device);
    if (hop.typed) moved.hops.back().typed = to(*hop.typed, device);
  }
  for (const TypeRows& type : batch.types) moved.types.push_back({type.rows.to(device), to(type.x, device)});
  return moved;
}

}  // namespace salient::test
