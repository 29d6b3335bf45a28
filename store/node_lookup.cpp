// store/node_lookup.cpp - see node_lookup.h.
#include "store/node_lookup.h"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "core/files/value_rules.h"
#include "core/id_text.h"
#include "core/printable.h"

namespace salient {

constexpr const char* kNoNodes = "there is no such node, as there is none at all";

NodeLookup::NodeLookup(NodeIds ids, std::size_t num_nodes) : ids_(std::move(ids)), num_nodes_(num_nodes) {
  const std::span<const std::uint64_t> numbers = ids_.numbers();
  if (ids_.empty() || (!numbers.empty() && std::ranges::is_sorted(numbers))) return;
  by_id_.resize(num_nodes);
  std::iota(by_id_.begin(), by_id_.end(), NodeId{0});
  if (!numbers.empty())
    tbb::parallel_sort(by_id_.begin(), by_id_.end(), [=](NodeId a, NodeId b) { return numbers[a] < numbers[b]; });
  else
    tbb::parallel_sort(by_id_.begin(), by_id_.end(),
                       [this](NodeId a, NodeId b) { return ids_.name(a) < ids_.name(b); });
}

std::optional<NodeId> NodeLookup::row(std::uint64_t number) const {
  return number < num_nodes_ ? std::optional(static_cast<NodeId>(number)) : std::nullopt;
}

template <class Id, class IdOf>
std::optional<NodeId> NodeLookup::search(const Id& wanted, IdOf id_of) const {
  const auto node_at = [this](std::size_t place) {
    return by_id_.empty() ? static_cast<NodeId>(place) : by_id_[place];
  };
  const auto places = std::views::iota(std::size_t{0}, num_nodes_);
  const auto found = std::ranges::partition_point(places, [&](std::size_t at) { return id_of(node_at(at)) < wanted; });
  if (found == places.end() || id_of(node_at(*found)) != wanted) return std::nullopt;
  return node_at(*found);
}

std::optional<NodeId> NodeLookup::find(std::uint64_t said, NodesBy by) const {
  if (takes_rows(by)) return row(said);
  if (ids_.numbers().empty()) return find(std::to_string(said), by);
  return search(said, [&](NodeId node) { return ids_.numbers()[node]; });
}

std::optional<NodeId> NodeLookup::find(std::string_view said, NodesBy by) const {
  if (!takes_rows(by) && ids_.numbers().empty()) return search(said, [&](NodeId node) { return ids_.name(node); });
  std::uint64_t number = 0;
  return parse_id(said, number) ? find(number, by) : std::nullopt;
}

/// With the first of the ids that there are, cut short: what is asked for may be of another kind.
std::string NodeLookup::rule_of_ids() const {
  constexpr std::size_t kLongest = 40;
  std::string first = ids_[0];
  if (first.size() > kLongest) first = first.substr(0, kLongest) + "...";
  return "no node has this id; the first is '" + printable(first) + "'";
}

std::string NodeLookup::rule_of(std::uint64_t said, NodesBy by) const {
  if (num_nodes_ == 0) return kNoNodes;
  return takes_rows(by) ? no_node(said, num_nodes_) : rule_of_ids();
}

std::string NodeLookup::rule_of(std::string_view said, NodesBy by) const {
  if (num_nodes_ == 0) return kNoNodes;
  if (!takes_rows(by)) return rule_of_ids();
  std::uint64_t number = 0;
  if (parse_id(said, number)) return no_node(number, num_nodes_);
  return std::string(ids_.empty() ? "the data set has no ids of its own, and " : "") + "rows are numbers from 0 to " +
         std::to_string(num_nodes_ - 1);
}

}  // namespace salient
