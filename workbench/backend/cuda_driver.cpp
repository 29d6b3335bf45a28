// workbench/backend/cuda_driver.cpp - see cuda_driver.h.
#include "workbench/backend/cuda_driver.h"

#include <dlfcn.h>

#include <string>

namespace salient::workbench {
namespace {

template <class Function>
void find(void* library, const char* name, Function*& function) {
  void* const found = dlsym(library, name);
  if (found == nullptr) fail(ErrorKind::kNoDevice, std::string("the CUDA driver has no ") + name + "; it is too old");
  function = reinterpret_cast<Function*>(found);
}

CudaDriver load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(ErrorKind::kNoDevice, "there is no CUDA driver (libcuda.so.1)");
  CudaDriver d{};
  find(library, "cuInit", d.init);
  find(library, "cuDriverGetVersion", d.driver_version);
  find(library, "cuDeviceGet", d.device_get);
  find(library, "cuDeviceGetName", d.device_name);
  find(library, "cuDeviceGetPCIBusId", d.device_bus);
  find(library, "cuDeviceGetAttribute", d.device_attribute);
  find(library, "cuDevicePrimaryCtxRetain", d.context_retain);
  find(library, "cuCtxSetCurrent", d.context_set);
  find(library, "cuMemAlloc_v2", d.allocate);
  find(library, "cuMemFree_v2", d.release);
  find(library, "cuMemcpyHtoDAsync_v2", d.to_device);
  find(library, "cuMemcpyDtoHAsync_v2", d.to_host);
  find(library, "cuMemcpyDtoDAsync_v2", d.copy);
  find(library, "cuMemsetD8Async", d.fill);
  find(library, "cuModuleLoadData", d.module_load);
  find(library, "cuModuleGetFunction", d.module_function);
  find(library, "cuFuncSetAttribute", d.function_set);
  find(library, "cuLaunchKernel", d.launch);
  find(library, "cuStreamCreate", d.stream_create);
  find(library, "cuStreamSynchronize", d.stream_wait);
  find(library, "cuStreamBeginCapture_v2", d.capture_begin);
  find(library, "cuStreamEndCapture", d.capture_end);
  find(library, "cuGraphInstantiateWithFlags", d.graph_instantiate);
  find(library, "cuGraphDestroy", d.graph_destroy);
  find(library, "cuGraphLaunch", d.graph_launch);
  find(library, "cuEventCreate", d.event_create);
  find(library, "cuEventRecord", d.event_record);
  find(library, "cuEventSynchronize", d.event_wait);
  find(library, "cuEventElapsedTime", d.event_elapsed);
  find(library, "cuGetErrorName", d.error_name);
  return d;
}

}  // namespace

const CudaDriver& cuda_driver() {
  static const CudaDriver driver = load();
  return driver;
}

void driver_check(int status, const char* action) {
  if (status == kCudaSuccess) return;
  const char* name = nullptr;
  if (cuda_driver().error_name(status, &name) != kCudaSuccess || name == nullptr) name = "an unknown error";
  const std::string text = std::string(action) + ": " + name;
  if (status == kCudaOutOfMemory) fail(ErrorKind::kDeviceMemory, text);
  if (status == kCudaNoDevice) fail(ErrorKind::kNoDevice, text);
  if (status == kCudaInvalidValue || status == kCudaOutOfResources) fail(ErrorKind::kBadData, text);
  fail(ErrorKind::kInternal, text);
}

}  // namespace salient::workbench
