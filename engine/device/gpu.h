// engine/device/gpu.h - the calls of CUDA, and of LibTorch's CUDA part, that ComputeDevice consists of. A build without
// CUDA has them too: no GPU is found there, and nothing else is called.
#pragma once

#include <cstdint>
#include <string>

struct CUstream_st;

namespace salient::gpu {

/// Usable GPUs.
int count();

/// Why count() is 0: "no usable GPU" or "a build without CUDA".
const char* reason_of_absence();

/// Makes it the current device of LibTorch and CUDA, with a stream of its own. @return  the stream
CUstream_st* make_current(int index);

std::string name_of(int index);

/// "0000:17:00.0"; empty where the driver does not say.
std::string pci_bus_id(int index);

/// Of this process' tensors on the GPU, at their peak.
std::int64_t peak_tensor_bytes(int index);

/// Of the current device.
struct Memory {
  std::int64_t free_bytes, total_bytes;
};
Memory memory();

void wait_for(CUstream_st* stream);

/// Whether operators of LibTorch that make the host wait for the GPU throw.
void forbid_host_waits(bool is_forbidden);

}  // namespace salient::gpu
