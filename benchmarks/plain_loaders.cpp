// benchmarks/plain_loaders.cpp - see plain_loaders.h.
#include "benchmarks/plain_loaders.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/host/machine.h"
#include "core/timer.h"
#include "loaders/batch_loader.h"
#include "loaders/device_ring.h"
#include "loaders/gather_rows.h"
#include "loaders/host_slab.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

/// Copies one batch at a time into one device slab, and lets the host wait for it. Without a device: hands it through.
class SerialCopy {
 public:
  explicit SerialCopy(bool to_device) : ring_(to_device ? make_device_ring(1, 1) : nullptr) {}
  ~SerialCopy() {
    if (ring_) ring_->quiesce();
  }
  SerialCopy(const SerialCopy&) = delete;
  SerialCopy& operator=(const SerialCopy&) = delete;

  PagePinner* pinner() const { return ring_.get(); }
  void start_epoch() {
    if (ring_) ring_->start_epoch();
  }

  /// @param batch  prepared in host memory, which may be written again after the call.
  const Batch* copy(const Batch& batch, CUstream_st* stream) {
    batch_ = batch;
    if (ring_) {
      batch_.data = ring_->copy(batch.index, batch.data, batch.layout);
      batch_.is_on_device = true;
      ring_->wait_until_copied(0);
      ring_->begin_use(batch.index, stream);
      stream_ = stream;
      is_held_ = true;
    }
    return &batch_;
  }

  /// The batch of the last copy() is given back.
  void release() {
    if (is_held_) ring_->end_use(batch_.index, stream_);
    is_held_ = false;
  }

  double seconds() const { return ring_ ? ring_->transfer_seconds() : 0; }

 private:
  std::unique_ptr<DeviceRing> ring_;
  Batch batch_{};
  CUstream_st* stream_ = nullptr;
  bool is_held_ = false;
};

void add(LoaderStats& totals, const Batch& batch) {
  totals.batches += 1;
  totals.seeds += batch.layout.num_seeds;
  totals.nodes += batch.layout.num_nodes;
  totals.edges += batch.num_edges();
  totals.bytes += static_cast<std::int64_t>(batch.layout.bytes);
}

// ---- the plain loop --------------------------------------------------------------------------------------

Mfg to_mfg(const TextbookSampler::Sample& sample) {
  Mfg mfg;
  mfg.nodes.assign(sample.nodes.begin(), sample.nodes.end());
  for (auto hop = sample.hops.rbegin(); hop != sample.hops.rend(); ++hop) {  // ours: the outermost first
    MfgHop made;
    made.indptr.assign(hop->indptr.begin(), hop->indptr.end());
    made.indices.assign(hop->indices.begin(), hop->indices.end());
    made.num_dst = static_cast<LocalId>(hop->indptr.size()) - 1;
    mfg.hops.push_back(std::move(made));
  }
  // A hop's sources are the next outer hop's destinations.
  for (std::size_t h = 0; h < mfg.hops.size(); ++h)
    mfg.hops[h].num_src = h == 0 ? static_cast<LocalId>(mfg.nodes.size()) : mfg.hops[h - 1].num_dst;
  return mfg;
}

/// One worker's sampler: a textbook's, or the product's.
class PlainSampler {
 public:
  PlainSampler(const CsrGraph& graph, const TextbookGraph* textbook, const PlainLoaderOptions& options, int worker) {
    if (textbook != nullptr)
      textbook_.emplace(*textbook, options.fanouts, options.seed * 1'000'003 + static_cast<std::uint64_t>(worker));
    else
      fast_.emplace(graph, SamplingRule{options.fanouts});
  }

  Mfg sample(const BatchRequest& request) {
    if (textbook_) return to_mfg(textbook_->sample(request.seeds));
    fast_->sample(request.seeds, request.key, scratch_);
    return scratch_;  // a copy: on its way to another process
  }

 private:
  std::optional<TextbookSampler> textbook_;
  std::optional<NeighborSampler> fast_;
  Mfg scratch_;
};

template <class T>
void put(const std::vector<T>& values, std::byte* at) {
  if (!values.empty()) std::memcpy(at, values.data(), values.size() * sizeof(T));
}

/// Rows one by one, on all cores of `arena`: what a framework's index operator does.
void slice(oneapi::tbb::task_arena& arena, RowTable table, const std::vector<NodeId>& rows, std::byte* out) {
  const oneapi::tbb::blocked_range<std::size_t> all(0, rows.size(), 2048);
  arena.execute([&] {
    oneapi::tbb::parallel_for(all, [&](const auto& range) {
      gather_rows_reference(table, rows.data() + range.begin(), range.size(), out + range.begin() * table.row_bytes);
    });
  });
}

class PlainLoader final : public BatchSource {
 public:
  PlainLoader(const Dataset& dataset, const PlainLoaderOptions& options, const TextbookGraph* textbook)
      : dataset_(dataset), degrees_(options.degrees), copy_(options.to_device), slab_(copy_.pinner()) {
    const int num_workers = std::max(1, options.num_workers);
    for (int w = 0; w < num_workers; ++w) samplers_.emplace_back(dataset.graph, textbook, options, w);
    window_ = 2 * samplers_.size();  // batches ahead of the consumer, as a PyTorch DataLoader's prefetch_factor
  }
  ~PlainLoader() override { end_epoch(); }
  PlainLoader(const PlainLoader&) = delete;
  PlainLoader& operator=(const PlainLoader&) = delete;

