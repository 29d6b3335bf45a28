// models/kernels/edge_softmax.h - softmax over the attention edges of each row.
#pragma once

#include "models/kernels/attention_edges.h"

namespace salient {

/// In place: logits become weights, exp(logit) / sum over the row, per head. The largest logit is subtracted first.
/// Oracle: attention_reference()
void edge_softmax(const HopEdges& hop, std::int64_t heads, float* edges);
/// In place: the gradient of the weights becomes that of the logits.
void edge_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad);

void edge_softmax(const HopEdges& hop, std::int64_t heads, float* edges, CUstream_st* stream);
void edge_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad,
                           CUstream_st* stream);

}  // namespace salient
