// sampler/labor_entries.h - which entries of rows LABOR keeps, on the GPU. Needs no nvcc.
#pragma once

#include "sampler/device_hop.h"

namespace salient {

/// kept[offsets[i] .. offsets[i + 1]) = the neighbours of row i that Draw::kLabor keeps. Enqueues on `stream`
/// and returns.
/// Cost:      two to three passes over each row that is longer than the fanout, nearly always from the L2 cache after
///            the first.
/// Oracle:    reference_sample().
void pick_labor_entries(const DeviceCsr& graph, const HopRule& rule, const DeviceHop& hop, cudaStream_t stream);

}  // namespace salient
