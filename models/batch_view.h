// models/batch_view.h - a batch and its hops as tensors: what layers and operators work on.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "models/input_rows.h"

namespace salient {

struct Batch;

/// What a hop of a typed graph has beside its entries. Rows are slots: those of a destination follow each other, one
/// for each relation that leads to its type.
struct TypedHop {
  at::Tensor row_begin;      ///< int32 [num_dst + 1] the first row of each destination
  at::Tensor row_dst;        ///< int32 [rows] the destination of each row
  at::Tensor relation_rows;  ///< int32 [K] the rows that have entries, relation by relation, ascending
  std::vector<std::int64_t> relation_begin{};   ///< [R + 1] relation r has relation_rows[begin[r], begin[r + 1])
  std::vector<at::Tensor> nodes_of_type{};      ///< [T] TypeRows::rows of each type
  std::vector<std::int64_t> num_src_of_type{};  ///< [T] sources of each type: the first of those
  std::vector<std::int64_t> num_dst_of_type{};  ///< [T] likewise
};

/// One hop of a message-flow graph. Destinations are the first num_dst sources. Borrows the batch's memory, which must
/// live until the backward pass is done.
struct HopView {
  std::int64_t num_dst = 0;
  std::int64_t num_src = 0;
  at::Tensor indptr;   ///< int32 [num_dst + 1]
  at::Tensor indices;  ///< int32 [num_edges], each in [0, num_src)
  at::Tensor
      degrees{};  ///< int32 [num_src, 2], a NodeDegree per source; undefined if the loader was not asked for them
  std::optional<TypedHop> typed{};  ///< of a typed graph alone; then indptr is [rows + 1]
  at::Tensor edge_x{};              ///< f16 or f32 [num_edges, edge_dim]; undefined if the loader was not asked for it
  at::Tensor edge_gap{};            ///< f32 [num_edges] log_gap() of the seed's time and its own; likewise
  at::Tensor edge_weight{};         ///< f32 [num_edges]; likewise, as is the next
  at::Tensor row_weights{};         ///< f32 [num_src] the sum of the weights of each source's row in the whole graph
};

/// HopView::edge_x; of a hop without entries rows that are none, whatever the loader was asked for.
/// @throws Error{kInternal} where a hop with entries has no such rows, of `dim` columns
at::Tensor edge_features_of(const HopView& hop, std::int64_t dim);

/// The nodes of one type in a batch of a typed graph.
struct TypeRows {
  at::Tensor rows;           ///< int32 [N_t] their numbers in the batch, ascending
  InputRows x;               ///< [N_t, feature_dim of the type]; nothing where the type has none
  bool has_unknown = false;  ///< there are nodes that the graph lacks, whose ids are those behind its own
};

/// A batch on one device.
struct BatchView {
  InputRows x;                    ///< f16 or f32 [N, feature_dim]; nothing of a typed graph
  at::Tensor y;                   ///< int32 [S], int8 [S, T] of labels or f32 [S, T] of values: store/label_table.h
  at::Tensor nodes;               ///< int32 [N], the bits of the global uint32 ids: what dropout's draws are keyed by
  std::vector<HopView> hops;      ///< [L] outermost first
  at::Tensor pairs{};             ///< int32 [P, 2 or 3] of a batch of links, as LinkSeeds::pairs(); else undefined
  at::Tensor pair_x{};            ///< f32 [P, kPairFeatures], if the loader was asked for them
  std::vector<TypeRows> types{};  ///< [T] of a typed graph alone
};

/// The tensors that a loader's batch holds, over its own slab, without a copy: host tensors, or tensors on CUDA device
/// `device_index`.
///
/// Lifetime: the slab must not be released before all work on these tensors, the backward pass included, is done.
BatchView view_of(const Batch& batch, int device_index = 0);

}  // namespace salient
