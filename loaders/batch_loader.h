// loaders/batch_loader.h - the batch pipeline as a trainer sees it: ask for an epoch, take batches in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "loaders/batch.h"
#include "loaders/dataset.h"

struct CUstream_st;

namespace salient {

struct LoaderOptions {
  std::vector<int> fanouts{};
  bool with_replacement = false;
  int num_workers = 1;         ///< threads that prepare batches; 0 = the caller's thread, for debugging
  int num_slots = 4;           ///< batches in flight, bounded memory; at least 2; 0 = num_workers + 2. With fewer than
                               ///< num_workers + 1 some workers have nothing to do
  bool to_device = false;      ///< pinned slabs, one asynchronous copy per batch to the current device
  RowTable device_features{};  ///< the data set's rows in GPU memory, which outlive the loader; none = gathered on the
                               ///< host. Batches look the same, but only ids and the MFG are copied
};

/// How many batches stand in device memory at a time: of `num_slots` slabs (not 0), those that no worker is filling.
int num_device_slabs(int num_workers, int num_slots);

/// Totals of one epoch, over its workers.
struct LoaderStats {
  double sample_seconds = 0, gather_seconds = 0;  ///< core-seconds
  double transfer_seconds = 0;                    ///< on the copy stream, by events
  double blocked_seconds = 0;                     ///< next() waited for a batch
  std::int64_t batches = 0, seeds = 0, nodes = 0, edges = 0, bytes = 0;
};

/// Prepares the batches of an epoch on its own threads, always in order, in `num_slots` slabs that are kept from epoch
/// to epoch. One consumer thread.
class BatchLoader {
 public:
  /// @param dataset  outlives the loader.
  BatchLoader(const Dataset& dataset, LoaderOptions options);
  ~BatchLoader();  ///< stops the workers, drops what they prepared
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Starts an epoch. The previous one must have ended: next() returned null, or stop() was called.
  void start(std::vector<BatchRequest> requests);

  /// The next batch in order, or null after the last. Blocks while none is ready; never polls. Gives the previous
  /// batch back. On a GPU the batch is ready *in stream order on `stream`*: the call makes `stream` wait for its copy,
  /// and marks on `stream` when the previous batch's slab may be overwritten; the host does not wait.
  ///
  /// @param stream  the consumer's compute stream; null on a CPU.
  /// @throws whatever a worker threw, in the place of the batch that failed; the epoch is over then.
  const Batch* next(CUstream_st* stream = nullptr);

  /// Ends the epoch early (Ctrl-C, an error): workers finish the batch at hand, the rest is dropped. On a GPU the slab
  /// of the batch in use is marked as in next(), on the stream of the last call.
  void stop();

  /// Of the epoch that has ended, counting the batches that next() returned. On a GPU it waits for the epoch's last
  /// copy.
  LoaderStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
