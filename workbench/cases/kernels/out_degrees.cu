// workbench/cases/kernels/out_degrees.cu - start kernel: clears the counts, then one atomic addition an entry.
// launch clear block=256 grid=ceil(sources, 256)
// launch count block=256 grid=ceil(edges, 256)
extern "C" __global__ void clear(const int* indptr, const int* indices, int* out_degree, long long rows,
                                 long long sources, long long edges) {
  const long long v = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (v < sources) out_degree[v] = 0;
}

extern "C" __global__ void count(const int* indptr, const int* indices, int* out_degree, long long rows,
                                 long long sources, long long edges) {
  const long long e = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (e < edges) atomicAdd(&out_degree[indices[e]], 1);
}
