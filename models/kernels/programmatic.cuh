// models/kernels/programmatic.cuh - kernels that begin while the one before them in the stream ends (sm_90 and later).
//
// A kernel that launch_behind() starts may read, before wait_for_kernel_before(), what was written before the kernel in
// front of it began: that one must have waited likewise before let_next_kernel_begin(), or be launched as usual. What
// the kernel in front wrote is read behind the wait, through fresh(): the compiler may move __ldg and loads through
// const __restrict__ pointers above it. Launched as usual, or on older devices, the wait is over at once.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"

namespace salient {

/// Until all that comes before this kernel in the stream is done and its writes are seen.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Once all blocks have come here, the next kernel may begin, up to its wait.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ inline float fresh(const float* at) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(at) : "memory");
  return value;
}
__device__ inline LocalId fresh(const LocalId* at) {
  LocalId value;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

/// Launches `kernel` behind the last one of the stream, as said above. Code that was compiled for an older
/// architecture, which a newer device may run too, has no waits and begins as usual.
template <class... Parameters>
void launch_behind(void (*kernel)(Parameters...), unsigned blocks, cudaStream_t stream,
                   const Parameters&... arguments) {
  cudaFuncAttributes compiled{};
  cuda_check(cudaFuncGetAttributes(&compiled, kernel));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks), config.blockDim = dim3(kThreadsPerBlock), config.stream = stream;
  config.attrs = &attribute, config.numAttrs = compiled.ptxVersion >= 90 ? 1 : 0;
  cuda_check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace salient
