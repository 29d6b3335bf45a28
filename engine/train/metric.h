// engine/train/metric.h - the figures that may choose the best epoch of a run.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class Metric : std::uint8_t {
  kAccuracy,  ///< of nodes, or of known labels where a node has several
  kRocAuc,    ///< of two classes; of several labels the mean over those that have both, as in OGB
  kF1,        ///< micro-F1 of several labels, each predicted where its logit is above 0
};

/// As in summaries, checkpoints and run.json.
constexpr auto names_of(Metric) {
  return std::to_array<EnumName<Metric>>(
      {{Metric::kAccuracy, "accuracy"}, {Metric::kRocAuc, "rocauc"}, {Metric::kF1, "f1"}});
}

}  // namespace salient
