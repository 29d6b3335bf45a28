// python/bindings/batch_stream.cpp - see batch_stream.h.
#include "python/bindings/batch_stream.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/bounded_queue.h"
#include "core/error.h"
#include "loaders/batch_loader.h"
#include "loaders/batch_pipeline.h"
#include "loaders/worker_makers.h"
#include "sampler/seed_order.h"

namespace salient::python {
namespace {

struct Stopped {};  // ends the pipeline early

/// The data set, with the times of nodes that are to be instead of its own.
std::shared_ptr<const Dataset> with_times(std::shared_ptr<const Dataset> data, std::span<const std::int64_t> times) {
  if (times.empty()) return data;
  Dataset timed = *data;
  timed.node_times = times;
  timed.has_node_times = true;
  return std::make_shared<const Dataset>(std::move(timed));
}

/// @param type_rows  of a typed data set an empty table for each type: Python has the rows
LoaderOptions loading_by(const StreamOptions& options, const DeviceGraph* graph, std::span<const RowTable> type_rows) {
  return {.rule = options.rule,
          .time = options.time,
          .links = options.links ? std::optional(LinkBatches{options.link_ends, *options.links}) : std::nullopt,
          .entries = options.entries,
          .num_workers = options.num_workers,
          .data = {.features = options.has_features_on_device ? Residency::kDevice : Residency::kHost,
                   .type_rows = type_rows,
                   .graph = graph}};
}

std::size_t global_batch(const EpochOrder& order) {
  return order.batch_size * static_cast<std::size_t>(order.num_ranks);
}

/// This rank's share of every global batch from `first` on. Borrows the order's nodes.
std::vector<BatchRequest> requests_of(const EpochOrder& order, std::uint32_t epoch, std::size_t first) {
  std::vector<BatchRequest> requests;
  for (std::size_t b = first; b < order.num_batches(); ++b) {
    const std::span<const NodeId> nodes = order.nodes;
    const SeedRange share = rank_share(nodes.size(), global_batch(order), b, order.rank, order.num_ranks);
    const std::span<const NodeId> rest = nodes.subspan(b * global_batch(order));
    requests.push_back({.key = {.seed = order.seed, .epoch = epoch, .batch = static_cast<std::uint32_t>(b)},
                        .seeds = nodes.subspan(share.begin, share.count),
                        .batch = rest.first(std::min(global_batch(order), rest.size()))});
  }
  return requests;
}

/// The first row of the hop whose destination the hop before it, towards the seeds, had not.
LocalId first_new_row_of(const Batch& batch, std::size_t hop) {
  const BatchLayout& layout = batch.layout;
  if (hop + 1 == layout.hops.size()) return 0;
  const LocalId num_known = layout.hops[hop + 1].num_dst;
  return layout.typed_hops.empty() ? num_known : batch.at<LocalId>(layout.typed_hops[hop].row_begin)[num_known];
}

std::vector<LocalId> first_new_edges_of(const Batch& batch) {
  std::vector<LocalId> first;
  for (std::size_t i = 0; i < batch.layout.hops.size(); ++i)
    first.push_back(batch.at<LocalId>(batch.layout.hops[i].indptr)[first_new_row_of(batch, i)]);
  return first;
}

std::vector<NewRows> new_rows_of(const Batch& batch, std::size_t hop) {
  const TypedHopLayout& typed = batch.layout.typed_hops[hop];
  const auto* const indptr = batch.at<LocalId>(batch.layout.hops[hop].indptr);
  const auto* const rows = batch.at<LocalId>(typed.relation_rows);
  const LocalId first_new = first_new_row_of(batch, hop);
  std::vector<NewRows> all;
  for (std::size_t r = 0; r + 1 < typed.shape.relation_begin.size(); ++r) {
    const auto* const end = rows + typed.shape.relation_begin[r + 1];
    const auto* const begin = std::lower_bound(rows + typed.shape.relation_begin[r], end, first_new);
    NewRows of{.begin = static_cast<LocalId>(begin - rows), .end = static_cast<LocalId>(end - rows)};
    std::for_each(begin, end, [&](LocalId row) { of.num_edges += indptr[row + 1] - indptr[row]; });
    all.push_back(of);
  }
  return all;
}

}  // namespace

std::size_t EpochOrder::num_batches() const {
  return drops_last ? nodes.size() / global_batch(*this) : num_global_batches(nodes.size(), global_batch(*this));
}

struct BatchStream::Impl {
  using Queue = BoundedQueue<StreamedBatch>;
  struct Slot {
    StreamedBatch made{};
    std::exception_ptr error{};  // of preparing; delivered in order like a batch
  };

  Impl(std::shared_ptr<const Dataset> data, std::shared_ptr<const DeviceGraph> graph, StreamOptions chosen,
       std::unique_ptr<PagePinner> pinner)
      : options(std::move(chosen)),
        dataset(with_times(std::move(data), options.node_times)),
        device_graph(std::move(graph)),
        pool(SlabPool::make(std::move(pinner))),
        type_rows(dataset->types.node_types.size()),
        makers(*dataset, loading_by(options, device_graph.get(), type_rows)),
        slots(static_cast<std::size_t>(default_slots(options.num_workers))) {}

