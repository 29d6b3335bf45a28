// tests/workbench/cuda_fixtures/too_much_shared_memory.cu - asks for more shared memory than there is.
// expect LAUNCH_ERROR case softsign
// launch k block=256 grid=ceil(n, 256) smem=1000000
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
