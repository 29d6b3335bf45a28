// workbench/cases/kernels/segment_mean_backward.cu - start kernel: clears the result, then atomic additions edge by
// edge.
// launch clear block=256 grid=ceil(sources*width, 256)
// launch add block=128 grid=rows
extern "C" __global__ void clear(const float* grad_out, const int* indptr, const int* indices, float* grad_x,
                                 long long rows, long long sources, long long edges, long long width) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < sources * width) grad_x[i] = 0.0f;
}

extern "C" __global__ void add(const float* grad_out, const int* indptr, const int* indices, float* grad_x,
                               long long rows, long long sources, long long edges, long long width) {
  const long long i = blockIdx.x;
  const float degree = static_cast<float>(indptr[i + 1] - indptr[i]);
  for (int e = indptr[i]; e < indptr[i + 1]; ++e)
    for (long long j = threadIdx.x; j < width; j += 128)
      atomicAdd(&grad_x[indices[e] * width + j], grad_out[i * width + j] / degree);
}
