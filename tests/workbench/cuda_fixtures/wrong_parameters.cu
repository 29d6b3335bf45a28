// tests/workbench/cuda_fixtures/wrong_parameters.cu - takes fewer parameters than the case gives.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  out[i] = x[i];
}
