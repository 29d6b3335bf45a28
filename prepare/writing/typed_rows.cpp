// prepare/writing/typed_rows.cpp - see typed_rows.h.
#include "prepare/writing/typed_rows.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/console/progress.h"
#include "core/free_memory.h"
#include "core/host/interrupt.h"
#include "prepare/writing/scatter_rows.h"
#include "store/csr_rows.h"

namespace salient {
namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

/// Where the edges of a relation come from, and where their entries go.
struct Placing {
  const std::vector<NodeId>& sources;
  const std::vector<NodeId>& destinations;
  std::uint64_t source_begin, row_begin, row_stride;
};

Placing placing_of(const GraphSchema& schema, const SlotTable& slots, const std::vector<NodePairs>& edges,
                   std::size_t r) {
  const Relation& relation = schema.relations[r];
  const auto src = static_cast<std::size_t>(relation.src), dst = static_cast<std::size_t>(relation.dst);
  const NodePairs& pairs = edges[relation.reverse_of ? static_cast<std::size_t>(*relation.reverse_of) : r];
  return {relation.reverse_of ? pairs.destinations : pairs.sources,
          relation.reverse_of ? pairs.sources : pairs.destinations, slots.node_begin[src],
          slots.slot_begin[dst] + relation.slot, slots.num_slots[dst]};
}

/// Calls use(row, entry) for every edge of every relation.
template <class Use>
void for_each_entry(const char* label, const GraphSchema& schema, const SlotTable& slots,
                    const std::vector<NodePairs>& edges, Use use) {
  std::uint64_t total = 0;
  for (std::size_t r = 0; r < edges.size(); ++r) total += placing_of(schema, slots, edges, r).sources.size();
  Progress progress(label, total, "entries");
  for (std::size_t r = 0; r < edges.size(); ++r) {
    const Placing placing = placing_of(schema, slots, edges, r);
    const oneapi::tbb::blocked_range<std::size_t> all(0, placing.sources.size(), kGrain);
    oneapi::tbb::parallel_for(all, [&](const auto& range) {
      stop_if_interrupted();
      for (std::size_t m = range.begin(); m < range.end(); ++m)
        use(static_cast<NodeId>(placing.row_begin + placing.destinations[m] * placing.row_stride),
            static_cast<NodeId>(placing.source_begin + placing.sources[m]));
      progress.add(range.size());
    });
  }
}

/// Entries of each relation, and self loops.
void count_entries(GraphSchema& schema, const SlotTable& slots, CsrArrays& graph) {
  const CsrGraph view = graph.view();
  graph.self_loops = 0;
  for (Relation& relation : schema.relations) {
    const auto dst = static_cast<std::size_t>(relation.dst);
    relation.num_entries = 0;
    for (std::uint64_t v = slots.node_begin[dst]; v < slots.node_begin[dst + 1]; ++v) {
      const auto row = view.row(slots.row_of(dst, static_cast<NodeId>(v), relation.slot));
      relation.num_entries += row.size();
      graph.self_loops += relation.src == relation.dst && std::binary_search(row.begin(), row.end(), v);
    }
  }
}

}  // namespace

CsrArrays build_slots(GraphSchema& schema, const SlotTable& slots, std::vector<NodePairs> edges) {
  UnsetHugeVector<NodeId> filled;
  const char* label = "counting edges";
  CsrArrays graph = scatter_rows(static_cast<std::size_t>(slots.num_rows()), filled, [&](auto use) {
    for_each_entry(std::exchange(label, "placing edges"), schema, slots, edges, use);
  });
  free_memory_of(edges);
  stop_if_interrupted();
  tidy_rows(graph, filled);
  count_entries(schema, slots, graph);
  return graph;
}

CsrArrays build_slots_reference(GraphSchema& schema, const SlotTable& slots, const std::vector<NodePairs>& edges) {
  std::vector<std::set<NodeId>> rows(static_cast<std::size_t>(slots.num_rows()));
  CsrArrays graph;
  for (std::size_t r = 0; r < schema.relations.size(); ++r) {
    Relation& relation = schema.relations[r];
    const bool is_reverse = relation.reverse_of.has_value();
    const NodePairs& pairs = edges[is_reverse ? static_cast<std::size_t>(*relation.reverse_of) : r];
    relation.num_entries = 0;
    for (std::size_t m = 0; m < pairs.sources.size(); ++m) {
      const NodeId from = is_reverse ? pairs.destinations[m] : pairs.sources[m];
      const NodeId to = is_reverse ? pairs.sources[m] : pairs.destinations[m];
      const auto src = static_cast<std::size_t>(relation.src), dst = static_cast<std::size_t>(relation.dst);
      const auto source = static_cast<NodeId>(slots.node_begin[src] + from);
      const auto destination = static_cast<NodeId>(slots.node_begin[dst] + to);
      const bool is_new = rows.at(slots.row_of(dst, destination, relation.slot)).insert(source).second;
      relation.num_entries += is_new;
      graph.duplicates += !is_new;
      graph.self_loops += is_new && source == destination;
    }
  }
  graph.indptr.push_back(0);
  for (const std::set<NodeId>& row : rows) {
    graph.indices.insert(graph.indices.end(), row.begin(), row.end());
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

}  // namespace salient
