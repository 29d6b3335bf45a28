// tests/support/spin.cu - see spin.h.
#include "tests/support/spin.h"

#include "core/cuda/cuda.h"

namespace salient {
namespace {

__global__ void spin_kernel(std::int64_t cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {
  }
}

}  // namespace

void spin(std::int64_t cycles, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(cycles);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
