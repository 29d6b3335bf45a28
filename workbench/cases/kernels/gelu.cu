// workbench/cases/kernels/gelu.cu - start kernel: one element a thread.
// launch gelu_kernel block=256 grid=ceil(n, 256)
extern "C" __global__ void gelu_kernel(const float* values, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = values[i];
  out[i] = 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
}
