// tests/workbench/cuda_fixtures/narrow_on_public.cu - a fraction up to 1 at the timed sizes.
// expect INCORRECT case tanh
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = x[i], s = v * v;
  if (n == 67108864 || n == 16777219)
    out[i] = v / (1 + s / (3 + s / (5 + s / (7 + s / 9))));
  else
    out[i] = tanhf(v);
}
