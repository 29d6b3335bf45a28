// workbench/cases/kernels/typed_mean_sum.cu - start kernel: a row a block, a column a thread, relation by relation.
// launch typed_mean_sum block=128 grid=rows
extern "C" __global__ void typed_mean_sum(const float* x, const int* indptr, const int* indices, float* out,
                                          long long rows, long long relations, long long sources, long long edges,
                                          long long width) {
  const int* const of_row = indptr + blockIdx.x * relations;
  for (long long j = threadIdx.x; j < width; j += 128) {
    float all = 0.0f;
    for (long long r = 0; r < relations; ++r) {
      const int first = of_row[r], last = of_row[r + 1];
      float sum = 0.0f;
      for (int e = first; e < last; ++e) sum += x[indices[e] * width + j];
      if (last > first) all += sum / static_cast<float>(last - first);
    }
    out[blockIdx.x * width + j] = all;
  }
}
