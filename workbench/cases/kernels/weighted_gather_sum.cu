// workbench/cases/kernels/weighted_gather_sum.cu - start kernel: a row a block, a column a thread.
// launch weighted_gather_sum block=128 grid=rows
extern "C" __global__ void weighted_gather_sum(const float* x, const float* weights, const int* indptr,
                                               const int* indices, float* out, long long rows, long long sources,
                                               long long edges, long long width) {
  const long long row = blockIdx.x;
  for (long long j = threadIdx.x; j < width; j += 128) {
    float sum = 0.0f;
    for (int e = indptr[row]; e < indptr[row + 1]; ++e) sum += weights[e] * x[indices[e] * width + j];
    out[row * width + j] = sum;
  }
}
