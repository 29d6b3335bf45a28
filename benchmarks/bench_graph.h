// benchmarks/bench_graph.h - generated data of any size, in memory.
#pragma once

#include <cstdint>

#include "core/csr_graph.h"
#include "core/host/huge_vector.h"
#include "store/dataset.h"

namespace salient {

struct BenchGraph {
  HugeVector<EdgeOffset> indptr{};
  HugeVector<NodeId> indices{};
  CsrGraph view() const { return {indptr, indices}; }
};

/// Degrees follow a power law (density ~ d^-3) with about the given mean; targets are skewed too, and the popular ones
/// are scattered over the id range, so there is no locality to profit from. Generated in parallel; depends on the
/// arguments alone.
BenchGraph make_bench_graph(NodeId num_nodes, double mean_degree);

/// That graph with features (f16, arbitrary bytes), labels and every node in the training set in a scattered order.
Dataset make_bench_dataset(NodeId num_nodes, double mean_degree, int feature_dim);

/// [num_nodes, row_bytes] arbitrary bytes.
HugeVector<std::byte> make_bench_rows(std::size_t num_rows, std::size_t row_bytes);

}  // namespace salient
