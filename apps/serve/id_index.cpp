// apps/serve/id_index.cpp - see id_index.h.
#include "apps/serve/id_index.h"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace salient::serve {

IdIndex::IdIndex(NodeIds ids, std::size_t num_nodes) : ids_(std::move(ids)) {
  if (ids_.empty()) return;
  by_id_.resize(num_nodes);
  std::iota(by_id_.begin(), by_id_.end(), NodeId{0});
  tbb::parallel_sort(by_id_.begin(), by_id_.end(), [this](NodeId a, NodeId b) { return ids_[a] < ids_[b]; });
}

std::optional<NodeId> IdIndex::find(std::string_view id) const {
  const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                      [this](NodeId node, std::string_view wanted) { return ids_[node] < wanted; });
  if (found == by_id_.end() || ids_[*found] != id) return std::nullopt;
  return *found;
}

}  // namespace salient::serve
