// models/kernels/segment_bins.h - the gradient of neighbour sums over entries that are binned by source, on the device.
#pragma once

#include "models/kernels/segment.h"
#include "models/kernels/source_bins.h"

namespace salient {

/// Whether segment_reduce_backward() gains by bins; measured with 128 and 256 columns. A warp has a row, so most of its
/// lanes would idle in a narrow one.
constexpr bool are_segment_bins_faster(std::int64_t num_src, std::int64_t num_edges, std::int64_t width) {
  return width >= 64 && are_bins_faster(num_src, num_edges, width);
}

/// segment_reduce_backward() without weights, by way of `on.bins`. hop.num_dst, hop.num_src and width are above 0.
void segment_reduce_backward_binned(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                                    float* grad_x, const BackwardStream& on);

}  // namespace salient
