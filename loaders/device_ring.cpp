// loaders/device_ring.cpp - see device_ring.h.
#include "loaders/device_ring.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/trace.h"
#include "engine/cuda/cuda.h"
#include "loaders/gather_rows.h"

namespace salient {
namespace {

struct DestroyEvent {
  void operator()(cudaEvent_t raw) const noexcept { (void)cudaEventDestroy(raw); }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

Event make_event(unsigned flags) {
  cudaEvent_t raw = nullptr;
  cuda_check(cudaEventCreateWithFlags(&raw, flags));
  return Event(raw);
}

/// One pinned slab's copy: timed, and what waits for it sleeps instead of spinning.
struct Lap {
  Event started = make_event(cudaEventDefault);
  Event copied = make_event(cudaEventBlockingSync);
  bool is_pending = false;  // enqueued, and its time not yet read
  std::size_t batch = 0;
};

struct DeviceSlab {
  Event computed = make_event(cudaEventDisableTiming);
  std::byte* memory = nullptr;
  std::size_t capacity = 0;
};

class CudaDeviceRing final : public DeviceRing {
 public:
  CudaDeviceRing(std::size_t num_host_slabs, std::size_t num_device_slabs, RowTable features)
      : features_(features), laps_(num_host_slabs), slabs_(num_device_slabs) {
    cuda_check(cudaGetDevice(&device_));
  }

  ~CudaDeviceRing() override {
    (void)cudaSetDevice(device_);
    for (const DeviceSlab& slab : slabs_) {
      (void)cudaStreamWaitEvent(stream_.get(), slab.computed.get());
      (void)cudaFreeAsync(slab.memory, stream_.get());
    }
    (void)cudaStreamSynchronize(stream_.get());
  }
  CudaDeviceRing(const CudaDeviceRing&) = delete;
  CudaDeviceRing& operator=(const CudaDeviceRing&) = delete;

  void pin(std::byte* memory, std::size_t bytes) override {
    use_device();
    const cudaError_t status = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();
    fail(ErrorKind::kHostMemory, "cannot pin " + std::to_string(bytes >> 20) + " MiB of host memory (" +
                                     cudaGetErrorString(status) + "); lower --slots or --batch-size");
  }

  void unpin(std::byte* memory) noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaHostUnregister(memory);
  }

  void wait_until_copied(std::size_t host_slab) override {
    Lap& lap = laps_[host_slab];
    if (!lap.is_pending) return;
    use_device();
    cuda_check(cudaEventSynchronize(lap.copied.get()));
    float ms = 0;
    cuda_check(cudaEventElapsedTime(&ms, lap.started.get(), lap.copied.get()));
    transfer_ms_.fetch_add(static_cast<double>(ms), std::memory_order_relaxed);
    lap.is_pending = false;
    if (is_tracing_) trace(lap);
  }

  std::byte* copy(std::size_t batch, const std::byte* data, const BatchLayout& layout) override {
    use_device();
    Lap& lap = laps_[batch % laps_.size()];
    DeviceSlab& slab = slabs_[batch % slabs_.size()];
    // Never recorded before = no wait: nobody has used the slab yet.
    cuda_check(cudaStreamWaitEvent(stream_.get(), slab.computed.get()));
    reserve(slab, layout.bytes);
    cuda_check(cudaEventRecord(lap.started.get(), stream_.get()));
    cuda_check(cudaMemcpyAsync(slab.memory, data, layout.prepared_bytes, cudaMemcpyHostToDevice, stream_.get()));
    if (layout.place() == FeaturePlace::kDevice)
      gather_rows(features_, reinterpret_cast<const NodeId*>(slab.memory + layout.nodes),
                  static_cast<std::size_t>(layout.num_nodes), slab.memory + layout.x, stream_.get());
    cuda_check(cudaEventRecord(lap.copied.get(), stream_.get()));
    lap.is_pending = true;
    lap.batch = batch;
    return slab.memory;
  }

  void begin_use(std::size_t batch, CUstream_st* stream) override {
    cuda_check(cudaStreamWaitEvent(stream, laps_[batch % laps_.size()].copied.get()));
  }

  void end_use(std::size_t batch, CUstream_st* stream) override {
    cuda_check(cudaEventRecord(slabs_[batch % slabs_.size()].computed.get(), stream));
  }

  void start_epoch() override {
    for (std::size_t s = 0; s < laps_.size(); ++s) wait_until_copied(s);
    transfer_ms_ = 0;
    is_tracing_ = Trace::global().is_on();
    if (!is_tracing_) return;
    Trace::global().name_row(trace_row::kCopyStream, "copy stream");
    cuda_check(cudaEventRecord(epoch_.get(), stream_.get()));
    cuda_check(cudaEventSynchronize(epoch_.get()));
    epoch_on_host_ = Trace::Clock::now();
  }

  void quiesce() noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaStreamSynchronize(stream_.get());
  }

  double transfer_seconds() override {
    for (std::size_t s = 0; s < laps_.size(); ++s) wait_until_copied(s);
    return transfer_ms_ * 1e-3;
  }

 private:
  void use_device() const { cuda_check(cudaSetDevice(device_)); }

  void trace(const Lap& lap) const {
    const auto at = [&](const Event& event) {
      float ms = 0;
      cuda_check(cudaEventElapsedTime(&ms, epoch_.get(), event.get()));
      return epoch_on_host_ + std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(ms) * 1e6));
    };
    Trace::global().add("copy", "gpu", trace_row::kCopyStream, at(lap.started), at(lap.copied),
                        static_cast<std::int64_t>(lap.batch));
  }

  /// In stream order, so that growing waits for nobody: 1.25 times the largest batch so far, that the first batches of
  /// a run settle the sizes for good.
  void reserve(DeviceSlab& slab, std::size_t bytes) {
    largest_ = std::max(largest_, bytes);
    if (bytes <= slab.capacity) return;
    if (slab.memory != nullptr) cuda_check(cudaFreeAsync(std::exchange(slab.memory, nullptr), stream_.get()));
    slab.capacity = 0;
    const std::size_t wanted = largest_ + largest_ / 4;
    void* memory = nullptr;
    cuda_check(cudaMallocAsync(&memory, wanted, stream_.get()));
    slab.memory = static_cast<std::byte*>(memory);
    slab.capacity = wanted;
  }

  const RowTable features_;  // on the device; empty if batches bring theirs
  int device_ = 0;
  CudaStream stream_;
  std::vector<Lap> laps_;          // by pinned slab
  std::vector<DeviceSlab> slabs_;  // by device slab
  std::size_t largest_ = 0;
  std::atomic<double> transfer_ms_ = 0;  // workers add to it

  // The epoch's begin on both clocks, to place copies on the trace's.
  bool is_tracing_ = false;
  Event epoch_ = make_event(cudaEventBlockingSync);
  Trace::Clock::time_point epoch_on_host_{};
};

}  // namespace

std::unique_ptr<DeviceRing> make_device_ring(std::size_t num_host_slabs, std::size_t num_device_slabs,
                                             RowTable features) {
  return std::make_unique<CudaDeviceRing>(num_host_slabs, num_device_slabs, features);
}

}  // namespace salient
