// core/csr_graph.h - the graph as a sampler sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/slot_table.h"
#include "core/types.h"

namespace salient {

/// What a graph has for each of its entries, in their order. Empty: it has none.
struct EntryData {
  std::span<const float> weights{};       ///< [E] finite, at least 0
  std::span<const std::int64_t> times{};  ///< [E] every row ascends by them; rows then need not ascend by neighbour

  std::size_t num_bytes() const { return weights.size_bytes() + times.size_bytes(); }
};

/// Borrowed compressed-sparse-row graph: row v lists the nodes that v aggregates from; of a typed graph row r those of
/// one slot of a node. The spans and the table outlive every reader. The rules below are checked once, when a graph is
/// opened; samplers rely on them.
struct CsrGraph {
  std::span<const EdgeOffset> indptr;  ///< [rows + 1], starts at 0, non-decreasing, ends at E; rows shorter than 2^32
  std::span<const NodeId> indices;     ///< [E], each in [0, V)
  const SlotTable* slots = nullptr;    ///< of a typed graph; null: row v is node v
  EntryData entries{};

  std::size_t num_rows() const { return indptr.empty() ? 0 : indptr.size() - 1; }
  std::size_t num_nodes() const { return slots ? static_cast<std::size_t>(slots->num_nodes()) : num_rows(); }
  /// Of the two arrays that every graph has.
  std::int64_t num_bytes() const { return static_cast<std::int64_t>(indptr.size_bytes() + indices.size_bytes()); }

  /// Entries in row v < num_rows().
  std::uint32_t degree(std::size_t v) const { return static_cast<std::uint32_t>(indptr[v + 1] - indptr[v]); }
  std::span<const NodeId> row(std::size_t v) const { return {indices.data() + indptr[v], degree(v)}; }
  /// Of the entries of row v; empty where entries have none.
  std::span<const float> weights_of(std::size_t v) const {
    if (entries.weights.empty()) return {};
    return entries.weights.subspan(static_cast<std::size_t>(indptr[v]), degree(v));
  }
};

}  // namespace salient
