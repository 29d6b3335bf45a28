// workbench/cases/kernels/edge_softmax.cpp - start kernel: a row a block, three passes a head.
// launch edge_softmax block=1 grid=rows
#include <cmath>

#include "workbench_kernel.h"

extern "C" void edge_softmax(WorkbenchBlock block, const float* logits, const int* indptr, float* alpha, long long rows,
                             long long edges, long long heads) {
  (void)rows, (void)edges;
  const long long first = indptr[block.x], last = indptr[block.x + 1];
  for (long long k = 0; k < heads; ++k) {
    float top = -INFINITY, total = 0;
    for (long long e = first; e < last; ++e) top = logits[e * heads + k] > top ? logits[e * heads + k] : top;
    for (long long e = first; e < last; ++e) total += std::exp(logits[e * heads + k] - top);
    for (long long e = first; e < last; ++e) alpha[e * heads + k] = std::exp(logits[e * heads + k] - top) / total;
  }
}
