// engine/remote/partitioned_batches.cpp - see partitioned_batches.h.
#include "engine/remote/partitioned_batches.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
#include "engine/remote/row_exchange.h"
#include "loaders/device_ring.h"

namespace salient {
namespace {

constexpr std::size_t kDeviceSlabs = 2;  // one that is computed, one that is copied meanwhile

std::unique_ptr<DeviceRing> make_ring(const LoaderOptions& options) {
  return options.to_device ? make_device_ring(kExchangeDepth, kDeviceSlabs) : nullptr;
}

/// Of batches that stay on the host until their rows are there, pinned where they go on to a GPU.
LoaderOptions on_host(LoaderOptions options, DeviceRing* ring) {
  options.to_device = false;
  options.num_held = static_cast<int>(kExchangeDepth);
  if (ring != nullptr) options.pinner = ring;
  return options;
}

}  // namespace

struct PartitionedBatches::Impl {
  Impl(const Dataset& dataset, const LoaderOptions& options, Communicator& comm)
      : part(*options.data.part),
        ring(make_ring(options)),
        loader(dataset, on_host(options, ring.get())),
        exchange(part, comm, ring.get(), std::max(1, options.num_workers)) {}

  ~Impl() {
    try {
      end_use();
    } catch (...) {  // the device has failed; the consumer has had that error
    }
    if (ring) ring->quiesce();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Batch& batch(std::size_t index) const { return *held[index % kExchangeDepth]; }

  void start(std::vector<BatchRequest> requests) {
    require(!is_running, "the last epoch has ended before the next one starts");
    num_steps = requests.size();
    num_prepared = num_asked = num_answered = num_given = 0;
    totals = {};
    if (ring) ring->start_epoch();
    loader.start(std::move(requests));
    is_running = true;
  }

  /// Has the loader give `count` batches in all, or as many as there are.
  void prepare(std::size_t count) {
    for (; num_prepared < std::min(count, num_steps); ++num_prepared) {
      // the loader takes back batch num_prepared - kExchangeDepth: its copy must be over
      if (ring && num_prepared >= kExchangeDepth) ring->wait_until_copied(num_prepared % kExchangeDepth);
      held[num_prepared % kExchangeDepth] = loader.next(nullptr);
    }
  }

  void ask(std::size_t count) {
    for (; num_asked < std::min(count, num_steps); ++num_asked) {
      prepare(num_asked + 2);
      if (num_asked == 0) exchange.open(batch(0));
      exchange.ask(num_asked, batch(num_asked), num_asked + 1 < num_steps ? &batch(num_asked + 1) : nullptr);
    }
  }

  void answer(std::size_t count) {
    for (; num_answered < std::min(count, num_steps); ++num_answered) {
      ask(num_answered + 1);
      exchange.answer(num_answered, batch(num_answered));
    }
  }

  const Batch* next(CUstream_st* stream) {
    if (!is_running) return nullptr;
    end_use();
    last_stream = stream;
    if (num_given == num_steps) {
      end_epoch();
      return nullptr;
    }
    prepare(num_given + 4);
    answer(num_given + 2);
    ask(num_given + 3);
    exchange.take(num_given, batch(num_given));
    return give(stream);
  }

  const Batch* give(CUstream_st* stream) {
    const Batch& complete = batch(num_given);
    add_to_totals(complete);
    const std::size_t index = num_given++;
    if (!ring) return &complete;
    on_device.key = complete.key;
    on_device.index = complete.index;
    on_device.layout = complete.layout;
    on_device.data = ring->copy(index, complete.data, complete.layout);
    on_device.is_on_device = true;
    ring->begin_use(index, stream);
    in_use = index;
    return &on_device;
  }

  void end_use() {
    if (ring && in_use) ring->end_use(*std::exchange(in_use, {}), last_stream);
  }

  void end_epoch() {
    exchange.drain();
    for (std::size_t index = 0; ring && index < kExchangeDepth; ++index) ring->wait_until_copied(index);
    loader.stop();
    is_running = false;
  }

  void add_to_totals(const Batch& batch) {
    const auto remote = static_cast<std::int64_t>(batch.remote.size());
    totals.own_rows += batch.num_own;
    totals.remote_rows += remote;
    totals.copied_rows += batch.num_copied;
    const std::size_t num_tables = part.num_tables();
    for (std::size_t list = 0; list + 1 < batch.remote_begin.size(); ++list)
      totals.remote_bytes += static_cast<std::int64_t>((batch.remote_begin[list + 1] - batch.remote_begin[list]) *
                                                       part.table(list % num_tables).row_bytes);
  }

  const PartRows& part;
  std::unique_ptr<DeviceRing> ring;  // null on a CPU; outlives the slabs that it pinned
  BatchLoader loader;
  RowExchange exchange;

  bool is_running = false;
  std::size_t num_steps = 0;
  std::size_t num_prepared = 0, num_asked = 0, num_answered = 0, num_given = 0;  // batches of the epoch, so far
  std::array<const Batch*, kExchangeDepth> held{};
  Batch on_device{};                  // that the consumer has
  std::optional<std::size_t> in_use;  // its number
  CUstream_st* last_stream = nullptr;
  LoaderStats totals;
};

PartitionedBatches::PartitionedBatches(const Dataset& dataset, const LoaderOptions& options, Communicator& comm)
    : impl_(std::make_unique<Impl>(dataset, options, comm)) {}
PartitionedBatches::~PartitionedBatches() = default;

void PartitionedBatches::start(std::vector<BatchRequest> requests) { impl_->start(std::move(requests)); }
const Batch* PartitionedBatches::next(CUstream_st* stream) { return impl_->next(stream); }
void PartitionedBatches::stop() {
  if (!impl_->is_running) return;
  impl_->end_use();
  impl_->end_epoch();
}

LoaderStats PartitionedBatches::stats() const {
  LoaderStats stats = impl_->loader.stats();
  stats.own_rows = impl_->totals.own_rows;
  stats.copied_rows = impl_->totals.copied_rows;
  stats.remote_rows = impl_->totals.remote_rows;
  stats.remote_bytes = impl_->totals.remote_bytes;
  stats.exchange_seconds = impl_->exchange.waited_seconds();
  if (impl_->ring) stats.transfer_seconds = impl_->ring->transfer_seconds();
  return stats;
}

std::unique_ptr<BatchSource> make_batches(const Dataset& dataset, const LoaderOptions& options, Communicator& comm) {
  if (options.data.part != nullptr) return std::make_unique<PartitionedBatches>(dataset, options, comm);
  return std::make_unique<BatchLoader>(dataset, options);
}

}  // namespace salient
