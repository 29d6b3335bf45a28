// workbench/cases/kernels/softmax_cross_entropy.cpp - start kernel: a row a block, three passes.
// launch cross_entropy block=1 grid=n
#include <cmath>

#include "workbench_kernel.h"

extern "C" void cross_entropy(WorkbenchBlock block, const float* logits, const int* labels, float* loss, float* grad,
                              long long n, long long c) {
  const float* const z = logits + block.x * c;
  float top = z[0], total = 0;
  for (long long j = 1; j < c; ++j) top = z[j] > top ? z[j] : top;
  for (long long j = 0; j < c; ++j) total += std::exp(z[j] - top);
  for (long long j = 0; j < c; ++j) {
    const float hot = j == labels[block.x] ? 1.0f : 0.0f;
    grad[block.x * c + j] = (std::exp(z[j] - top) / total - hot) / static_cast<float>(n);
  }
  loss[block.x] = std::log(total) + top - z[labels[block.x]];
}
