// tests/workbench/cuda_fixtures/uninitialised_scratch.cu - takes scratch for zeroed memory.
// expect NONDETERMINISTIC case softsign
// launch k block=256 grid=ceil(n, 256)
// scratch sums f32 16
extern "C" __global__ void k(const float* x, float* out, long long n, float* sums) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i])) + (sums[i % 16] > 1.0f ? 1.0f : 0.0f);
}
