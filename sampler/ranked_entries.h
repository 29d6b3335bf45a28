// sampler/ranked_entries.h - entries that draws by ranks keep of rows, on the GPU. Needs no nvcc.
#pragma once

#include "sampler/device_hop.h"

namespace salient {

/// kept[offsets[i] .. offsets[i + 1]) = the neighbours of row i that Draw::kLabor or Draw::kWeighted keeps. Enqueues on
/// `stream` and returns.
/// Cost:      two to four passes over each row of which not all is kept, nearly always from the L2 cache after the
///            first.
/// Oracle:    reference_sample(), reference_temporal_sample().
void pick_ranked_entries(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop, cudaStream_t stream);

}  // namespace salient
