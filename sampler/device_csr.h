// sampler/device_csr.h - a graph in device memory, as kernels see it. Needs no CUDA toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/philox.h"
#include "core/types.h"

namespace salient {

/// Borrowed CSR graph that the device reads; the rules are CsrGraph's. Bounds are in device memory. Of a graph in tiers
/// some rows are in pinned host memory, in any order: their begins count from `indices` all the same, since one address
/// space holds both memories.
struct DeviceCsr {
  const EdgeOffset* indptr = nullptr;  ///< [rows + 1]
  const NodeId* indices = nullptr;
  std::size_t num_nodes = 0;           ///< also the rows of a plain graph
  const EdgeOffset* begins = nullptr;  ///< [rows] where rows begin; null = at indptr

  SALIENT_HOST_DEVICE std::uint32_t degree(std::size_t v) const {
    return static_cast<std::uint32_t>(indptr[v + 1] - indptr[v]);
  }
  SALIENT_HOST_DEVICE EdgeOffset begin(std::size_t v) const {
    EdgeOffset first = indptr[v];  // which every caller reads for the degree: of a whole graph nothing else is read
    if (begins != nullptr) first = begins[v];
    return first;
  }
  SALIENT_HOST_DEVICE const NodeId* row(std::size_t v) const { return indices + begin(v); }
};

}  // namespace salient
