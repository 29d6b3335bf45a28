// workbench/cases/kernels/gather_rows.cu - start kernel: the engine's, loaders/gather_rows.cu. A group of lanes a row.
// launch gather_rows block=256 grid=min(8192, ceil(n, max(1, 256/min(32, max(1, ceil(width, 8))))))
#include <cuda_fp16.h>

template <class Word>
__device__ void gather(const void* table, const unsigned* row_of, void* out, long long n, long long row_words) {
  unsigned lanes = 1;
  while (lanes < 32 && lanes < row_words) lanes *= 2;
  const unsigned lane = threadIdx.x % lanes, rows_per_block = 256 / lanes;
  const Word* const words = static_cast<const Word*>(table);
  Word* const target = static_cast<Word*>(out);
  for (long long i = blockIdx.x * static_cast<long long>(rows_per_block) + threadIdx.x / lanes; i < n;
       i += static_cast<long long>(gridDim.x) * rows_per_block) {
    const Word* const from = words + row_of[i] * row_words;
    for (long long w = lane; w < row_words; w += lanes) target[i * row_words + w] = from[w];
  }
}

extern "C" __global__ void __launch_bounds__(256)
    gather_rows(const __half* __restrict__ table, const unsigned* __restrict__ index, __half* __restrict__ out,
                long long n, long long table_rows, long long width) {
  if (width % 8 == 0)
    gather<uint4>(table, index, out, n, width / 8);
  else if (width % 4 == 0)
    gather<uint2>(table, index, out, n, width / 4);
  else if (width % 2 == 0)
    gather<unsigned>(table, index, out, n, width / 2);
  else
    gather<unsigned short>(table, index, out, n, width);
}
