// engine/infer/node_labels.h - the labels of some nodes as a tensor, where no loader gathers them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "core/types.h"
#include "store/label_table.h"

namespace salient {

enum class LabelMemory : std::uint8_t { kPageable, kPinned };

/// As a batch has them: int32 [n], int8 [n, width] or f32 [n, width], on the host.
at::Tensor labels_of(const LabelTable& labels, std::span<const NodeId> nodes, LabelMemory memory);

}  // namespace salient
