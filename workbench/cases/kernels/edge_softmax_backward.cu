// workbench/cases/kernels/edge_softmax_backward.cu - start kernel: a row and head a thread, two passes.
// launch edge_softmax_backward block=128 grid=ceil(rows*heads,128)
extern "C" __global__ void edge_softmax_backward(const float* alpha, const int* indptr, const float* grad_alpha,
                                                 float* grad_logits, long long rows, long long edges, long long heads) {
  const long long thread = blockIdx.x * 128ll + threadIdx.x, row = thread / heads, k = thread % heads;
  if (row >= rows) return;
  const long long first = indptr[row], last = indptr[row + 1];
  float total = 0.0f;
  for (long long e = first; e < last; ++e) total += alpha[e * heads + k] * grad_alpha[e * heads + k];
  for (long long e = first; e < last; ++e)
    grad_logits[e * heads + k] = alpha[e * heads + k] * (grad_alpha[e * heads + k] - total);
}
