// workbench/cases/kernels/weighted_gather_sum.cpp - start kernel: a row a block.
// launch weighted_gather_sum block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void weighted_gather_sum(WorkbenchBlock block, const float* x, const float* weights, const int* indptr,
                                    const int* indices, float* out, long long rows, long long sources, long long edges,
                                    long long width) {
  (void)rows, (void)sources, (void)edges;
  for (long long j = 0; j < width; ++j) {
    float sum = 0;
    for (int e = indptr[block.x]; e < indptr[block.x + 1]; ++e) sum += weights[e] * x[indices[e] * width + j];
    out[block.x * width + j] = sum;
  }
}
