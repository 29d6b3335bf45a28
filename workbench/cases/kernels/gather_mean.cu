// workbench/cases/kernels/gather_mean.cu - start kernel: a row a block, one column a thread and step.
// launch gather_mean block=128 grid=rows
extern "C" __global__ void gather_mean(const float* x, const int* indptr, const int* indices, float* out,
                                       long long rows, long long sources, long long edges, long long width) {
  const long long i = blockIdx.x, degree = indptr[i + 1] - indptr[i];
  for (long long j = threadIdx.x; j < width; j += 128) {
    float sum = 0.0f;
    for (int e = indptr[i]; e < indptr[i + 1]; ++e) sum += x[indices[e] * width + j];
    out[i * width + j] = degree > 0 ? sum / static_cast<float>(degree) : 0.0f;
  }
}
