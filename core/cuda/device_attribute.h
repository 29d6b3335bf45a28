// core/cuda/device_attribute.h - what the current GPU is.
#pragma once

#include "core/cuda/cuda.h"

namespace salient {

inline int device_attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

/// Whether it has the instructions of compute capability 9.0. False without a GPU: memory is planned there, too.
inline bool has_hopper() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
         device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
         device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
}

}  // namespace salient
