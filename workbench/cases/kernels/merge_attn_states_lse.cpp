// workbench/cases/kernels/merge_attn_states_lse.cpp - start kernel: a pair of token and head a block.
// launch merge block=1 grid=n*h
#include <cmath>

#include "workbench_kernel.h"

extern "C" void merge(WorkbenchBlock block, const float* v_a, const float* s_a, const float* v_b, const float* s_b,
                      float* v_out, float* s_out, long long n, long long h, long long d) {
  (void)n, (void)h;
  const long long row = block.x;
  const float top = s_a[row] > s_b[row] ? s_a[row] : s_b[row];
  const float a = std::exp(s_a[row] - top), b = std::exp(s_b[row] - top);
  for (long long j = 0; j < d; ++j) v_out[row * d + j] = (a * v_a[row * d + j] + b * v_b[row * d + j]) / (a + b);
  s_out[row] = std::log(a + b) + top;
}
