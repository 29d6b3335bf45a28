// python/bindings/batch_stream.cpp - see batch_stream.h.
#include "python/bindings/batch_stream.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "core/bounded_queue.h"
#include "core/error.h"
#include "loaders/batch_loader.h"
#include "loaders/batch_producer.h"
#include "sampler/seed_order.h"

namespace salient::python {
namespace {

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
  std::optional<LinkBatches> links;
  if (options.links)
    links = LinkBatches{.ends = options.link_ends,
                        .rule = *options.links,
                        .times = options.link_times,
                        .relations = options.link_relations};
  return {
      .rule = options.rule,
      .time = options.time,
      .disjoint = options.disjoint,
      .links = links,
      .entries = options.entries,
      .num_workers = options.num_workers,
      .data = {.features = options.features, .type_rows = type_rows, .cached = options.cached.get(), .graph = graph}};
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

struct BatchStream::Impl final : BatchSink {
  using Queue = BoundedQueue<StreamedBatch>;

  Impl(std::shared_ptr<const Dataset> data, std::shared_ptr<const DeviceGraph> graph, StreamOptions chosen,
       std::unique_ptr<PagePinner> pinner)
      : options(std::move(chosen)),
        dataset(with_times(std::move(data), options.node_times)),
        device_graph(std::move(graph)),
        pool(SlabPool::make(std::move(pinner))),
        type_rows(dataset->types.node_types.size()),
        made(static_cast<std::size_t>(default_slots(options.num_workers))),
        producer(*dataset, loading_by(options, device_graph.get(), type_rows), made.size(), made.size(), *this) {}

  StreamedBatch& slot(std::size_t index) { return made[index % made.size()]; }

  std::byte* memory_for(std::size_t index, std::size_t bytes) override {
    slot(index).slab = pool->take();
    return slot(index).slab->reserve(bytes);
  }

  void written(const Batch& batch) override {
    StreamedBatch& to = slot(batch.index);
    to.first_new_edges = first_new_edges_of(batch);
    for (std::size_t h = 0; h < batch.layout.typed_hops.size(); ++h) to.new_rows.push_back(new_rows_of(batch, h));
    if (!options.links) return;
    const BatchRequest& request = producer.request(batch.index);
    to.links.assign(request.seeds.begin(), request.seeds.end());
  }

  /// What was made, with its memory: the slot begins anew.
  StreamedBatch take(Batch& batch) {
    StreamedBatch taken = std::exchange(slot(batch.index), {});
    taken.batch = std::exchange(batch, {});
    return taken;
  }

  bool deliver(Batch& batch) override { return producing->push(take(batch)); }
  void end(std::exception_ptr error) noexcept override { producing->close(std::move(error)); }
  void wake() noexcept override {
    if (producing) producing->close();
  }

  std::uint64_t start(EpochOrder next_order, std::uint32_t epoch, std::size_t first) {
    const std::lock_guard one_by_one(starting);
    halt();
    const std::lock_guard no_batch_at_hand(preparing);
    order = std::move(next_order);
    if (order.is_shuffled) shuffle_seeds(order.nodes, order.seed, epoch);
    num_taken = 0;
    for (StreamedBatch& slot : made) slot = {};  // of a batch that failed
    producing = std::make_shared<Queue>(static_cast<std::size_t>(options.num_ahead));
    producer.start(requests_of(order, epoch, first));
    const std::lock_guard lock(mutex);
    queue = producing;
    return current = ++num_runs;
  }

  std::optional<StreamedBatch> next(std::uint64_t run) {
    if (options.num_workers > 0) {
      const std::shared_ptr<Queue> ready = queue_of(run);  // stop() on another thread closes it
      return ready ? ready->pop() : std::nullopt;
    }
    const std::lock_guard one_by_one(preparing);
    if (!queue_of(run) || num_taken == producer.num_batches()) return std::nullopt;
    try {
      return take(producer.make(num_taken++));
    } catch (...) {
      num_taken = producer.num_batches();
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
    {
      const std::lock_guard lock(mutex);
      queue = nullptr;
      current = 0;
    }
    producer.stop();
    if (options.num_workers == 0) return;  // a batch may be at hand
    for (StreamedBatch& slot : made) slot = {};
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
  std::vector<StreamedBatch> made;        // one per batch inside the pipeline, without its Batch

  // Of the epoch.
  EpochOrder order;
  std::mutex starting;               // held by start() and stop(), and before the two below
  std::mutex preparing;              // without workers, where the callers of next() share a maker
  std::size_t num_taken = 0;         // likewise
  std::shared_ptr<Queue> producing;  // the producer's; `starting` is held where it changes
  std::mutex mutex;                  // of the next two lines
  std::shared_ptr<Queue> queue;
  std::uint64_t current = 0;  // the run at present; 0 = none
  std::uint64_t num_runs = 0;

  BatchProducer producer;  // last: its thread uses all of the above
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
