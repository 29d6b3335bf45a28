// engine/remote/partitioned_batches.h - batches whose feature rows are partitioned over ranks, which send each other
// what they lack.
#pragma once

#include <memory>
#include <vector>

#include "engine/comm/communicator.h"
#include "loaders/batch_loader.h"

namespace salient {

/// Batches of a loader whose features are Residency::kPartitioned, complete: the same bytes as with all rows on every
/// rank. Every rank makes one, with as many requests, and calls start(), next() and stop() in the same order.
///
/// Three batches are on their way at a time. When the consumer asks for batch i,
///
///   the loader has prepared     i + 3, so it is known how many rows that one lacks
///   every rank tells each other the ids that its batch i + 2 lacks, and the number for i + 3
///   every rank answers          the ids of batch i + 1, with rows in the store's type
///   and waits for               the rows of batch i
///
/// so a message has a step's time to arrive before it is waited for.
/// Ordering: all ranks have started the same messages after every call, so that stop() can await the last of them.
/// Threads:  the communicator's.
class PartitionedBatches final : public BatchSource {
 public:
  /// @param dataset  outlives this, as do `options.data` and `comm`.
  PartitionedBatches(const Dataset& dataset, const LoaderOptions& options, Communicator& comm);
  ~PartitionedBatches() override;
  PartitionedBatches(const PartitionedBatches&) = delete;
  PartitionedBatches& operator=(const PartitionedBatches&) = delete;

  void start(std::vector<BatchRequest> requests) override;
  const Batch* next(CUstream_st* stream) override;
  void stop() override;
  LoaderStats stats() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A loader, or with partitioned features the batches of all ranks.
std::unique_ptr<BatchSource> make_batches(const Dataset& dataset, const LoaderOptions& options, Communicator& comm);

}  // namespace salient
