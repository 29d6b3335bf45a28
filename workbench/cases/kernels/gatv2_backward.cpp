// workbench/cases/kernels/gatv2_backward.cpp - start kernel: clears the results, then adds edge by edge.
// launch clear block=1 grid=1
// launch add block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void clear(WorkbenchBlock block, const float* z_src, const float* z_dst, const float* att, const int* indptr,
                      const int* indices, const float* grad_logits, float* grad_src, float* grad_dst, float* grad_att,
                      long long rows, long long others, long long edges, long long heads, long long channels) {
  (void)block, (void)z_src, (void)z_dst, (void)att, (void)indptr, (void)indices, (void)grad_logits, (void)edges;
  const long long width = heads * channels;
  for (long long i = 0; i < (rows + others) * width; ++i) grad_src[i] = 0;
  for (long long i = 0; i < rows * width; ++i) grad_dst[i] = 0;
  for (long long i = 0; i < width; ++i) grad_att[i] = 0;
}

extern "C" void add(WorkbenchBlock block, const float* z_src, const float* z_dst, const float* att, const int* indptr,
                    const int* indices, const float* grad_logits, float* grad_src, float* grad_dst, float* grad_att,
                    long long rows, long long others, long long edges, long long heads, long long channels) {
  (void)rows, (void)others, (void)edges;
  const long long width = heads * channels, i = block.x, last = indptr[i + 1] + i;
  for (long long e = indptr[i] + i; e <= last; ++e) {
    const long long source = e == last ? i : indices[e - i];
    if (e < last && source == i) continue;
    for (long long j = 0; j < width; ++j) {
      const float sum = z_src[source * width + j] + z_dst[i * width + j];
      const float slope = sum > 0 ? 1.0f : 0.2f, grad = grad_logits[e * heads + j / channels];
      grad_src[source * width + j] += grad * att[j] * slope;
      grad_dst[i * width + j] += grad * att[j] * slope;
      grad_att[j] += grad * sum * slope;
    }
  }
}
