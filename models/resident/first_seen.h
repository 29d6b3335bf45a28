// models/resident/first_seen.h - which rows of a tree are the first of their node.
//
// A node that was sampled twice is there twice, with the same values. What counts distinct nodes, as a batch norm over
// a message-flow graph does, counts the first row of each. A level is the beginning of the next one, so a row that is
// the first in one level is the first in all.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/resident/step_memory.h"
#include "models/resident/tree.h"

namespace salient {

class FirstSeen {
 public:
  FirstSeen(StepMemory& memory, const Levels& levels);

  /// Finds them for the batch at hand. Enqueues and returns; the same launches for every batch.
  void find(const SampledTree& tree, cudaStream_t stream) const;

  const std::uint8_t* flags() const { return flags_; }  ///< [capacity of the last level] device, 1 = the first
  const LocalId* num_distinct(std::size_t level) const { return counts_ + level; }  ///< [1] device

 private:
  std::size_t num_levels_;
  std::int64_t capacity_;
  int log_slots_;
  unsigned long long* slots_;
  std::uint8_t* flags_;
  LocalId* counts_;
};

}  // namespace salient
