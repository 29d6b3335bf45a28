// workbench/cases/kernels/top_k.cu - start kernel: a row a warp, a pass over the scores for each result.
// launch top_k block=128 grid=ceil(n,4)
extern "C" __global__ void top_k(const float* scores, float* values, int* places, long long n, long long m,
                                 long long k) {
  const long long i = blockIdx.x * 4ll + threadIdx.x / 32;
  if (i >= n) return;
  const float* const row = scores + i * m;
  float last_score = 0.0f;
  int last = -1;
  for (long long j = 0; j < k; ++j) {
    float score = 0.0f;
    int best = -1;
    for (int t = threadIdx.x % 32; t < m && j < m; t += 32) {
      const float one = row[t];
      const bool is_left = last < 0 || one < last_score || (one == last_score && t > last);
      if (is_left && (best < 0 || one > score)) best = t, score = one;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
      const float other_score = __shfl_xor_sync(0xFFFFFFFFu, score, apart);
      const int other = __shfl_xor_sync(0xFFFFFFFFu, best, apart);
      const bool is_better = best < 0 || other_score > score || (other_score == score && other < best);
      if (other >= 0 && is_better) best = other, score = other_score;
    }
    if (threadIdx.x % 32 == 0) {
      values[i * k + j] = best < 0 ? 0.0f : score;
      places[i * k + j] = best;
    }
    last = best, last_score = score;
  }
}
