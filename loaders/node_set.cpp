// loaders/node_set.cpp - see node_set.h.
#include "loaders/node_set.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "core/error.h"

namespace salient {

NodeSet::NodeSet(std::size_t num_nodes, std::span<const NodeId> members)
    : words_((num_nodes + kBits - 1) / kBits), size_(members.size()) {
  require(std::ranges::adjacent_find(members, std::greater_equal()) == members.end(), "members ascend");
  require(members.empty() || members.back() < num_nodes, "members are nodes of the graph");
  for (const NodeId node : members) words_[node / kBits].members |= std::uint32_t{1} << (node % kBits);
  std::uint32_t before = 0;
  for (NodeSetWord& word : words_) {
    word.before = before;
    before += static_cast<std::uint32_t>(std::popcount(word.members));
  }
}

}  // namespace salient
