// models/resident/step_graph.h - launches captured once and replayed: a beginning, then one of several sequels, which
// the GPU chooses by a size in its memory. The host is not asked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/cuda/cuda.h"
#include "core/types.h"

namespace salient {

class StepGraph {
 public:
  using Enqueue = std::function<void(cudaStream_t)>;

  /// A sequel, for sizes of at most `capacity`.
  struct Variant {
    std::int64_t capacity;
    Enqueue enqueue;
  };

  /// Calls every function once, to record what it enqueues; nothing runs. What they enqueue must not allocate, and
  /// must be the same at each replay.
  ///
  /// @param begin     may compute *size
  /// @param size      [1] device; may be null for one variant
  /// @param variants  in ascending order of capacity; the last one takes every size. At most kMaxVariants
  /// @param beside    what may run at the same time as they do, and gives way to them; empty: nothing
  StepGraph(const Enqueue& begin, const LocalId* size, const std::vector<Variant>& variants,
            const Enqueue& beside = {});

  /// Enqueues a replay and returns.
  void launch(cudaStream_t stream) const { cuda_check(cudaGraphLaunch(executable_.get(), stream)); }

  static constexpr std::size_t kMaxVariants = 16;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t raw) const noexcept { (void)cudaGraphExecDestroy(raw); }
  };
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
};

}  // namespace salient
