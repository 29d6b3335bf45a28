// workbench/cases/kernels/edge_dot.cu - start kernel: an edge a warp.
// launch edge_dot block=128 grid=ceil(edges,4)
extern "C" __global__ void edge_dot(const float* x, const float* y, const int* source, const int* target, float* out,
                                    long long sources, long long targets, long long edges, long long width) {
  const long long e = blockIdx.x * 4ll + threadIdx.x / 32;
  if (e >= edges) return;
  const float *const a = x + source[e] * width, *const b = y + target[e] * width;
  float sum = 0.0f;
  for (long long j = threadIdx.x % 32; j < width; j += 32) sum += a[j] * b[j];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, apart);
  if (threadIdx.x % 32 == 0) out[e] = sum;
}
