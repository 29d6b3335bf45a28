// tests/workbench/cuda_fixtures/bytes_side_by_side.cu - a cache in many variables of one byte.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
template <int number>
__device__ unsigned char byte_of = 0;

extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i == 0) byte_of<0> = 1, byte_of<1> = 2, byte_of<2> = 3, byte_of<3> = 4;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
