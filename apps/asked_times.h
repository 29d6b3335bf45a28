// apps/asked_times.h - nodes are asked for at other times than their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/types.h"
#include "store/dataset.h"

namespace salient {

/// The times at which samplers see seeds: those of the data set's nodes, until others are said.
class AskedTimes {
 public:
  /// `dataset` has these times of nodes from now on, also where it has none of its own. Its spans and facts are
  /// changed, no file is.
  /// @throws Error{kUsage} naming a data set whose edges have no times
  explicit AskedTimes(Dataset& dataset);

  /// Nodes are seeds at `time`, or each at its own. Not while a batch is sampled.
  /// @throws Error{kUsage} without a time, of a data set whose nodes have none
  void set(std::span<const NodeId> nodes, std::optional<std::int64_t> time);

 private:
  std::span<const std::int64_t> own_;  // [V], or empty
  std::vector<std::int64_t> times_;    // [V]
};

}  // namespace salient
