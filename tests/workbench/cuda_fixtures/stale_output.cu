// tests/workbench/cuda_fixtures/stale_output.cu - writes nothing.
// expect UNWRITTEN case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  (void)i;
}
