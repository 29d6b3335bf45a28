// models/ops/relations.h - the rows of a typed hop relation by relation, and of its nodes type by type.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/batch_view.h"
#include "models/numerics.h"

namespace salient {

/// The K rows of a typed hop that have entries, in two orders: as they lie in the hop, and relation by relation. No
/// other row is computed or kept: of many relations a destination has entries of few.
struct FilledRows {
  HopView entries;             ///< the hop with these rows as its destinations, in the hop's order
  HopView of_destination;      ///< num_dst rows over K sources: each destination's rows, as numbers in relation order
  at::Tensor dst;              ///< int32 [K] the destination of each, in the hop's order
  at::Tensor dst_by_relation;  ///< int32 [K] likewise, in relation order
  at::Tensor in_hop;           ///< int32 [K] the place in the hop's order of each in relation order
  at::Tensor by_relation;      ///< int32 [K] the other way round

  /// @throws Error{kInternal} unless the hop is typed
  /// Ordering: on a device the current stream's work, without a wait for it.
  explicit FilledRows(const HopView& hop);
};

/// The hop with the K rows that have entries as its destinations, relation by relation: what they reduce to are the
/// groups of a grouped_product().
/// @throws, Ordering  as FilledRows
HopView in_relation_order(const HopView& hop);

/// What a sum over relations reads of x.
struct RelationMeans {
  at::Tensor means;  ///< [K, width] segment_mean() over in_relation_order()
  at::Tensor own;    ///< [num_dst, width] the destinations' rows: x's memory, not to be written to
};
/// Both of them, as one node of the graph: its gradient of x is built in one array.
/// @param x  [num_src or more, width] f32
RelationMeans relation_means(const HopView& hop, const at::Tensor& x, GradientOrder order);

/// y[k, :] = x[k, :] W_g of the group g that row k is in: rows follow each other group by group. Differentiable in x
/// and W; the gradient of a group without rows is 0.
///
/// @param x       [K, in] f32
/// @param begin   [G + 1] group g has the rows begin[g] .. begin[g + 1]
/// @param weight  [G, B, in / B, out / B] f32, any strides, on x's device: the B blocks on the diagonal of W_g
/// @return        [K, out] f32
/// Cost:          one launch on a GPU with models/products/grouped_product.h; elsewhere a product for each group that
///                has rows, and each block
/// Oracle:        the same by dense matrices: tests/models/ops/relations_test.cpp
at::Tensor grouped_product(const at::Tensor& x, const std::vector<std::int64_t>& begin, const at::Tensor& weight,
                           Precision precision);

/// The rows 0 .. N - 1 that are the first `count[t]` of `nodes[t]` for each node type t, N in all.
struct RowsByType {
  const std::vector<at::Tensor>& nodes;  ///< [T] int32, ascending
  const std::vector<std::int64_t>& count;

  static RowsByType sources_of(const TypedHop& hop) { return {hop.nodes_of_type, hop.num_src_of_type}; }
  static RowsByType destinations_of(const TypedHop& hop) { return {hop.nodes_of_type, hop.num_dst_of_type}; }

  /// The rows of each type t: [count[t], width]. Differentiable in x, [N or more, width] f32.
  std::vector<at::Tensor> split(const at::Tensor& x) const;

  /// The other way round: [N, width] of each type's [count[t], width]; undefined ones are 0. Differentiable.
  at::Tensor join(const std::vector<at::Tensor>& rows, std::int64_t width) const;

  /// int32 [N]: the place of each row among those of its type.
  at::Tensor place_in_type() const;
};

/// int64 [n]: the rows of a type's nodes in a table whose row 0 is that of node `first`.
/// @param nodes  int32 [N] ids of a batch's nodes, BatchView::nodes   @param rows  int32 [n] of them
at::Tensor places_in_table(const at::Tensor& nodes, const at::Tensor& rows, std::int64_t first);

}  // namespace salient
