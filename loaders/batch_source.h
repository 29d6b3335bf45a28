// loaders/batch_source.h - where batches come from, as a trainer sees it: ask for an epoch, take its batches in order.
#pragma once

#include <cstdint>
#include <vector>

#include "loaders/batch.h"

struct CUstream_st;

namespace salient {

/// Totals of one epoch, over its workers.
struct LoaderStats {
  double sample_seconds = 0, gather_seconds = 0;  ///< core-seconds; where the GPU samples, waiting for it
  double transfer_seconds = 0;                    ///< on the copy stream, by events
  double blocked_seconds = 0;                     ///< next() waited for a batch
  double exchange_seconds = 0;                    ///< kPartitioned: next() waited for other ranks' messages
  std::int64_t own_rows = 0, copied_rows = 0,
               remote_rows = 0;   ///< kPartitioned: rows of x of this rank's part, of other
                                  ///< parts but held here, and that other ranks sent
  std::int64_t remote_bytes = 0;  ///< of the rows that other ranks sent
  std::int64_t batches = 0, seeds = 0, nodes = 0, edges = 0, bytes = 0;
  std::vector<std::int64_t> hop_nodes{}, hop_edges{};  ///< [hops], the seeds' own first: known after it, sampled in it;
                                                       ///< empty if not counted
};

/// One consumer thread. BatchLoader is the product's; salient-bench has others to compare it with.
class BatchSource {
 public:
  BatchSource() = default;
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  /// Starts an epoch. The previous one must have ended: next() returned null, or stop() was called.
  virtual void start(std::vector<BatchRequest> requests) = 0;

  /// The next batch in order, or null after the last. Blocks while none is ready; never polls. Gives the previous
  /// batch back. On a GPU the batch is ready *in stream order on `stream`*: the call makes `stream` wait for its copy,
  /// and marks on `stream` when the previous batch's slab may be overwritten; the host does not wait.
  ///
  /// @param stream  the consumer's compute stream; null on a CPU.
  /// @throws what a worker threw, instead of the batch that failed; the epoch is over then.
  virtual const Batch* next(CUstream_st* stream) = 0;

  /// Ends the epoch early (Ctrl-C, an error): workers finish the batch at hand, the rest is dropped. On a GPU the slab
  /// of the batch in use is marked as in next(), on the stream of the last call.
  virtual void stop() = 0;

  /// Of the epoch that has ended, counting the batches that next() returned. On a GPU it waits for the epoch's last
  /// copy.
  virtual LoaderStats stats() const = 0;
};

}  // namespace salient
