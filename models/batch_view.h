// models/batch_view.h - a loader's batch seen as tensors, without a copy.
#pragma once

#include "loaders/batch.h"
#include "models/hop.h"

namespace salient {

/// The tensors that `batch` holds, over its own slab: host tensors, or tensors on CUDA device `device_index`.
///
/// Lifetime: the slab must not be released before all work on these tensors, the backward pass included, is done.
BatchView view_of(const Batch& batch, int device_index = 0);

}  // namespace salient
