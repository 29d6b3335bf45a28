// tests/workbench/cuda_fixtures/count_in_one_byte.cu - counts its launches in a variable of one byte.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
__device__ unsigned char launches;

extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i == 0) ++launches;
  if (i < n && launches < 200) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
