// workbench/cases/kernels/merge_attn_states_lse.cu - start kernel: a pair of token and head a block, every thread
// repeats the weights.
// launch merge block=128 grid=n*h
extern "C" __global__ void merge(const float* v_a, const float* s_a, const float* v_b, const float* s_b, float* v_out,
                                 float* s_out, long long n, long long h, long long d) {
  const long long row = blockIdx.x;
  const float top = fmaxf(s_a[row], s_b[row]);
  const float a = expf(s_a[row] - top), b = expf(s_b[row] - top);
  for (long long j = threadIdx.x; j < d; j += 128)
    v_out[row * d + j] = (a * v_a[row * d + j] + b * v_b[row * d + j]) / (a + b);
  if (threadIdx.x == 0) s_out[row] = logf(a + b) + top;
}
