// tests/workbench/cuda_fixtures/lines_that_stay.cu - loads that ask the second-level cache to keep what it read.
// expect NOISE|SLOWER case softsign timed
// launch k block=256 grid=ceil(n,256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  unsigned long long policy;
  float value;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(x + i), "l"(policy));
  out[i] = value / (1.0f + fabsf(value));
}
