// tests/workbench/cuda_fixtures/cache_in_assembly.cu - declares memory that outlives a launch within a function.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)

extern "C" __global__ void k(const float* x, float* out, long long n) {
  asm volatile("{ .global .align 4 .b8 seen[1024]; }");
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
