// store/synthetic_edges.h - generated features of edges, for measuring speed.
#pragma once

#include "store/dataset.h"

namespace salient {

/// The same data set with features of its edges instead of those that it has: `dim` columns in f16 of mean 0 and
/// deviation 1, noise that tells of nothing. An edge and its reverse have the same. A function of the graph and `dim`:
/// any machine and thread count generates the same bytes.
///
/// @param dim  at least 1
/// Cost: 2 * dim bytes an entry.
Dataset with_synthetic_edge_features(Dataset dataset, int dim);

}  // namespace salient
