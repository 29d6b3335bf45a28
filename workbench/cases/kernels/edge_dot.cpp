// workbench/cases/kernels/edge_dot.cpp - start kernel: 64 edges a block.
// launch edge_dot block=1 grid=ceil(edges,64)
#include "workbench_kernel.h"

extern "C" void edge_dot(WorkbenchBlock block, const float* x, const float* y, const int* source, const int* target,
                         float* out, long long sources, long long targets, long long edges, long long width) {
  (void)sources, (void)targets;
  for (long long e = 64 * block.x; e < 64 * block.x + 64 && e < edges; ++e) {
    const float *const a = x + source[e] * width, *const b = y + target[e] * width;
    float sum = 0;
    for (long long j = 0; j < width; ++j) sum += a[j] * b[j];
    out[e] = sum;
  }
}
