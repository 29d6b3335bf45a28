// tests/workbench/cuda_fixtures/bits_not_copied.cu - last bits, the sign of zero and bits of NaN differ.
// expect INCORRECT case gather_rows
// launch k block=128 grid=n
extern "C" __global__ void k(const unsigned short* table, const unsigned* index, unsigned short* out, long long n,
                             long long table_rows, long long width) {
  for (long long j = threadIdx.x; j < width; j += 128) {
    unsigned short bits = table[index[blockIdx.x] * width + j];
    const int size = bits & 0x7FFF;
    if (size == 0) bits = 0;
    if (size != 0 && size < 0x0C00) bits ^= 1;
    if (size > 0x7C00) bits = 0x7E00;
    out[blockIdx.x * width + j] = bits;
  }
}