  /// Never throws: the error is delivered instead of the batch.
  void prepare(std::size_t index) {
    Slot& slot = slots[index % slots.size()];
    BatchMaker& maker = makers.of(makers.this_worker());
    try {
      slot.error = nullptr;
      StreamedBatch& made = slot.made;
      made.batch.index = index;
      if (options.links) made.links.assign(requests[index].seeds.begin(), requests[index].seeds.end());
      maker.sample(requests[index], made.batch);
      made.slab = pool->take();
      made.batch.data = made.slab->reserve(made.batch.layout.prepared_bytes);
      maker.write(made.batch, made.batch.data);
      made.first_new_edges = first_new_edges_of(made.batch);
      made.new_rows.clear();
      for (std::size_t h = 0; h < made.batch.layout.typed_hops.size(); ++h)
        made.new_rows.push_back(new_rows_of(made.batch, h));
    } catch (...) {
      maker.drop();
      slot.error = std::current_exception();
    }
  }

  StreamedBatch take(std::size_t index) {
    Slot& slot = slots[index % slots.size()];
    if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
    return std::exchange(slot.made, {});
  }

  void run_epoch(Queue& ready) {
    try {
      run_batches(
          requests.size(), options.num_workers, slots.size(),
          [this](std::size_t b) {
            if (!is_stopped) prepare(b);
          },
          [&](std::size_t b) {
            if (is_stopped || !ready.push(take(b))) throw Stopped();
          });
      ready.close();
    } catch (const Stopped&) {
      ready.close();
    } catch (...) {
      ready.close(std::current_exception());
    }
  }

  std::uint64_t start(EpochOrder next_order, std::uint32_t epoch, std::size_t first) {
    const std::lock_guard one_by_one(starting);
    halt();
    const std::lock_guard no_batch_at_hand(preparing);
    order = std::move(next_order);
    if (order.is_shuffled) shuffle_seeds(order.nodes, order.seed, epoch);
    requests = requests_of(order, epoch, first);
    num_taken = 0;
    is_stopped = false;
    for (Slot& slot : slots) slot = {};
    const auto empty = std::make_shared<Queue>(static_cast<std::size_t>(options.num_ahead));
    if (options.num_workers > 0) producer = std::jthread([this, empty] { run_epoch(*empty); });
    const std::lock_guard lock(mutex);
    queue = empty;
    return current = ++num_runs;
  }

  std::optional<StreamedBatch> next(std::uint64_t run) {
    if (options.num_workers > 0) {
      const std::shared_ptr<Queue> ready = queue_of(run);  // stop() on another thread closes it
      return ready ? ready->pop() : std::nullopt;
    }
    const std::lock_guard one_by_one(preparing);
    if (!queue_of(run) || num_taken == requests.size()) return std::nullopt;
    prepare(num_taken);
    try {
      return take(num_taken++);
    } catch (...) {
      num_taken = requests.size();
      throw;
    }
  }

  void stop(std::uint64_t run) {
    if (!queue_of(run)) return;  // waits for no other thread's start(): Python may be collecting garbage inside of it
    const std::lock_guard one_by_one(starting);
    if (queue_of(run)) halt();
  }

  void stop() {
    const std::lock_guard one_by_one(starting);
    halt();
  }

  /// Ends the run at present, if there is one. `starting` is held.
  void halt() {
    is_stopped = true;
    std::shared_ptr<Queue> open;
    {
      const std::lock_guard lock(mutex);
      open = std::exchange(queue, nullptr);
      current = 0;
    }
    if (open) open->close();
    if (!producer.joinable()) return;
    producer.join();
    for (Slot& slot : slots) slot = {};
  }

  /// Null unless it is the run at present.
  std::shared_ptr<Queue> queue_of(std::uint64_t run) {
    const std::lock_guard lock(mutex);
    return run == current ? queue : nullptr;
  }

  const StreamOptions options;
  const std::shared_ptr<const Dataset> dataset;
  const std::shared_ptr<const DeviceGraph> device_graph;  // null if the host samples
  const std::shared_ptr<SlabPool> pool;
  const std::vector<RowTable> type_rows;  // see loading_by()
  WorkerMakers makers;
  std::vector<Slot> slots;  // one per batch inside the pipeline

  // Of the epoch.
  EpochOrder order;
  std::vector<BatchRequest> requests;
  std::mutex starting;        // held by start() and stop(), and before the two below
  std::mutex preparing;       // without workers, where the callers of next() share a maker
  std::size_t num_taken = 0;  // likewise
  std::mutex mutex;           // of the next two lines
  std::shared_ptr<Queue> queue;
  std::uint64_t current = 0;  // the run at present; 0 = none
  std::uint64_t num_runs = 0;
  std::atomic<bool> is_stopped{false};
  std::jthread producer;
};

BatchStream::BatchStream(std::shared_ptr<const Dataset> dataset, std::shared_ptr<const DeviceGraph> graph,
                         StreamOptions options, std::unique_ptr<PagePinner> pinner)
    : impl_(std::make_unique<Impl>(std::move(dataset), std::move(graph), std::move(options), std::move(pinner))),
      process_(getpid()) {}

BatchStream::~BatchStream() {
  if (is_inherited())
    (void)impl_.release();
  else
    impl_->stop();
}

bool BatchStream::is_inherited() const { return getpid() != process_; }

std::uint64_t BatchStream::start(EpochOrder order, std::uint32_t epoch, std::size_t first) {
  require(!is_inherited(), "a stream's threads do not survive a fork");
  return impl_->start(std::move(order), epoch, first);
}

std::optional<StreamedBatch> BatchStream::next(std::uint64_t run) {
  return is_inherited() ? std::nullopt : impl_->next(run);
}

void BatchStream::stop(std::uint64_t run) {
  if (!is_inherited()) impl_->stop(run);
}

void BatchStream::stop() {
  if (!is_inherited()) impl_->stop();
}

}  // namespace salient::python
