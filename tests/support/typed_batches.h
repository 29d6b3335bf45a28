// tests/support/typed_batches.h - generated batches of typed graphs as tensors, for tests of whole models.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/tensor.h>

#include <cstdint>
#include <random>
#include <vector>

#include "models/batch_view.h"
#include "models/describe/model_options.h"
#include "tests/support/batch_views.h"
#include "tests/support/small_types.h"

namespace salient::test {

/// [T] the numbers of the first `count` nodes of each type, ascending.
inline std::vector<std::vector<int>> nodes_of_types(const GraphTypes& types, const std::vector<int>& type_of_node,
                                                    std::int64_t count) {
  std::vector<std::vector<int>> nodes(types.node_types.size());
  for (int i = 0; i < count; ++i)
    nodes[static_cast<std::size_t>(type_of_node[static_cast<std::size_t>(i)])].push_back(i);
  return nodes;
}

inline std::vector<int> values_of(const at::Tensor& int32) {
  return {int32.const_data_ptr<int>(), int32.const_data_ptr<int>() + int32.numel()};
}

/// @param type_of_node  [num_src or more]
/// @param indptr        [rows + 1] of the rows of all destinations: one for each relation that leads to its type
inline HopView typed_hop(const GraphTypes& types, const std::vector<int>& type_of_node, std::int64_t num_dst,
                         std::int64_t num_src, const std::vector<int>& indptr, const std::vector<int>& indices) {
  std::vector<int> row_begin{0}, row_dst;
  std::vector<std::vector<int>> rows_of_relation(types.relations.size());
  for (int i = 0; i < num_dst; ++i) {
    for (const int relation : relations_into(types, type_of_node[static_cast<std::size_t>(i)])) {
      const std::size_t row = row_dst.size();
      if (indptr[row] < indptr[row + 1])
        rows_of_relation[static_cast<std::size_t>(relation)].push_back(static_cast<int>(row));
      row_dst.push_back(i);
    }
    row_begin.push_back(static_cast<int>(row_dst.size()));
  }
  TypedHop typed{at::tensor(row_begin, at::kInt), at::tensor(row_dst, at::kInt), {}};
  std::vector<int> relation_rows;
  typed.relation_begin.push_back(0);
  for (const std::vector<int>& rows : rows_of_relation) {
    relation_rows.insert(relation_rows.end(), rows.begin(), rows.end());
    typed.relation_begin.push_back(static_cast<std::int64_t>(relation_rows.size()));
  }
  typed.relation_rows = at::tensor(relation_rows, at::kInt);
  for (const auto& nodes : nodes_of_types(types, type_of_node, static_cast<std::int64_t>(type_of_node.size())))
    typed.nodes_of_type.push_back(at::tensor(nodes, at::kInt));
  for (const auto& nodes : nodes_of_types(types, type_of_node, num_src))
    typed.num_src_of_type.push_back(static_cast<std::int64_t>(nodes.size()));
  for (const auto& nodes : nodes_of_types(types, type_of_node, num_dst))
    typed.num_dst_of_type.push_back(static_cast<std::int64_t>(nodes.size()));
  return {num_dst, num_src, at::tensor(indptr, at::kInt), at::tensor(indices, at::kInt), {}, std::move(typed)};
}

/// Rows of up to four entries, some empty; those of kRelationWithoutEntries all are.
inline HopView random_typed_hop(const GraphTypes& types, const std::vector<int>& type_of_node, std::int64_t num_dst,
                                std::int64_t num_src, std::mt19937& random) {
  const auto sources = nodes_of_types(types, type_of_node, num_src);
  std::vector<int> indptr{0}, indices;
  for (int i = 0; i < num_dst; ++i)
    for (const int relation : relations_into(types, type_of_node[static_cast<std::size_t>(i)])) {
      const auto r = static_cast<std::size_t>(relation);
      const auto& from = sources[static_cast<std::size_t>(types.relations[r].src)];
      const auto degree = r == kRelationWithoutEntries || from.empty() ? 0 : random() % 5;
      for (std::size_t k = 0; k < degree; ++k) indices.push_back(from[random() % from.size()]);
      indptr.push_back(static_cast<int>(indices.size()));
    }
  return typed_hop(types, type_of_node, num_dst, num_src, indptr, indices);
}

/// One hop per entry of `num_nodes` but the last, outermost first, as random_batch(); seeds are of the target type, but
/// where they are all nodes. The nodes of a type have ids that fall, from its last one on.
inline BatchView random_typed_batch(const GraphTypes& types, const std::vector<std::int64_t>& num_nodes,
                                    std::int64_t num_classes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> type_of_node, ids, end_of_type;
  for (const auto& type : types.node_types)
    end_of_type.push_back(static_cast<int>(type.num_nodes) + (end_of_type.empty() ? 0 : end_of_type.back()));
  for (std::int64_t i = 0; i < num_nodes.front(); ++i) {
    const bool is_seed = i < num_nodes.back() && num_nodes.back() < num_nodes.front();
    type_of_node.push_back(is_seed ? types.target_type : static_cast<int>(random() % types.node_types.size()));
    ids.push_back(--end_of_type[static_cast<std::size_t>(type_of_node.back())]);
  }
  BatchView batch;
  for (std::size_t i = 0; i + 1 < num_nodes.size(); ++i)
    batch.hops.push_back(random_typed_hop(types, type_of_node, num_nodes[i + 1], num_nodes[i], random));
  batch.nodes = at::tensor(ids, at::kInt);
  batch.y = at::arange(num_nodes.back()).remainder(num_classes).to(at::kInt);
  const auto nodes = nodes_of_types(types, type_of_node, num_nodes.front());
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    batch.types.push_back({at::tensor(nodes[t], at::kInt), {}});
    const std::int64_t rows = batch.types.back().rows.numel(), width = types.node_types[t].feature_dim;
    if (width > 0)
      batch.types.back().x =
          at::tensor(random_values(rows * width, seed + static_cast<std::uint32_t>(t))).view({rows, width});
  }
  return batch;
}

/// A batch that a model of these options takes: random_batch() or random_typed_batch().
inline BatchView batch_for(const ModelOptions& options, const std::vector<std::int64_t>& num_nodes,
                           std::uint32_t seed) {
  return is_typed(options.kind) ? random_typed_batch(options.types, num_nodes, options.num_classes, seed)
                                : random_batch(num_nodes, options.in_dim, options.num_classes, seed);
}

}  // namespace salient::test
