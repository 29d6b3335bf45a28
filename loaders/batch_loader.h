// loaders/batch_loader.h - the batch pipeline as a trainer sees it: ask for an epoch, take batches in order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "loaders/batch_source.h"
#include "loaders/device_graph.h"
#include "loaders/feature_cache.h"
#include "loaders/host_slab.h"
#include "store/dataset.h"

namespace salient {

struct LoaderOptions {
  std::vector<int> fanouts{};
  bool with_replacement = false;
  int num_workers = 1;     ///< threads that prepare batches; 0 = the caller's thread, for debugging
  int num_slots = 4;       ///< batches in flight, bounded memory; at least 2; 0 = default_slots(). With fewer than
                           ///< num_workers + 2 some workers have nothing to do
  bool to_device = false;  ///< pinned slabs, one asynchronous copy per batch to the current device
  PagePinner* pinner = nullptr;  ///< of the slabs, if they stay on the host; outlives the loader
  RowTable device_features{};  ///< the data set's rows in GPU memory, which outlive the loader; none = gathered on the
                               ///< host. Batches look the same, but only ids and the MFG are copied
  const FeatureCache* feature_cache = nullptr;  ///< rows in GPU memory that are not gathered on the host; outlives the
                                                ///< loader. Batches look the same
  const DeviceGraph* device_graph = nullptr;  ///< the data set's graph in GPU memory, which outlives the loader: it is
                                              ///< sampled there; null = on the host. Batches are the same
  std::span<const NodeId> row_of{};  ///< [V] the feature row of each node, and what a batch has in the place of its
                                     ///< ids; empty = the node's id. Outlives the loader
};

/// Enough for every worker, for the consumer, and a quarter more: batches differ in size and arrive in order, so a worker
/// whose batch is ready early goes on with another.
int default_slots(int num_workers);

/// How many batches stand in device memory at a time.
int num_device_slabs(int num_slots);

/// Samplers of a loader whose graph is in GPU memory, at most: one works while another's result is copied to the host
/// and the third's thread has yet to wake up. Each holds scratch memory for a batch.
inline constexpr int kDeviceSamplers = 3;

/// Prepares the batches of an epoch on its own threads, always in order, in `num_slots` slabs that are kept from epoch
/// to epoch. One consumer thread.
class BatchLoader final : public BatchSource {
 public:
  /// @param dataset  outlives the loader.
  BatchLoader(const Dataset& dataset, LoaderOptions options);
  ~BatchLoader() override;  ///< stops the workers, drops what they prepared
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  void start(std::vector<BatchRequest> requests) override;
  const Batch* next(CUstream_st* stream = nullptr) override;
  void stop() override;
  LoaderStats stats() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
