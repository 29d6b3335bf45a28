// engine/device/compute_device.cpp - see compute_device.h.
#include "engine/device/compute_device.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>

#include <cstdlib>

#include "core/error.h"
#include "core/host/threads.h"

namespace salient {
namespace {

/// MKL sums a product's terms in an order of its own for each number of threads, unless it is told not to before its
/// first product: then a run has the same bits for any number of them. A user's setting wins.
void keep_order_of_sums() {
  (void)setenv("MKL_CBWR", "AUTO,STRICT", 0);  // NOLINT(concurrency-mt-unsafe): nobody else reads the environment now
}

/// LibTorch's pool hangs where it gets no threads, and OpenMP ends the process: so both make theirs here, all at once.
void start_threads(int count) {
  constexpr std::int64_t kItemsPerThread = 65536;  // from which on LibTorch shares out a loop
  if (count > 1) require_threads(2 * (count - 1));
  at::set_num_threads(count);
  (void)at::full({count * kItemsPerThread}, 1, at::kByte);
}

}  // namespace

ComputeDevice ComputeDevice::choose(std::optional<DeviceKind> wanted, int local_rank, int cpu_threads) {
  const int gpus = wanted == DeviceKind::kCpu ? 0 : gpu::count();
  if (gpus == 0) {
    if (wanted == DeviceKind::kCuda)
      fail(ErrorKind::kNoDevice, std::string("cannot compute on a GPU: ") + gpu::reason_of_absence(), Topic::kDevice);
    keep_order_of_sums();
    start_threads(cpu_threads);
    return {c10::Device(c10::kCPU), nullptr};
  }
  const int index = local_rank % gpus;
  CUstream_st* const stream = gpu::make_current(index);
  at::set_num_threads(1);
  return {c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index)), stream};
}

void ComputeDevice::wait() const {
  if (is_cuda()) gpu::wait_for(stream_);
}

std::string ComputeDevice::name() const { return is_cuda() ? gpu::name_of(device_.index()) : "cpu"; }

std::optional<std::int64_t> ComputeDevice::peak_bytes() const {
  return is_cuda() ? std::optional(gpu::peak_tensor_bytes(device_.index())) : std::nullopt;
}

std::optional<ComputeDevice::Memory> ComputeDevice::memory() const {
  return is_cuda() ? std::optional(gpu::memory()) : std::nullopt;
}

NoHostWait::NoHostWait(const ComputeDevice& device) : is_active_(device.is_cuda()) {
  if (is_active_) gpu::forbid_host_waits(true);
}

NoHostWait::~NoHostWait() {
  if (is_active_) gpu::forbid_host_waits(false);
}

}  // namespace salient
