// prepare/writing/csr_builder.h - an edge list becomes a graph with sorted rows and no repeated entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.h"
#include "prepare/importers/raw_graph.h"
#include "store/csr_arrays.h"

namespace salient {

enum class EdgeDirections {
  kAsGiven,  ///< edge s -> d: s in row d
  kBoth,     ///< and d in row s
};

/// Self loops stay, one entry each, and are counted; so are the repeats that were dropped.
///
/// @param sources, destinations  [M] edge m: sources[m] -> destinations[m], each below num_nodes; freed early.
/// Determinism: equal edges, in any order, give equal arrays for any number of threads. Runs in the caller's arena.
/// Cost:        8 bytes per edge given plus 4 per entry (2M entries for kBoth) and 12 per node.
/// Algorithm:   count, prefix sum, scatter with atomic cursors, sort each row.
/// Oracle:      build_csr_reference().
CsrArrays build_csr(std::uint64_t num_nodes, std::vector<NodeId> sources, std::vector<NodeId> destinations,
                    EdgeDirections directions);

/// The same of edges with weights or times, and of repeats that are not just left out. Rows ascend by (time, neighbour,
/// place in the source), without times by (neighbour, place); a reverse has its edge's weight and time. Of edges with
/// features the arrays have CsrArrays::edges; repeats that are no entry of their own have none.
///
/// @param values  weights, times and features of the edges, as far as they have them
/// @throws Error{kBadData} for repeats where they are refused, and for a sum of weights that no float holds
/// Cost:   as build_csr(), and 4 bytes more per entry, beside the values. At most 2^32 - 1 edges: Error{kUsage}
/// Oracle: a map from pairs to edges, in tests/prepare/writing/entry_values_test.cpp.
CsrArrays build_csr(std::uint64_t num_nodes, std::vector<NodeId> sources, std::vector<NodeId> destinations,
                    EdgeDirections directions, const EdgeValues& values, Repeats repeats);

/// The features of each entry's edge, [E, dim]; of graphs with CsrArrays::edges. @throws Error{kHostMemory}
std::vector<std::byte> edge_rows_of(const RawFeatures& features, const CsrArrays& graph, const MemoryLimit& memory);

/// The same contract as the first, written to be read.
CsrArrays build_csr_reference(std::uint64_t num_nodes, const std::vector<NodeId>& sources,
                              const std::vector<NodeId>& destinations, EdgeDirections directions);

}  // namespace salient
