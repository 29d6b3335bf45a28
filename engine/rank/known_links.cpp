// engine/rank/known_links.cpp - see known_links.h.
#include "engine/rank/known_links.h"

#include <algorithm>
#include <utility>

namespace salient {
namespace {

std::uint64_t key_of(std::uint16_t relation, NodeId node) { return (std::uint64_t{relation} << 32) | node; }

}  // namespace

KnownLinks::KnownLinks(std::span<const LinkTable> splits, bool are_symmetric) {
  for (const LinkSide side : kLinkSides) by_node_[static_cast<std::size_t>(side)] = sorted(splits, side, are_symmetric);
}

KnownLinks::ByNode KnownLinks::sorted(std::span<const LinkTable> splits, LinkSide side, bool are_symmetric) {
  std::vector<std::pair<std::uint64_t, NodeId>> links;
  for (const LinkTable& split : splits)
    for (std::size_t i = 0; i < split.size(); ++i) {
      const bool asks_tail = side == LinkSide::kTail;
      const std::uint16_t relation = split.relations.empty() ? std::uint16_t{0} : split.relations[i];
      const NodeId given = asks_tail ? split.source(i) : split.destination(i);
      const NodeId other = asks_tail ? split.destination(i) : split.source(i);
      links.emplace_back(key_of(relation, given), other);
      if (are_symmetric) links.emplace_back(key_of(relation, other), given);
    }
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  ByNode table;
  for (const auto& [key, end] : links) {
    if (table.keys.empty() || table.keys.back() != key) {
      table.keys.push_back(key);
      table.begin.push_back(table.ends.size());
    }
    table.ends.push_back(end);
  }
  table.begin.push_back(table.ends.size());
  return table;
}

std::span<const NodeId> KnownLinks::of(LinkSide side, std::uint16_t relation, NodeId node) const {
  const ByNode& table = by_node_[static_cast<std::size_t>(side)];
  const auto found = std::ranges::lower_bound(table.keys, key_of(relation, node));
  if (found == table.keys.end() || *found != key_of(relation, node)) return {};
  const auto at = static_cast<std::size_t>(found - table.keys.begin());
  return std::span(table.ends).subspan(table.begin[at], table.begin[at + 1] - table.begin[at]);
}

}  // namespace salient
