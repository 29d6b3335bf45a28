// models/resident/attention_held.h - attention.h over rows of the feature table that are read once in each direction,
// of nodes with few entries.
#pragma once

#include "models/resident/attention.h"

namespace salient {

/// Whether attention over rows of the table has these kernels. In f32 it has not: their sums have another order.
bool holds_rows(const Attention& attention);

/// attention_forward() and attention_backward() of the table. Each run writes the same shares of Attention::sums;
/// others stay zeros.
void held_forward(const Attention& attention, const TableRows& rows, cudaStream_t stream);
void held_backward(const Attention& attention, const TableRows& rows, const void* gradient, cudaStream_t stream);

}  // namespace salient
