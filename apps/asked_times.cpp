// apps/asked_times.cpp - see asked_times.h.
#include "apps/asked_times.h"

#include "core/error.h"

namespace salient {

AskedTimes::AskedTimes(Dataset& dataset) : own_(dataset.node_times), times_(own_.begin(), own_.end()) {
  if (!dataset.has_edge_times)
    fail(ErrorKind::kUsage, dataset.name + ": its edges have no times, before which neighbours could be drawn");
  times_.resize(dataset.num_nodes());
  dataset.has_node_times = true;
  dataset.node_times = times_;
}

void AskedTimes::set(std::span<const NodeId> nodes, std::optional<std::int64_t> time) {
  if (!time && own_.empty())
    fail(ErrorKind::kUsage, "the nodes of the data set have no times of their own: a time must be said");
  for (const NodeId node : nodes) times_[node] = time ? *time : own_[node];
}

}  // namespace salient
