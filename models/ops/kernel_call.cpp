// models/ops/kernel_call.cpp - see kernel_call.h.
#include "models/ops/kernel_call.h"

#include "core/error.h"

namespace salient {

HopEdges edges_of(const HopView& hop) {
  require(hop.indptr.scalar_type() == at::kInt && hop.indices.scalar_type() == at::kInt, "hops have int32 arrays");
  require(hop.indptr.is_contiguous() && hop.indices.is_contiguous(), "hops have contiguous arrays");
  require(hop.indptr.numel() == hop.num_dst + 1, "indptr has num_dst + 1 entries");
  return {pointer<LocalId>(hop.indptr), pointer<LocalId>(hop.indices), hop.num_dst, hop.num_src};
}

EdgesBySource EdgesBySource::make(const HopView& hop, CUstream_st* stream) {
  const std::int64_t num_edges = hop.indices.numel();
  const std::size_t scratch_bytes = transpose_scratch_bytes(num_edges);
  const auto ids = [&](std::int64_t count) { return at::empty({count}, hop.indices.options()); };
  EdgesBySource made{ids(hop.num_src + 1), ids(num_edges), ids(num_edges), {}};
  const at::Tensor keys = ids(num_edges), scratch = ids(static_cast<std::int64_t>(scratch_bytes / sizeof(LocalId) + 1));
  const TransposeBuffers to{made.indptr.mutable_data_ptr<LocalId>(),
                            made.destination.mutable_data_ptr<LocalId>(),
                            made.edge.mutable_data_ptr<LocalId>(),
                            keys.mutable_data_ptr<LocalId>(),
                            scratch.mutable_data_ptr(),
                            scratch_bytes};
  transpose(edges_of(hop), num_edges, to, stream);
  made.edges = to.edges();
  return made;
}

}  // namespace salient
