// sampler/time_checks.h - which rules of time the samplers take, on host and device.
#pragma once

#include <string>

#include "core/error.h"
#include "sampler/sampling_rule.h"
#include "sampler/time_rule.h"

namespace salient {

/// @param has_times  the entries of the graph have
/// @throws Error{kUsage} for a graph without times, a window below 1, and for kLast by any draw but Draw::kUniform
inline void require_times(const TimeRule& times, const SamplingRule& rule, bool has_times) {
  if (!has_times)
    fail(ErrorKind::kUsage, "neighbours are to be drawn by time, and the edges of this graph have no times");
  if (times.window && *times.window < 1)
    fail(ErrorKind::kUsage, "a window of time of " + std::to_string(*times.window) + ": at least 1");
  if (times.strategy == TimeStrategy::kLast && rule.draw != Draw::kUniform)
    fail(ErrorKind::kUsage, "the last neighbours are not drawn: not by " + name_of(rule.draw) + " either");
}

}  // namespace salient
