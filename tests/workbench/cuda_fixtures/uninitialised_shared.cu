// tests/workbench/cuda_fixtures/uninitialised_shared.cu - takes shared memory for zeroed memory.
// expect NONDETERMINISTIC case softsign
// launch k block=256 grid=ceil(n, 256) smem=1024
extern __shared__ float dirt[];

extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n)
    out[i] = x[i] / (1.0f + fabsf(x[i])) + (static_cast<volatile float*>(dirt)[threadIdx.x] > 1.0f ? 1.0f : 0.0f);
}
