// loaders/batch_loader.cpp - see batch_loader.h.
//
// S slots, D = 1 or 2 delivered batches that the consumer may hold, T = S - D batches inside the pipeline.
//
//   hand out b      never blocks                               (batch_pipeline.h says why)
//   prepare b       sample; wait until the copy out of slot b mod S is over; gather into it
//   deliver b       enqueue the copy, show b to the consumer, block until b - D was given back
//   next()          give b - 1 back, wait for b
//
// b is handed out after deliver(b - T) has returned, hence after b - T - D = b - S was given back: slot b mod S is
// free. There is no circular wait: deliver(b) waits for the consumer only, the consumer waits for b only while all
// before b are given back, and then no deliver() blocks.
#include "loaders/batch_loader.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "core/bounded_queue.h"
#include "core/error.h"
#include "core/timer.h"
#include "loaders/batch_producer.h"
#include "loaders/device_ring.h"
#include "loaders/release_gate.h"

namespace salient {
namespace {

LoaderOptions checked(LoaderOptions options) {
  require(options.num_workers >= 0, "a number of workers");
  if (options.num_slots == 0) options.num_slots = default_slots(options.num_workers);
  require(options.num_slots >= 2, "at least two slots");
  require(options.num_held >= 1 && (options.num_held == 1 || !options.to_device), "one batch is held on a device");
  options.num_slots += options.num_held - 1;
  require(options.to_device || is_x_from_host(options.data.features), "rows in GPU memory are for batches there");
  return options;
}

LoaderStats no_batches(std::size_t num_hops) {
  return {.hop_nodes = std::vector<std::int64_t>(num_hops), .hop_edges = std::vector<std::int64_t>(num_hops)};
}

void add(const Batch& batch, LoaderStats& totals) {
  totals.sample_seconds += batch.sample_seconds;
  totals.gather_seconds += batch.gather_seconds;
  totals.batches += 1;
  totals.seeds += batch.layout.num_seeds;
  totals.nodes += batch.layout.num_nodes;
  totals.edges += batch.num_edges();
  totals.bytes += static_cast<std::int64_t>(batch.layout.prepared_bytes);
  const std::vector<HopLayout>& hops = batch.layout.hops;  // outermost first
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    totals.hop_nodes[hop] += hops[hops.size() - 1 - hop].num_src;
    totals.hop_edges[hop] += hops[hops.size() - 1 - hop].num_edges;
  }
}

}  // namespace

struct BatchLoader::Impl final : BatchSink {
  Impl(const Dataset& dataset, LoaderOptions chosen)
      : options(checked(std::move(chosen))),
        num_slots(static_cast<std::size_t>(options.num_slots)),
        max_delivered(static_cast<std::size_t>(std::max(num_device_slabs(options.num_slots) - 1, options.num_held))),
        ring(options.to_device ? make_device_ring(num_slots, max_delivered + 1, options.data) : nullptr),
        producer(dataset, options, num_slots, num_slots - max_delivered, *this) {
    for (std::size_t s = 0; s < num_slots; ++s) slabs.emplace_back(ring ? ring.get() : options.pinner);
  }

  ~Impl() override {
    end_epoch();
    try {
      give_back(last_stream, 0);  // marks the slab in use, so that its memory outlives the consumer's kernels
    } catch (...) {
    }  // the device has failed; the consumer has had that error
    if (ring) ring->quiesce();
  }

  std::byte* memory_for(std::size_t index, std::size_t bytes) override {
    if (ring) ring->wait_until_copied(index % num_slots);
    return slabs[index % num_slots].reserve(bytes);
  }

  /// Enqueues the copy.
  void show(Batch& batch) {
    batch.is_on_device = ring != nullptr;
    if (ring) batch.data = ring->copy(batch.index, batch.data, batch.layout);
  }

  bool deliver(Batch& batch) override {
    show(batch);
    const std::size_t index = batch.index;
    return ready->push(index) && (index < max_delivered || gate.wait_for(index - max_delivered + 1));
  }

