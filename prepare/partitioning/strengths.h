// prepare/partitioning/strengths.h - how strongly one node is joined to groups or parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.h"

namespace salient {

/// A sum per group, of which few are not 0; cleared in the time that filling it took.
class Strengths {
 public:
  explicit Strengths(std::size_t num_groups) : sum_(num_groups) {}

  void add(NodeId group, std::uint32_t strength) {
    if (sum_[group] == 0) found_.push_back(group);
    sum_[group] += strength;
  }
  std::uint64_t of(NodeId group) const { return sum_[group]; }
  const std::vector<NodeId>& found() const { return found_; }  ///< groups whose sum is not 0, in order of addition
  void clear() {
    for (const NodeId group : found_) sum_[group] = 0;
    found_.clear();
  }

 private:
  std::vector<std::uint64_t> sum_;
  std::vector<NodeId> found_{};
};

}  // namespace salient
