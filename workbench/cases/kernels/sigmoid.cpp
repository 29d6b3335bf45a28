// workbench/cases/kernels/sigmoid.cpp - start kernel: one block of 4096 elements at a time.
// launch sigmoid block=1 grid=ceil(n, 4096)
#include <cmath>

#include "workbench_kernel.h"

extern "C" void sigmoid(WorkbenchBlock block, const float* values, float* out, long long n) {
  const long long begin = block.x * 4096, end = begin + 4096 < n ? begin + 4096 : n;
  for (long long i = begin; i < end; ++i) {
    const float x = values[i];
    out[i] = 1.0f / (1.0f + expf(-x));
  }
}
