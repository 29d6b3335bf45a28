// prepare/writing/csr_builder.cpp - see csr_builder.h.
#include "prepare/writing/csr_builder.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/console/progress.h"
#include "core/error.h"
#include "core/free_memory.h"
#include "core/host/interrupt.h"
#include "prepare/writing/scatter_rows.h"
#include "store/csr_rows.h"

namespace salient {
namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

/// Calls use(row, entry) for both directions of every edge, or for the one given. A self loop has one direction.
template <class Use>
void for_each_entry(const char* label, const std::vector<NodeId>& sources, const std::vector<NodeId>& destinations,
                    EdgeDirections directions, Use use) {
  Progress progress(label, sources.size(), "edges");
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, sources.size(), kGrain), [&](const auto& range) {
    stop_if_interrupted();
    for (std::size_t m = range.begin(); m < range.end(); ++m) {
      const NodeId s = sources[m], d = destinations[m];
      use(d, s);
      if (directions == EdgeDirections::kBoth && s != d) use(s, d);
    }
    progress.add(range.size());
  });
}

bool all_below(const std::vector<NodeId>& ids, std::uint64_t limit) {
  return ids.empty() || *std::ranges::max_element(ids) < limit;
}

}  // namespace

CsrArrays build_csr(std::uint64_t num_nodes, std::vector<NodeId> sources, std::vector<NodeId> destinations,
                    EdgeDirections directions) {
  require(sources.size() == destinations.size(), "an edge has two ends");
  require(all_below(sources, num_nodes) && all_below(destinations, num_nodes), "edges join nodes of the graph");
  UnsetHugeVector<NodeId> filled;
  const char* label = "counting edges";
  CsrArrays graph = scatter_rows(num_nodes, filled, [&](auto use) {
    for_each_entry(std::exchange(label, "placing edges"), sources, destinations, directions, use);
  });
  free_memory_of(sources, destinations);
  stop_if_interrupted();
  tidy_rows(graph, filled);
  return graph;
}

CsrArrays build_csr_reference(std::uint64_t num_nodes, const std::vector<NodeId>& sources,
                              const std::vector<NodeId>& destinations, EdgeDirections directions) {
  std::vector<std::set<NodeId>> rows(num_nodes);
  CsrArrays graph;
  const auto insert = [&](NodeId row, NodeId entry) { graph.duplicates += !rows.at(row).insert(entry).second; };
  for (std::size_t m = 0; m < sources.size(); ++m) {
    insert(destinations[m], sources[m]);
    if (directions == EdgeDirections::kBoth && sources[m] != destinations[m]) insert(sources[m], destinations[m]);
  }
  graph.indptr.push_back(0);
  for (NodeId v = 0; v < num_nodes; ++v) {
    graph.self_loops += rows[v].contains(v);
    graph.indices.insert(graph.indices.end(), rows[v].begin(), rows[v].end());
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

}  // namespace salient
