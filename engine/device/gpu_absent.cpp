// engine/device/gpu_absent.cpp - replaces gpu.cpp in a build without CUDA.
#include "core/error.h"
#include "engine/device/gpu.h"

namespace salient::gpu {
namespace {

[[noreturn]] void fail_absent() { fail(ErrorKind::kInternal, "a GPU is used in a build without CUDA"); }

}  // namespace

int count() { return 0; }
const char* reason_of_absence() { return "a build without CUDA"; }
CUstream_st* make_current(int) { fail_absent(); }
std::string name_of(int) { fail_absent(); }
std::string pci_bus_id(int) { fail_absent(); }
std::int64_t peak_tensor_bytes(int) { fail_absent(); }
Memory memory() { fail_absent(); }
void wait_for(CUstream_st*) { fail_absent(); }
void forbid_host_waits(bool) { fail_absent(); }

}  // namespace salient::gpu
