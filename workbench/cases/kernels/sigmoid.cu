// workbench/cases/kernels/sigmoid.cu - start kernel: one element a thread.
// launch sigmoid_kernel block=256 grid=ceil(n, 256)
extern "C" __global__ void sigmoid_kernel(const float* values, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = values[i];
  out[i] = 1.0f / (1.0f + expf(-x));
}
