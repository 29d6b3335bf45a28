// tests/workbench/cuda_fixtures/allocates.cu - takes memory on the device.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i == 0) out = static_cast<float*>(malloc(16));
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
