// tests/workbench/cuda_fixtures/write_far_away.cu - writes terabytes away.
// expect RUNTIME_ERROR case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
  out[(1ll << 44) + n] = 0.0f;
}
