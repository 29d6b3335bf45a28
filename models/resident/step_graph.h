// models/resident/step_graph.h - launches of one or several steps, captured once and replayed. The GPU chooses between
// variants of a step by a size in its memory; the host is not asked.
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

  /// For sizes of at most `capacity`.
  struct Variant {
    std::int64_t capacity;
    Enqueue enqueue;
  };
  struct Step {
    const LocalId* size;            ///< [1] device; may be null for one variant
    std::vector<Variant> variants;  ///< ascending capacities; the last one takes every size. At most kMaxVariants
    /// What may run at the same time as a variant and as each other, and gives way to the variant.
    std::vector<Enqueue> beside{};
  };

  /// Calls every function once, to record what it enqueues; nothing runs. What they enqueue must not allocate, and
  /// must be the same at each replay. A step begins when all of the one before has ended.
  explicit StepGraph(const std::vector<Step>& steps);
  explicit StepGraph(const Step& step) : StepGraph(std::vector{step}) {}

  /// Enqueues a replay and returns.
  void launch(cudaStream_t stream) const { cuda_check(cudaGraphLaunch(executable_.get(), stream)); }

  static constexpr std::size_t kMaxVariants = 16;  ///< RowChoices::kMost

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t raw) const noexcept { (void)cudaGraphExecDestroy(raw); }
  };
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
};

}  // namespace salient
