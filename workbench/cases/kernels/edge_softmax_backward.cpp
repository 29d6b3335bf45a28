// workbench/cases/kernels/edge_softmax_backward.cpp - start kernel: a row a block, two passes a head.
// launch edge_softmax_backward block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void edge_softmax_backward(WorkbenchBlock block, const float* alpha, const int* indptr,
                                      const float* grad_alpha, float* grad_logits, long long rows, long long edges,
                                      long long heads) {
  (void)rows, (void)edges;
  const long long first = indptr[block.x], last = indptr[block.x + 1];
  for (long long k = 0; k < heads; ++k) {
    float total = 0;
    for (long long e = first; e < last; ++e) total += alpha[e * heads + k] * grad_alpha[e * heads + k];
    for (long long e = first; e < last; ++e)
      grad_logits[e * heads + k] = alpha[e * heads + k] * (grad_alpha[e * heads + k] - total);
  }
}
