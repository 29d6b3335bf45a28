// loaders/part_rows.cpp - see part_rows.h.
#include "loaders/part_rows.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/console/progress.h"
#include "loaders/gather_rows.h"

namespace salient {
namespace {

constexpr std::size_t kBlock = 1 << 14;  // rows

}  // namespace

PartRows::PartRows(const Dataset& dataset, Parts parts, int rank, std::span<const NodeId> copied)
    : parts_(std::move(parts)),
      rank_(rank),
      row_bytes_(dataset.features.row_bytes),
      fp8_scale_(dataset.features.fp8_scale) {
  std::vector<NodeId> held;
  std::ranges::set_union(nodes_of_part(parts_, rank), copied, std::back_inserter(held));
  held_ = NodeSet(dataset.num_nodes(), held);
  rows_.resize(held.size() * row_bytes_);
  Progress progress("feature rows of this rank", held.size(), "rows");
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  oneapi::tbb::parallel_for(Range(0, held.size(), kBlock), [&](const Range& range) {
    gather_rows(dataset.features, held.data() + range.begin(), range.size(), rows_.data() + range.begin() * row_bytes_);
    progress.add(range.size());
  });
}

std::vector<NodeId> nodes_of_part(const Parts& parts, int part) {
  std::vector<NodeId> nodes;
  for (std::size_t v = 0; v < parts.owner.size(); ++v)
    if (parts.owner[v] == part) nodes.push_back(static_cast<NodeId>(v));
  return nodes;
}

}  // namespace salient
