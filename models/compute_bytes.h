// models/compute_bytes.h - the memory that a model takes for a batch, without making it.
#pragma once

#include <cstdint>

#include "models/describe/model_options.h"
#include "sampler/mfg.h"

namespace salient {

enum class Gradients : std::uint8_t { kNone, kAll };  ///< prediction, training

/// What the first layer reads.
enum class InputKind : std::uint8_t { kDense, kSparse };

/// Layers' results, what their operators keep and hold at a time, logits and loss; with kAll their gradients too. An
/// estimate: what is alive at the peak is counted, by the rows and widths of each layer.
/// Of sparse rows the values are not counted. tests/apps/memory_plan_test.py compares it with the memory of runs.
std::int64_t compute_bytes(const ModelOptions& options, const MfgShape& mfg, Gradients gradients,
                           InputKind input = InputKind::kDense);

}  // namespace salient
