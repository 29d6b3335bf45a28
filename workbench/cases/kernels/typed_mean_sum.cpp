// workbench/cases/kernels/typed_mean_sum.cpp - start kernel: a row a block, relation by relation.
// launch typed_mean_sum block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void typed_mean_sum(WorkbenchBlock block, const float* x, const int* indptr, const int* indices, float* out,
                               long long rows, long long relations, long long sources, long long edges,
                               long long width) {
  (void)rows, (void)sources, (void)edges;
  const int* const of_row = indptr + block.x * relations;
  for (long long j = 0; j < width; ++j) {
    float all = 0;
    for (long long r = 0; r < relations; ++r) {
      float sum = 0;
      for (int e = of_row[r]; e < of_row[r + 1]; ++e) sum += x[indices[e] * width + j];
      if (of_row[r + 1] > of_row[r]) all += sum / static_cast<float>(of_row[r + 1] - of_row[r]);
    }
    out[block.x * width + j] = all;
  }
}