  void start(std::vector<BatchRequest> requests) override {
    end_epoch();
    requests_ = std::move(requests);
    next_to_sample_ = num_taken_ = 0;
    sampled_.clear();
    error_ = nullptr;
    is_stopped_ = false;
    totals_ = {};
    copy_.start_epoch();
    for (PlainSampler& sampler : samplers_) workers_.emplace_back([this, &sampler] { work(sampler); });
  }

  const Batch* next(CUstream_st* stream) override {
    copy_.release();
    const std::size_t index = num_taken_;
    if (index == requests_.size()) {
      end_epoch();
      return nullptr;
    }
    const Timer blocked;
    const Mfg mfg = take();
    totals_.blocked_seconds += blocked.seconds();
    const BatchRequest& request = requests_[index];
    Batch batch{.key = request.key, .index = index};
    batch.layout = lay_out_batch(shape_of(mfg), static_cast<LocalId>(request.seeds.size()), dataset_, Residency::kHost,
                                 {.degrees = degrees_});
    const Timer slicing;
    batch.data = slab_.reserve(batch.layout.bytes);
    write(mfg, batch);
    totals_.gather_seconds += slicing.seconds();
    add(totals_, batch);
    return copy_.copy(batch, stream);
  }

  void stop() override {
    end_epoch();
    copy_.release();
  }

  LoaderStats stats() const override {
    LoaderStats totals = totals_;
    totals.transfer_seconds = copy_.seconds();
    return totals;
  }

 private:
  void work(PlainSampler& sampler) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] {
        return is_stopped_ || next_to_sample_ == requests_.size() || next_to_sample_ < num_taken_ + window_;
      });
      if (is_stopped_ || next_to_sample_ == requests_.size()) return;
      const std::size_t index = next_to_sample_++;
      lock.unlock();
      try {
        const Timer timer;
        Mfg mfg = sampler.sample(requests_[index]);
        const double seconds = timer.seconds();
        lock.lock();
        totals_.sample_seconds += seconds;
        sampled_.emplace(index, std::move(mfg));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        error_ = std::current_exception();
      }
      changed_.notify_all();
    }
  }

  /// The MFG of the next batch.
  Mfg take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || sampled_.contains(num_taken_); });
    if (error_) std::rethrow_exception(error_);
    Mfg mfg = std::move(sampled_.extract(num_taken_++).mapped());
    lock.unlock();
    changed_.notify_all();
    return mfg;
  }

  void write(const Mfg& mfg, const Batch& batch) {
    const BatchLayout& layout = batch.layout;
    slice(all_cores_, dataset_.features, mfg.nodes, batch.data + layout.x);
    gather_rows_reference(dataset_.label_table().rows(), mfg.nodes.data(), static_cast<std::size_t>(layout.num_seeds),
                          batch.data + layout.y);
    put(mfg.nodes, batch.data + layout.nodes);
    if (degrees_ == Degrees::kOfEveryNode)
      read_degrees(dataset_.graph, mfg.nodes, batch.at<NodeDegree>(layout.degrees));
    for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
      put(mfg.hops[h].indptr, batch.data + layout.hops[h].indptr);
      put(mfg.hops[h].indices, batch.data + layout.hops[h].indices);
    }
  }

  void end_epoch() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    changed_.notify_all();
    workers_.clear();  // joins
  }

  const Dataset& dataset_;
  const Degrees degrees_;
  oneapi::tbb::task_arena all_cores_{num_usable_cores()};  // the trainer's own may be a single thread
  SerialCopy copy_;
  HostSlab slab_;
  std::vector<PlainSampler> samplers_;
  std::size_t window_ = 0;
  std::vector<BatchRequest> requests_;

  std::mutex mutex_;  // guards what follows, and totals_.sample_seconds; only next() changes num_taken_
  std::condition_variable changed_;
  std::map<std::size_t, Mfg> sampled_;  // by position in the epoch
  std::size_t next_to_sample_ = 0;
  std::size_t num_taken_ = 0;
  std::exception_ptr error_{};
  bool is_stopped_ = true;

  LoaderStats totals_{};
  std::vector<std::jthread> workers_;
};

// ---- shared memory, not pipelined ------------------------------------------------------------------------

class UnpipelinedLoader final : public BatchSource {
 public:
  UnpipelinedLoader(const Dataset& dataset, const PlainLoaderOptions& options)
      : copy_(options.to_device),
        loader_(dataset, {.rule = {options.fanouts},
                          .degrees = options.degrees,
                          .num_workers = options.num_workers,
                          .num_slots = 0,
                          .pinner = copy_.pinner()}) {}

  void start(std::vector<BatchRequest> requests) override {
    copy_.start_epoch();
    loader_.start(std::move(requests));
  }
  const Batch* next(CUstream_st* stream) override {
    copy_.release();
    const Batch* const batch = loader_.next();
    return batch == nullptr ? nullptr : copy_.copy(*batch, stream);
  }
  void stop() override {
    copy_.release();
    loader_.stop();
  }
  LoaderStats stats() const override {
    LoaderStats totals = loader_.stats();
    totals.transfer_seconds = copy_.seconds();
    return totals;
  }

 private:
  SerialCopy copy_;
  BatchLoader loader_;
};

}  // namespace

std::unique_ptr<BatchSource> make_plain_loader(const Dataset& dataset, const PlainLoaderOptions& options,
                                               const TextbookGraph* textbook) {
  return std::make_unique<PlainLoader>(dataset, options, textbook);
}

std::unique_ptr<BatchSource> make_unpipelined_loader(const Dataset& dataset, const PlainLoaderOptions& options) {
  return std::make_unique<UnpipelinedLoader>(dataset, options);
}

}  // namespace salient
