// benchmarks/bench_graph.h - generated data of any size, in memory: the product's synthetic graph.
#pragma once

#include <cstddef>

#include "core/host/huge_vector.h"
#include "store/csr_arrays.h"
#include "store/dataset.h"

namespace salient {

/// A symmetric graph with about the given mean degree; degrees follow a power law up to 400 times that. One community:
/// neighbours are scattered over all ids, so there is no locality to profit from. Depends on the arguments alone.
CsrArrays make_bench_graph(NodeId num_nodes, double mean_degree);

/// That graph with features (f16), labels, and every node in the training set in a scattered order.
Dataset make_bench_dataset(NodeId num_nodes, double mean_degree, int feature_dim);

/// [num_rows, row_bytes] arbitrary bytes.
HugeVector<std::byte> make_bench_rows(std::size_t num_rows, std::size_t row_bytes);

}  // namespace salient
