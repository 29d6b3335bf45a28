// workbench/cases/kernels/attention_backward.cpp - start kernel: clears the results, then adds edge by edge.
// launch clear block=1 grid=1
// launch add block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void clear(WorkbenchBlock block, const float* weights, const float* h, const int* indptr, const int* indices,
                      const float* grad_out, float* grad_weights, float* grad_h, long long rows, long long others,
                      long long edges, long long heads, long long channels) {
  (void)block, (void)weights, (void)h, (void)indptr, (void)indices, (void)grad_out, (void)grad_weights, (void)edges;
  for (long long i = 0; i < (rows + others) * heads * channels; ++i) grad_h[i] = 0;
}

extern "C" void add(WorkbenchBlock block, const float* weights, const float* h, const int* indptr, const int* indices,
                    const float* grad_out, float* grad_weights, float* grad_h, long long rows, long long others,
                    long long edges, long long heads, long long channels) {
  (void)rows, (void)others, (void)edges;
  const long long i = block.x, last = indptr[i + 1] + i;
  for (long long e = indptr[i] + i; e <= last; ++e) {
    const long long source = e == last ? i : indices[e - i];
    const bool is_masked = e < last && source == i;
    for (long long head = 0; head < heads; ++head) {
      const float* const grad = grad_out + (i * heads + head) * channels;
      const float* const from = h + (source * heads + head) * channels;
      float dot = 0;
      for (long long c = 0; c < channels && !is_masked; ++c) {
        dot += grad[c] * from[c];
        grad_h[(source * heads + head) * channels + c] += weights[e * heads + head] * grad[c];
      }
      grad_weights[e * heads + head] = dot;
    }
  }
}