  void end(std::exception_ptr error) noexcept override { ready->close(std::move(error)); }

  void wake() noexcept override {
    gate.close();
    if (ready) ready->close();
  }

  void start(std::vector<BatchRequest> requests) {
    require(!is_running, "the last epoch has ended before the next one starts");
    num_taken = num_given_back = 0;
    totals = no_batches(options.rule.fanouts.size());
    gate.reset();
    ready.emplace(num_slots);
    if (ring) ring->start_epoch();
    is_running = true;
    producer.start(std::move(requests));
  }

  /// The next batch, prepared; null after the last.
  const Batch* wait_for_batch() {
    if (options.num_workers > 0) {
      const std::optional<std::size_t> index = ready->pop();
      return index ? &producer.batch(*index) : nullptr;
    }
    if (num_taken == producer.num_batches()) return nullptr;
    Batch& batch = producer.make(num_taken);
    show(batch);
    return &batch;
  }

  const Batch* next(CUstream_st* stream) {
    if (!is_running) return nullptr;
    give_back(stream, static_cast<std::size_t>(options.num_held) - 1);
    last_stream = stream;
    const Batch* batch = nullptr;
    try {
      const Timer blocked;
      batch = wait_for_batch();
      totals.blocked_seconds += blocked.seconds();
    } catch (...) {
      end_epoch();
      throw;
    }
    if (batch == nullptr) {
      end_epoch();
      return nullptr;
    }
    if (ring) ring->begin_use(batch->index, stream);
    ++num_taken;
    add(*batch, totals);
    return batch;
  }

  /// The batches that the consumer has, but for the last `num_kept`.
  void give_back(CUstream_st* stream, std::size_t num_kept) {
    for (; num_taken - num_given_back > num_kept; ++num_given_back) {
      if (ring) ring->end_use(num_given_back, stream);
      gate.release();
    }
  }

  void stop() {
    if (!is_running) return;
    end_epoch();
    give_back(last_stream, 0);
  }

  void end_epoch() {
    producer.stop();
    is_running = false;
  }

  const LoaderOptions options;
  const std::size_t num_slots, max_delivered;  // S, D
  const std::unique_ptr<DeviceRing> ring;      // null on a CPU; outlives the slabs that it pinned
  std::vector<HostSlab> slabs;                 // [S]
  ReleaseGate gate;
  std::optional<BoundedQueue<std::size_t>> ready;  // of this epoch: a queue closes once

  // The consumer's own.
  bool is_running = false;
  std::size_t num_taken = 0, num_given_back = 0;  // of the epoch's batches; the consumer has those between
  CUstream_st* last_stream = nullptr;
  LoaderStats totals;

  BatchProducer producer;  // last: its thread uses all of the above
};

int default_slots(int num_workers) { return std::max(4, num_workers + num_workers / 4 + 2); }

int num_device_slabs(int num_slots) {
  const int max_delivered = num_slots < 4 ? 1 : 2;  // one that is computed, one that is copied meanwhile
  return max_delivered + 1;                         // and the one that is copied next
}

BatchLoader::BatchLoader(const Dataset& dataset, LoaderOptions options)
    : impl_(std::make_unique<Impl>(dataset, std::move(options))) {}
BatchLoader::~BatchLoader() = default;

void BatchLoader::start(std::vector<BatchRequest> requests) { impl_->start(std::move(requests)); }
const Batch* BatchLoader::next(CUstream_st* stream) { return impl_->next(stream); }
void BatchLoader::stop() { impl_->stop(); }

LoaderStats BatchLoader::stats() const {
  require(!impl_->is_running, "an epoch's totals are read when it has ended");
  LoaderStats totals = impl_->totals;
  if (impl_->ring) totals.transfer_seconds = impl_->ring->transfer_seconds();
  return totals;
}

}  // namespace salient
