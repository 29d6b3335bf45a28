// workbench/cases/kernels/softsign.cu - start kernel: one element a thread.
// launch softsign_kernel block=256 grid=ceil(n, 256)
extern "C" __global__ void softsign_kernel(const float* values, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = values[i];
  out[i] = x / (1.0f + fabsf(x));
}
