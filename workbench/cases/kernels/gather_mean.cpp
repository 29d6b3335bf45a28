// workbench/cases/kernels/gather_mean.cpp - start kernel: a row a block.
// launch gather_mean block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void gather_mean(WorkbenchBlock block, const float* x, const int* indptr, const int* indices, float* out,
                            long long rows, long long sources, long long edges, long long width) {
  (void)rows, (void)sources, (void)edges;
  const long long i = block.x, degree = indptr[i + 1] - indptr[i];
  for (long long j = 0; j < width; ++j) {
    float sum = 0;
    for (int e = indptr[i]; e < indptr[i + 1]; ++e) sum += x[indices[e] * width + j];
    out[i * width + j] = degree > 0 ? sum / static_cast<float>(degree) : 0.0f;
  }
}
