// models/resident/hop.cuh - a hop as the kernels of a tree see it: rows, with or without what a batch must not see.
#pragma once

#include <cstdint>
#include <optional>

#include "models/resident/pick.cuh"
#include "models/resident/tree_links.h"

namespace salient {

/// A level of the tree and the hop that is sampled for it.
struct Hop {
  DeviceCsr graph;
  const StepHeader* header;
  const LocalId* num_nodes;
  std::uint32_t index;
  std::uint32_t fanout;
  Draw draw;

  struct Row {
    EdgeOffset begin;
    std::uint32_t degree, kept;
  };
  __device__ Row row_of(NodeId node) const {
    const std::uint32_t degree = graph.degree(node);
    return {graph.begin(node), degree, num_kept(degree, fanout, draw)};
  }
  /// Of the whole row, where `drawn` is one of those that may be drawn.
  __device__ std::uint32_t position_in(const Row&, std::uint32_t drawn) const { return drawn; }
  /// In the graph's entries: of a graph in tiers rows are read elsewhere.
  __device__ EdgeOffset place_of(NodeId node, std::uint32_t position) const { return graph.indptr[node] + position; }
  __device__ Draws draws_of(NodeId node) const {
    return Draws({header->seed, header->epoch, header->batch}, index, node);
  }
};

/// The same without what the batch must not see: what is drawn is among the entries that are left.
struct HopWithout : Hop {
  DeviceExclusions excluded;

  struct Row : Hop::Row {
    RestOfRow rest;
  };
  __device__ Row row_of(NodeId node) const {
    const RestOfRow rest = excluded.rest_of(node);
    const std::uint32_t degree = graph.degree(node) - rest.num_excluded();
    return {{graph.begin(node), degree, num_kept(degree, fanout, draw)}, rest};
  }
  __device__ std::uint32_t position_in(const Row& row, std::uint32_t drawn) const { return row.rest.place_of(drawn); }
};

/// Calls use() with a Hop, or with one HopWithout.
template <class Use>
void with_hop(const std::optional<LinkStart>& links, const Hop& hop, const Use& use) {
  const DeviceExclusions excluded = links ? links->excluded() : DeviceExclusions{};
  excluded.slots == nullptr ? use(hop) : use(HopWithout{hop, excluded});
}

}  // namespace salient
