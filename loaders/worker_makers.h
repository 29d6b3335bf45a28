// loaders/worker_makers.h - a batch maker for each worker of a pipeline, and the GPU's samplers that they share.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "sampler/sampler_pool.h"

namespace salient {

class WorkerMakers {
 public:
  /// @param dataset  outlives it, as does what options.data and options.row_of point to
  WorkerMakers(const Dataset& dataset, const LoaderOptions& options);

  std::size_t size() const { return makers_.size(); }  ///< at least 1: without workers the caller's thread has one

  /// The number of the calling thread: a worker of run_batches(), or without workers 0.
  int this_worker() const;

  BatchMaker& of(int worker) { return makers_[static_cast<std::size_t>(worker)]; }

 private:
  const int num_workers_;
  const std::vector<float> row_weights_;                ///< [V] of EntryParts::row_weights; outlives the makers
  const std::unique_ptr<SamplerPool> device_samplers_;  ///< null if the host samples; outlives the makers
  std::vector<BatchMaker> makers_;
};

}  // namespace salient
