// engine/comm/stream_counter.cpp - see stream_counter.h.
#include "engine/comm/stream_counter.h"

#include <cuda.h>

#include <atomic>
#include <string>

namespace salient {
namespace {

using WriteValue = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// The driver's function, which the runtime has no name for. Not linked, so that the programs start without a driver.
WriteValue* find_write_value() {
  constexpr unsigned kSinceCuda = 12000;  // older ones may refuse
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  cuda_check(
      cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &function, kSinceCuda, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess)
    fail(ErrorKind::kNoDevice, "the NVIDIA driver is older than CUDA 12: it has no cuStreamWriteValue32");
  return reinterpret_cast<WriteValue*>(function);
}

}  // namespace

StreamCounter::StreamCounter() { number_[0] = 0; }

void StreamCounter::set_when_done(std::uint32_t value, cudaStream_t stream) {
  static WriteValue* const write_value = find_write_value();
  const CUresult status = write_value(stream, reinterpret_cast<CUdeviceptr>(number_.get()), value, 0);
  if (status != CUDA_SUCCESS)
    fail(ErrorKind::kInternal, "cuStreamWriteValue32: CUDA driver error " + std::to_string(static_cast<int>(status)));
}

std::uint32_t StreamCounter::value() const {
  return std::atomic_ref<std::uint32_t>(number_[0]).load(std::memory_order_acquire);
}

}  // namespace salient
