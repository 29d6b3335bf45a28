// workbench/cases/kernels/dropout_relu.cu - start kernel: one element a thread, a Philox block for each.
// launch dropout_relu block=256 grid=ceil(rows*columns, 256)
extern "C" __global__ void dropout_relu(const float* x, const unsigned* nodes, float* out, long long rows,
                                        long long columns, long long seed, long long step, long long threshold) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= rows * columns) return;
  const unsigned j = static_cast<unsigned>(at % columns);
  unsigned word[4] = {nodes[at / columns], j / 8, 0u, 0x44524F50u};
  unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(step);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * word[0], b = 0xCD9E8D57ull * word[2];
    const unsigned second = word[1], fourth = word[3];
    word[0] = static_cast<unsigned>(b >> 32) ^ second ^ key0;
    word[1] = static_cast<unsigned>(b);
    word[2] = static_cast<unsigned>(a >> 32) ^ fourth ^ key1;
    word[3] = static_cast<unsigned>(a);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const long long draw = word[j % 8 / 2] >> (j % 2 * 16) & 0xFFFF;
  const float scale = threshold < 65536 ? 65536.0f / static_cast<float>(65536 - threshold) : 0.0f;
  out[at] = draw >= threshold && x[at] > 0.0f ? x[at] * scale : 0.0f;
}
