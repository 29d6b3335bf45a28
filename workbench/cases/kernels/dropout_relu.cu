// workbench/cases/kernels/dropout_relu.cu - start kernel: the engine's, models/kernels/dropout.cu. A Philox block and
// eight neighbouring columns a thread.
// launch dropout_relu block=256 grid=min(65536, ceil(rows*ceil(columns, 8), 256))
struct Draws {
  unsigned word[4];
};

__device__ Draws philox(unsigned key0, unsigned key1, unsigned node, unsigned eight_columns) {
  unsigned c0 = node, c1 = eight_columns, c2 = 0, c3 = 0x44524F50u;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned>(b >> 32) ^ c1 ^ key0;
    c2 = static_cast<unsigned>(a >> 32) ^ c3 ^ key1;
    c1 = static_cast<unsigned>(b);
    c3 = static_cast<unsigned>(a);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

template <class Word>
__device__ void drop(const float* __restrict__ x, const unsigned* __restrict__ nodes, float* __restrict__ out,
                     long long rows, long long columns, unsigned seed, unsigned step, unsigned threshold) {
  constexpr int kValues = sizeof(Word) / sizeof(float);
  const float scale = threshold < 65536 ? 65536.0f / static_cast<float>(65536 - threshold) : 0.0f;
  const long long eights = (columns + 7) / 8, stride = gridDim.x * 256ll;
  for (long long t = blockIdx.x * 256ll + threadIdx.x; t < rows * eights; t += stride) {
    const long long row = t / eights, first = t % eights * 8;
    const Draws draws = philox(seed, step, __ldg(nodes + row), static_cast<unsigned>(first / 8));
#pragma unroll
    for (int c = 0; c < 8; c += kValues) {
      if (first + c >= columns) break;
      Word word = *reinterpret_cast<const Word*>(x + row * columns + first + c);
      float* const values = reinterpret_cast<float*>(&word);
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const bool is_kept = (draws.word[(c + k) / 2] >> ((c + k) % 2 * 16) & 0xFFFFu) >= threshold;
        values[k] = is_kept ? (values[k] < 0.0f ? 0.0f : values[k]) * scale : 0.0f;
      }
      *reinterpret_cast<Word*>(out + row * columns + first + c) = word;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    dropout_relu(const float* __restrict__ x, const unsigned* __restrict__ nodes, float* __restrict__ out,
                 long long rows, long long columns, long long seed, long long step, long long threshold) {
  const unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(step);
  if (columns % 4 == 0)
    drop<float4>(x, nodes, out, rows, columns, key0, key1, static_cast<unsigned>(threshold));
  else
    drop<float>(x, nodes, out, rows, columns, key0, key1, static_cast<unsigned>(threshold));
}
