// workbench/cases/kernels/edge_softmax.cu - start kernel: a row and head a thread, three passes.
// launch edge_softmax block=128 grid=ceil(rows*heads,128)
extern "C" __global__ void edge_softmax(const float* logits, const int* indptr, float* alpha, long long rows,
                                        long long edges, long long heads) {
  const long long thread = blockIdx.x * 128ll + threadIdx.x, row = thread / heads, k = thread % heads;
  if (row >= rows) return;
  const long long first = indptr[row], last = indptr[row + 1];
  float top = -INFINITY, total = 0.0f;
  for (long long e = first; e < last; ++e) top = fmaxf(top, logits[e * heads + k]);
  for (long long e = first; e < last; ++e) total += expf(logits[e * heads + k] - top);
  for (long long e = first; e < last; ++e) alpha[e * heads + k] = expf(logits[e * heads + k] - top) / total;
}
