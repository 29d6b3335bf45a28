// engine/paths/path_options.h - what a path-based model is made of, as plain data.
#pragma once

#include <cstdint>
#include <string>

#include "core/enum_names.h"

namespace salient {

/// How a node's messages become one row; the query's own row counts as a message at the node that is asked for.
enum class PathSum : std::uint8_t { kSum, kMean };

constexpr auto names_of(PathSum) {
  return std::to_array<EnumName<PathSum>>({{PathSum::kSum, "sum"}, {PathSum::kMean, "mean"}});
}

struct PathOptions {
  int layers = 6;  ///< the longest path that a score depends on
  PathSum sum = PathSum::kSum;
  /// Of negatives in a loss of bce: each weighs as softmax(score / temperature) among its query's; 0 = alike.
  double adversarial_temperature = 0.5;

  bool operator==(const PathOptions&) const = default;
};

}  // namespace salient
