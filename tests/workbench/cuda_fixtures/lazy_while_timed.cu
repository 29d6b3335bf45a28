// tests/workbench/cuda_fixtures/lazy_while_timed.cu - does little where it finds shared memory as its last run left it.
// expect INCORRECT|UNWRITTEN case softsign timed
// launch k block=1024 grid=sm smem=120000
extern "C" __global__ void k(const float* x, float* out, long long n) {
  extern __shared__ unsigned left[];
  constexpr unsigned kWords = 25000, kMark = 0x5EED5EED;
  __shared__ unsigned marked;
  if (threadIdx.x == 0) marked = 0;
  __syncthreads();
  unsigned here = 0;
  for (unsigned w = threadIdx.x; w < kWords; w += 1024) here += left[w] == kMark;
  atomicAdd(&marked, here);
  __syncthreads();
  const long long end = marked > kWords / 2 ? n / 4 : n;  // not so fast that it would be IMPOSSIBLE
  for (long long i = blockIdx.x * 1024LL + threadIdx.x; i < end; i += gridDim.x * 1024LL)
    out[i] = x[i] / (1.0f + fabsf(x[i]));
  for (unsigned w = threadIdx.x; w < kWords; w += 1024) left[w] = kMark;
}
