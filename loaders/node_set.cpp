// loaders/node_set.cpp - see node_set.h.
#include "loaders/node_set.h"

#include <algorithm>
#include <functional>

#include "core/error.h"

namespace salient {

NodeSet::NodeSet(std::size_t num_nodes, std::span<const NodeId> members)
    : words_((num_nodes + kBits - 1) / kBits), size_(members.size()) {
  require(std::ranges::adjacent_find(members, std::greater_equal()) == members.end(), "members ascend");
  require(members.empty() || members.back() < num_nodes, "members are nodes of the graph");
  for (const NodeId node : members) words_[node / kBits].members |= std::uint32_t{1} << (node % kBits);
  std::uint32_t before = 0;
  for (Word& word : words_) {
    word.before = before;
    before += static_cast<std::uint32_t>(std::popcount(word.members));
  }
}

std::vector<NodeId> most_connected_nodes(const CsrGraph& graph, std::size_t count) {
  constexpr std::size_t kLengths = std::size_t{1} << 16;  // longer rows count as equally long
  const std::size_t num_nodes = graph.num_nodes();
  const auto length_of = [&](std::size_t node) { return std::min(std::size_t{graph.degree(node)}, kLengths - 1); };
  std::vector<std::size_t> nodes_of_length(kLengths);
  for (std::size_t node = 0; node < num_nodes; ++node) ++nodes_of_length[length_of(node)];
  std::size_t left = std::min(count, num_nodes);  // members among the rows of length `limit` and shorter
  std::size_t limit = kLengths - 1;
  for (; limit > 0 && nodes_of_length[limit] <= left; --limit) left -= nodes_of_length[limit];
  std::vector<NodeId> members;
  members.reserve(std::min(count, num_nodes));
  for (std::size_t node = 0; node < num_nodes; ++node) {
    const std::size_t length = length_of(node);
    if (length < limit || (length == limit && left == 0)) continue;
    if (length == limit) --left;
    members.push_back(static_cast<NodeId>(node));
  }
  return members;
}

}  // namespace salient
