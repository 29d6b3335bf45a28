// loaders/batch_producer.h - prepares the batches of an epoch on worker threads and hands them on in order. What they
// are written to, and who takes them, is the sink's: BatchLoader lends its batches, Python's stream gives them away.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "loaders/batch.h"
#include "loaders/batch_loader.h"
#include "loaders/worker_makers.h"

namespace salient {

/// Batch `index` is in slot index mod num_slots of its producer, from memory_for() until it was delivered and its slot
/// comes round again.
class BatchSink {
 public:
  BatchSink() = default;
  virtual ~BatchSink() = default;
  BatchSink(const BatchSink&) = delete;
  BatchSink& operator=(const BatchSink&) = delete;

  /// [bytes] aligned to kBatchAlignment, of the batch that was sampled; nobody reads it any more. May block. On a
  /// worker's thread.
  virtual std::byte* memory_for(std::size_t index, std::size_t bytes) = 0;

  /// The batch is written, its data is what memory_for() gave. On a worker's thread.
  virtual void written(const Batch&) {}

  /// Takes the batch: one call at a time, in order of index. May block until the consumer makes progress or wake().
  /// @return false: the epoch was given up
  [[nodiscard]] virtual bool deliver(Batch& batch) = 0;

  /// Nothing follows in this epoch. @param error  of the batch that failed; null: none did, or it was given up
  virtual void end(std::exception_ptr error) noexcept = 0;

  /// The epoch is given up: ends what deliver() waits for.
  virtual void wake() noexcept = 0;
};

class BatchProducer {
 public:
  /// @param dataset, sink   outlive the producer, as does what options.data and options.row_of point to
  /// @param num_slots       batches that have memory at a time
  /// @param max_in_flight   of them inside the pipeline: prepare(b) begins when deliver(b - max_in_flight) has returned
  BatchProducer(const Dataset& dataset, const LoaderOptions& options, std::size_t num_slots, std::size_t max_in_flight,
                BatchSink& sink);
  ~BatchProducer() { stop(); }
  BatchProducer(const BatchProducer&) = delete;
  BatchProducer& operator=(const BatchProducer&) = delete;

  /// Begins an epoch; the one before has ended or was stopped. Without workers nothing happens until make().
  void start(std::vector<BatchRequest> requests);

  /// Gives the epoch up: workers finish the batch at hand, the rest is dropped. Returns when they have.
  void stop() noexcept;

  std::size_t num_batches() const { return requests_.size(); }
  const BatchRequest& request(std::size_t index) const { return requests_[index]; }
  Batch& batch(std::size_t index) { return slot(index).batch; }

  /// Without workers: prepares a batch on the caller's thread; nothing is delivered. @throws what preparing it threw
  Batch& make(std::size_t index);

 private:
  struct Slot {
    Batch batch{};
    std::exception_ptr error{};  // of preparing; delivered in order like a batch, so that the same batch always fails
  };

  Slot& slot(std::size_t index) { return slots_[index % slots_.size()]; }
  void prepare(std::size_t index) noexcept;
  Batch& checked(std::size_t index);
  void run_epoch();

  const int num_workers_;
  const std::size_t max_in_flight_;
  BatchSink& sink_;
  WorkerMakers makers_;
  std::vector<Slot> slots_;
  std::vector<BatchRequest> requests_;
  std::atomic<bool> is_stopped_{false};
  std::jthread thread_;
};

}  // namespace salient
