// loaders/batch_producer.cpp - see batch_producer.h.
#include "loaders/batch_producer.h"

#include <cstdint>
#include <string>
#include <utility>

#include "core/console/trace.h"
#include "core/timer.h"
#include "loaders/batch_pipeline.h"

namespace salient {
namespace {

struct Stopped {};  // ends the pipeline early

/// Does `work`, shows it in the trace, and returns the seconds that it took.
template <class Work>
double timed(const char* name, int worker, std::size_t batch, Work work) {
  const TraceSpan span(name, "loader", trace_row::kFirstWorker + worker, static_cast<std::int64_t>(batch));
  const Timer timer;
  work();
  return timer.seconds();
}

void name_rows_of_trace(std::size_t num_workers) {
  for (std::size_t w = 0; w < num_workers && Trace::global().is_on(); ++w)
    Trace::global().name_row(trace_row::kFirstWorker + static_cast<int>(w), "worker " + std::to_string(w));
}

}  // namespace

BatchProducer::BatchProducer(const Dataset& dataset, const LoaderOptions& options, std::size_t num_slots,
                             std::size_t max_in_flight, BatchSink& sink)
    : num_workers_(options.num_workers),
      max_in_flight_(max_in_flight),
      sink_(sink),
      makers_(dataset, options),
      slots_(num_slots) {}

void BatchProducer::start(std::vector<BatchRequest> requests) {
  requests_ = std::move(requests);
  for (Slot& slot : slots_) slot.error = nullptr;
  is_stopped_ = false;
  name_rows_of_trace(makers_.size());
  if (num_workers_ > 0) thread_ = std::jthread([this] { run_epoch(); });
}

void BatchProducer::stop() noexcept {
  is_stopped_ = true;
  sink_.wake();
  if (thread_.joinable()) thread_.join();
}

Batch& BatchProducer::make(std::size_t index) {
  prepare(index);
  return checked(index);
}

/// A worker's job. The error is delivered instead of the batch.
void BatchProducer::prepare(std::size_t index) noexcept {
  auto& [batch, error] = slot(index);
  const int worker = makers_.this_worker();
  BatchMaker& maker = makers_.of(worker);
  try {
    batch.index = index;
    batch.sample_seconds = timed("sample", worker, index, [&] { maker.sample(requests_[index], batch); });
    batch.data = sink_.memory_for(index, batch.layout.prepared_bytes);
    batch.gather_seconds = timed("gather", worker, index, [&] { maker.write(batch, batch.data); });
    sink_.written(batch);
  } catch (...) {
    maker.drop();
    error = std::current_exception();
  }
}

Batch& BatchProducer::checked(std::size_t index) {
  auto& [batch, error] = slot(index);
  if (error) std::rethrow_exception(std::exchange(error, nullptr));
  return batch;
}

/// From the first to the last batch, on the background thread.
void BatchProducer::run_epoch() {
  std::exception_ptr error;
  try {
    run_batches(
        requests_.size(), num_workers_, max_in_flight_,
        [this](std::size_t b) {
          if (!is_stopped_) prepare(b);
        },
        [this](std::size_t b) {
          if (is_stopped_ || !sink_.deliver(checked(b))) throw Stopped();
        });
  } catch (const Stopped&) {
  } catch (...) {
    error = std::current_exception();
  }
  sink_.end(error);
}

}  // namespace salient
