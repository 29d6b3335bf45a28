// loaders/device_ring.cpp - see device_ring.h.
#include "loaders/device_ring.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/console/trace.h"
#include "core/cuda/cuda.h"
#include "core/cuda/device_buffer.h"
#include "core/error.h"
#include "loaders/gather_rows.h"
#include "loaders/type_rows.h"

namespace salient {
namespace {

/// One pinned slab's copy: timed, and what waits for it sleeps instead of spinning.
struct Lap {
  CudaEvent started{CudaEvent::Kind::kTiming};
  CudaEvent copied{CudaEvent::Kind::kTiming};
  bool is_pending = false;  // enqueued, and its time not yet read
  std::size_t batch = 0;
};

struct DeviceSlab {
  explicit DeviceSlab(cudaStream_t stream) : memory(stream) {}
  CudaEvent computed{CudaEvent::Kind::kOrder};
  DeviceBuffer<std::byte> memory;  // grows in stream order, so that growing does not wait
};

class CudaDeviceRing final : public DeviceRing {
 public:
  CudaDeviceRing(std::size_t num_host_slabs, std::size_t num_device_slabs, const ResidentView& data)
      : features_(data.device_rows), type_features_(data.type_rows), laps_(num_host_slabs) {
    cuda_check(cudaGetDevice(&device_));
    for (std::size_t s = 0; s < num_device_slabs; ++s) slabs_.emplace_back(stream_.get());
  }

  ~CudaDeviceRing() override {
    (void)cudaSetDevice(device_);
    for (const DeviceSlab& slab : slabs_) (void)cudaStreamWaitEvent(stream_.get(), slab.computed.get());
    (void)cudaStreamSynchronize(stream_.get());
  }
  CudaDeviceRing(const CudaDeviceRing&) = delete;
  CudaDeviceRing& operator=(const CudaDeviceRing&) = delete;

  void pin(std::byte* memory, std::size_t bytes) override {
    use_device();
    const cudaError_t status = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();
    fail(ErrorKind::kHostMemory,
         "cannot pin " + std::to_string(bytes >> 20) + " MiB of host memory (" + cudaGetErrorString(status) + ")",
         Topic::kBatch);
  }

  void unpin(std::byte* memory) noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaHostUnregister(memory);
  }

  void wait_until_copied(std::size_t host_slab) override {
    Lap& lap = laps_[host_slab];
    if (!lap.is_pending) return;
    use_device();
    lap.copied.wait();
    transfer_seconds_.fetch_add(lap.copied.seconds_since(lap.started), std::memory_order_relaxed);
    lap.is_pending = false;
    if (is_tracing_) trace(lap);
  }

  std::byte* copy(std::size_t batch, const std::byte* data, const BatchLayout& layout) override {
    use_device();
    Lap& lap = laps_[batch % laps_.size()];
    DeviceSlab& slab = slabs_[batch % slabs_.size()];
    slab.computed.make_wait(stream_.get());
    std::byte* const memory = slab.memory.reserve(layout.bytes);
    lap.started.record(stream_.get());
    cuda_check(cudaMemcpyAsync(memory, data, layout.prepared_bytes, cudaMemcpyHostToDevice, stream_.get()));
    gather(layout, memory);
    lap.copied.record(stream_.get());
    lap.is_pending = true;
    lap.batch = batch;
    return memory;
  }

  void begin_use(std::size_t batch, CUstream_st* stream) override {
    laps_[batch % laps_.size()].copied.make_wait(stream);
  }

  void end_use(std::size_t batch, CUstream_st* stream) override {
    slabs_[batch % slabs_.size()].computed.record(stream);
  }

  void start_epoch() override {
    for (std::size_t s = 0; s < laps_.size(); ++s) wait_until_copied(s);
    transfer_seconds_ = 0;
    is_tracing_ = Trace::global().is_on();
    if (!is_tracing_) return;
    Trace::global().name_row(trace_row::kCopyStream, "copy stream");
    epoch_.record(stream_.get());
    epoch_.wait();
    epoch_on_host_ = Trace::Clock::now();
  }

  void quiesce() noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaStreamSynchronize(stream_.get());
  }

  double transfer_seconds() override {
    for (std::size_t s = 0; s < laps_.size(); ++s) wait_until_copied(s);
    return transfer_seconds_;
  }

 private:
  /// What the device has to do with x.
  void gather(const BatchLayout& layout, std::byte* memory) const {
    if (is_x_from_host(layout.residency)) return;
    if (!layout.types.empty() && layout.feature_dim == 0) return gather_types(layout, memory);
    const bool is_cached = layout.residency == Residency::kCached;
    const auto num_nodes = static_cast<std::size_t>(layout.num_nodes);
    const RowTable missed{memory + layout.x_missed, is_cached ? num_nodes : 0, features_.row_bytes};
    const std::size_t rows = is_cached ? layout.x_rows : layout.nodes;
    gather_features(features_, missed, reinterpret_cast<const NodeId*>(memory + rows), num_nodes, memory + layout.x,
                    stream_.get());
  }

  /// Of dense rows; sparse ones came with the copy.
  void gather_types(const BatchLayout& layout, std::byte* memory) const {
    for (std::size_t t = 0; t < layout.types.size(); ++t) {
      const TypeLayout& type = layout.types[t];
      if (type.feature_dim == 0 || type.feature_layout != FeatureLayout::kDense) continue;
      const auto count = static_cast<std::size_t>(type.num_nodes);
      auto* const rows = reinterpret_cast<NodeId*>(memory + type.x_rows);
      const bool is_cached = layout.residency == Residency::kCached;
      if (!is_cached)
        find_type_rows(reinterpret_cast<const NodeId*>(memory + layout.nodes),
                       reinterpret_cast<const LocalId*>(memory + type.nodes), count, type.first, rows, stream_.get());
      const RowTable missed{memory + type.x_missed, is_cached ? count : 0, type_features_[t].row_bytes};
      gather_features(type_features_[t], missed, rows, count, memory + type.x, stream_.get());
    }
  }

  void use_device() const { cuda_check(cudaSetDevice(device_)); }

  void trace(const Lap& lap) const {
    const auto at = [&](const CudaEvent& event) {
      return epoch_on_host_ + std::chrono::nanoseconds(static_cast<std::int64_t>(event.seconds_since(epoch_) * 1e9));
    };
    Trace::global().add("copy", "gpu", trace_row::kCopyStream, at(lap.started), at(lap.copied),
                        static_cast<std::int64_t>(lap.batch));
  }

  const RowTable features_;                        // on the device; empty if batches bring theirs
  const std::span<const RowTable> type_features_;  // likewise, of a typed graph
  int device_ = 0;
  CudaStream stream_;
  std::vector<Lap> laps_;                     // by pinned slab
  std::vector<DeviceSlab> slabs_;             // by device slab
  std::atomic<double> transfer_seconds_ = 0;  // workers add to it

  // The epoch's begin on both clocks, to place copies on the trace's.
  bool is_tracing_ = false;
  CudaEvent epoch_{CudaEvent::Kind::kTiming};
  Trace::Clock::time_point epoch_on_host_{};
};

}  // namespace

std::unique_ptr<DeviceRing> make_device_ring(std::size_t num_host_slabs, std::size_t num_device_slabs,
                                             const ResidentView& data) {
  return std::make_unique<CudaDeviceRing>(num_host_slabs, num_device_slabs, data);
}

}  // namespace salient
