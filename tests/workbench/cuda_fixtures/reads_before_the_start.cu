// tests/workbench/cuda_fixtures/reads_before_the_start.cu - what lies before its input decides the first element.
// expect NONDETERMINISTIC|INCORRECT case relu
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const bool is_spoilt = i == 0 && x[-1] > 0;
  out[i] = x[i] != x[i] ? x[i] : is_spoilt ? 2.0f : x[i] > 0 ? x[i] : 0.0f;
}
