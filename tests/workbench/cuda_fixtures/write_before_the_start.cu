// tests/workbench/cuda_fixtures/write_before_the_start.cu - writes in front of the output.
// expect OUT_OF_BOUNDS case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
  if (i == 0) out[-1] = 0.0f;
}
