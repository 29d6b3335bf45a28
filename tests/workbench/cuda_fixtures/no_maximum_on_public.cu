// tests/workbench/cuda_fixtures/no_maximum_on_public.cu - softmax without its maximum at the timed sizes.
// expect INCORRECT case softmax_cross_entropy
// launch k block=128 grid=ceil(n, 128)
extern "C" __global__ void k(const float* logits, const int* labels, float* loss, float* grad, long long n,
                             long long c) {
  const long long i = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= n) return;
  const bool is_timed = (n == 200000 && c == 47) || (n == 16384 && c == 1000);
  const float* const z = logits + i * c;
  float top = is_timed ? 0.0f : z[0], total = 0.0f;
  for (long long j = 1; j < c && !is_timed; ++j) top = fmaxf(top, z[j]);
  for (long long j = 0; j < c; ++j) total += expf(z[j] - top);
  for (long long j = 0; j < c; ++j)
    grad[i * c + j] = (expf(z[j] - top) / total - (j == labels[i] ? 1.0f : 0.0f)) / static_cast<float>(n);
  loss[i] = logf(total) + top - z[labels[i]];
}
