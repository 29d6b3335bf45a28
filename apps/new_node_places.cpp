// apps/new_node_places.cpp - see new_node_places.h.
#include "apps/new_node_places.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/error.h"

namespace salient {
namespace {

/// Of typed lists: every row's nodes are of the relation's source type.
bool has_rows_of_types(const NewNodes& nodes, const NewNodePlaces& places, const Dataset& dataset) {
  const SlotTable& slots = *dataset.slots;
  const auto type_of = [&](NodeId node) {
    return node < dataset.num_nodes() ? slots.type_of(node) : std::size_t{nodes.types[node - dataset.num_nodes()]};
  };
  for (std::size_t i = 0; i < nodes.num_nodes(); ++i)
    for (std::size_t r = places.row[i]; r < places.row[i + 1]; ++r) {
      const auto slot = static_cast<std::uint32_t>(r - places.row[i]);
      const Relation& relation = dataset.types.relations[slots.relation_of(nodes.types[i], slot)];
      if (std::ranges::any_of(nodes.row(r),
                              [&](NodeId node) { return type_of(node) != static_cast<std::size_t>(relation.src); }))
        return false;
    }
  return true;
}

}  // namespace

NewNodePlaces places_of(const NewNodes& nodes, const Dataset& dataset) {
  NewNodePlaces places;
  for (std::size_t i = 0; i < nodes.num_nodes(); ++i) {
    const bool is_typed = !nodes.types.empty();
    const int width = is_typed ? dataset.types.node_types[nodes.types[i]].features.dim : dataset.feature_dim;
    places.row.push_back(places.row.back() + (is_typed ? dataset.slots->num_slots[nodes.types[i]] : 1));
    places.feature.push_back(places.feature.back() + static_cast<std::size_t>(width));
  }
  return places;
}

void check_new_nodes(const NewNodes& nodes, const Dataset& dataset) {
  const bool is_typed = dataset.types.is_typed();
  const std::uint64_t end = dataset.num_nodes() + nodes.num_nodes();
  if (end > std::uint64_t{1} << 32) fail(ErrorKind::kUsage, "new nodes: more than 2^32 nodes in all");
  if (is_typed == nodes.types.empty() && nodes.num_nodes() > 0)
    fail(ErrorKind::kUsage, "new nodes: those of a typed graph have types, others none");
  if (std::ranges::any_of(nodes.types, [&](std::uint8_t type) { return type >= dataset.types.node_types.size(); }))
    fail(ErrorKind::kUsage, "new nodes: a type that the graph has not");
  const auto is_target = [&](NodeId place) {
    return place < nodes.num_nodes() && int{nodes.types[place]} == dataset.types.target_type;
  };
  if (!std::ranges::all_of(nodes.predicted, is_target))
    fail(ErrorKind::kUsage, "new nodes: those that are predicted are of the target type");
  const NewNodePlaces places = places_of(nodes, dataset);
  if (nodes.features.size() != places.feature.back())
    fail(ErrorKind::kUsage, is_typed ? "new nodes: each has as many features as its type"
                                     : "new nodes: each has " + std::to_string(dataset.feature_dim) + " features");
  if (nodes.indptr.size() != places.row.back() + 1 || !std::ranges::is_sorted(nodes.indptr) ||
      nodes.indptr.front() != 0 || nodes.indptr.back() != std::ssize(nodes.indices) ||
      std::ranges::any_of(nodes.indices, [&](NodeId node) { return node >= end; }))
    fail(ErrorKind::kUsage, "new nodes: a row is no list of nodes below " + std::to_string(end));
  if (is_typed && !has_rows_of_types(nodes, places, dataset))
    fail(ErrorKind::kUsage, "new nodes: a row has nodes of another type than its relation");
}

NewNodes joined(std::span<const NewNodes> lists, std::size_t num_known) {
  NewNodes all;
  for (const NewNodes& list : lists) {
    const std::size_t before = all.num_nodes(), edges_before = all.indices.size();
    all.features.insert(all.features.end(), list.features.begin(), list.features.end());
    for (const NodeId node : list.indices)
      all.indices.push_back(node < num_known ? node : static_cast<NodeId>(node + before));
    for (std::size_t i = 1; i < list.indptr.size(); ++i)
      all.indptr.push_back(list.indptr[i] + static_cast<std::int64_t>(edges_before));
    for (const NodeId place : list.predicted) all.predicted.push_back(static_cast<NodeId>(place + before));
    all.types.insert(all.types.end(), list.types.begin(), list.types.end());
  }
  return all;
}

}  // namespace salient
