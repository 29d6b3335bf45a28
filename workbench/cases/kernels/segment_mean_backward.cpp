// workbench/cases/kernels/segment_mean_backward.cpp - start kernel: clears the result, then adds edge by edge.
// launch clear block=1 grid=1
// launch add block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void clear(WorkbenchBlock block, const float* grad_out, const int* indptr, const int* indices, float* grad_x,
                      long long rows, long long sources, long long edges, long long width) {
  (void)block, (void)grad_out, (void)indptr, (void)indices, (void)rows, (void)edges;
  for (long long i = 0; i < sources * width; ++i) grad_x[i] = 0;
}

extern "C" void add(WorkbenchBlock block, const float* grad_out, const int* indptr, const int* indices, float* grad_x,
                    long long rows, long long sources, long long edges, long long width) {
  (void)rows, (void)sources, (void)edges;
  const long long i = block.x;
  for (int e = indptr[i]; e < indptr[i + 1]; ++e)
    for (long long j = 0; j < width; ++j)
      grad_x[indices[e] * width + j] += grad_out[i * width + j] / static_cast<float>(indptr[i + 1] - indptr[i]);
}
