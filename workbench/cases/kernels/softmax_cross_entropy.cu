// workbench/cases/kernels/softmax_cross_entropy.cu - start kernel: a row a thread, three passes.
// launch cross_entropy block=128 grid=ceil(n, 128)
extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* loss, float* grad, long long n,
                                         long long c) {
  const long long i = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= n) return;
  const float* const z = logits + i * c;
  float top = z[0], total = 0.0f;
  for (long long j = 1; j < c; ++j) top = fmaxf(top, z[j]);
  for (long long j = 0; j < c; ++j) total += expf(z[j] - top);
  for (long long j = 0; j < c; ++j) {
    const float hot = j == labels[i] ? 1.0f : 0.0f;
    grad[i * c + j] = (expf(z[j] - top) / total - hot) / static_cast<float>(n);
  }
  loss[i] = logf(total) + top - z[labels[i]];
}
