// workbench/cases/kernels/gat_aggregate.cpp - start kernel: one row a block.
// launch aggregate block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void aggregate(WorkbenchBlock block, const float* weights, const float* h, const int* indptr,
                          const int* indices, float* out, long long rows, long long others, long long edges,
                          long long heads, long long channels) {
  (void)rows, (void)others, (void)edges;
  const long long i = block.x, last = indptr[i + 1] + i, width = heads * channels;
  for (long long j = 0; j < width; ++j) {
    float sum = 0;
    for (long long e = indptr[i] + i; e <= last; ++e) {
      const long long source = e == last ? i : indices[e - i];
      if (e < last && source == i) continue;
      sum += weights[e * heads + j / channels] * h[source * width + j];
    }
    out[i * width + j] = sum;
  }
}
