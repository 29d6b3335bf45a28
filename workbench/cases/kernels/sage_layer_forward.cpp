// workbench/cases/kernels/sage_layer_forward.cpp - start kernel: one row a block, the mean in shared memory.
// launch sage block=1 grid=rows smem=4*in
#include "workbench_kernel.h"

extern "C" void sage(WorkbenchBlock block, const float* x, const int* indptr, const int* indices, const float* wl,
                     const float* wr, const float* bias, float* y, long long rows, long long others, long long edges,
                     long long in, long long out) {
  (void)rows, (void)others, (void)edges;
  const long long i = block.x, degree = indptr[i + 1] - indptr[i];
  float* const mean = static_cast<float*>(block.shared);
  for (long long t = 0; t < in; ++t) {
    float sum = 0;
    for (int e = indptr[i]; e < indptr[i + 1]; ++e) sum += x[indices[e] * in + t];
    mean[t] = degree > 0 ? sum / static_cast<float>(degree) : 0.0f;
  }
  for (long long j = 0; j < out; ++j) {
    float sum = bias[j];
    for (long long t = 0; t < in; ++t) sum += wl[j * in + t] * mean[t] + wr[j * in + t] * x[i * in + t];
    y[i * out + j] = sum;
  }
}
