// workbench/cases/kernels/out_degrees.cpp - start kernel: clears the counts, then counts entry by entry.
// launch out_degrees block=1 grid=1
#include "workbench_kernel.h"

extern "C" void out_degrees(WorkbenchBlock block, const int* indptr, const int* indices, int* out_degree,
                            long long rows, long long sources, long long edges) {
  (void)block, (void)indptr, (void)rows;
  for (long long v = 0; v < sources; ++v) out_degree[v] = 0;
  for (long long e = 0; e < edges; ++e) ++out_degree[indices[e]];
}
