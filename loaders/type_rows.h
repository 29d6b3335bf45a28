// loaders/type_rows.h - which rows of a type's table the nodes of a batch have, on the device. In a CUDA build only.
#pragma once

#include <cstddef>

#include "core/types.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// rows[i] = nodes[numbers[i]] - first. Enqueues on `stream` and returns.
/// @param nodes    device, global ids of the batch
/// @param numbers  [count] device: of the nodes of one type   @param first  the id of the type's first node
/// @param rows     [count] device
/// Oracle: TypedBatchWriter::write_features()
void find_type_rows(const NodeId* nodes, const LocalId* numbers, std::size_t count, NodeId first, NodeId* rows,
                    CUstream_st* stream);

}  // namespace salient
