// tests/workbench/cuda_fixtures/race.cu - all blocks write the last element.
// expect NONDETERMINISTIC|INCORRECT case softsign
// launch k block=256 grid=ceil(n, 256)
__device__ unsigned clockless(unsigned b) {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return b * 1000 + id;
}

extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
  if (threadIdx.x == 0 && i + 256 < n) out[n - 1] = static_cast<float>(clockless(blockIdx.x));
}
