// core/slot_table.h - which rows of a typed graph are the slots of which node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

namespace salient {

/// Node ids are one space: those of type t are node_begin[t] to node_begin[t + 1] - 1. Each has num_slots[t]
/// rows, its slots, one behind the other, for each relation that leads to the type one. With one type and one relation
/// row v is node v.
struct SlotTable {
  std::vector<std::uint64_t> node_begin{0};      ///< [T + 1]
  std::vector<std::uint64_t> slot_begin{0};      ///< [T + 1] the first row of each type
  std::vector<std::uint32_t> num_slots{};        ///< [T]
  std::vector<std::uint32_t> relation_begin{0};  ///< [T + 1] into `relations`
  std::vector<std::uint16_t> relations{};        ///< of all types: the relation of each of their slots

  std::size_t num_types() const { return num_slots.size(); }
  std::uint64_t num_nodes() const { return node_begin.back(); }
  std::uint64_t num_rows() const { return slot_begin.back(); }
  std::uint64_t num_nodes_of(std::size_t type) const { return node_begin[type + 1] - node_begin[type]; }

  /// The next type. @param relation_of  of each slot of its nodes
  void append(std::uint64_t num_nodes, std::span<const std::uint16_t> relation_of) {
    node_begin.push_back(node_begin.back() + num_nodes);
    slot_begin.push_back(slot_begin.back() + num_nodes * relation_of.size());
    num_slots.push_back(static_cast<std::uint32_t>(relation_of.size()));
    relations.insert(relations.end(), relation_of.begin(), relation_of.end());
    relation_begin.push_back(static_cast<std::uint32_t>(relations.size()));
  }

  std::uint16_t relation_of(std::size_t type, std::uint32_t slot) const {
    return relations[relation_begin[type] + slot];
  }

  /// @param node  below num_nodes()    Cost: log T
  std::size_t type_of(NodeId node) const { return interval_of(node_begin, node); }

  /// The row of a slot of a node of this type. @param slot  below num_slots[type]
  std::uint64_t row_of(std::size_t type, NodeId node, std::uint32_t slot) const {
    return slot_begin[type] + (node - node_begin[type]) * num_slots[type] + slot;
  }

  /// @param row  below num_rows()    Cost: log T
  std::size_t type_of_row(std::uint64_t row) const { return interval_of(slot_begin, row); }
  NodeId node_of_row(std::size_t type, std::uint64_t row) const {
    return static_cast<NodeId>(node_begin[type] + (row - slot_begin[type]) / num_slots[type]);
  }

  bool operator==(const SlotTable&) const = default;

 private:
  /// Of empty intervals that begin at `item` the one behind them has it.
  static std::size_t interval_of(const std::vector<std::uint64_t>& begin, std::uint64_t item) {
    return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), item) - begin.begin()) - 1;
  }
};

}  // namespace salient
