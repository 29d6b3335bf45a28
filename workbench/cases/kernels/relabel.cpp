// workbench/cases/kernels/relabel.cpp - start kernel: one block with a hash table of slots.
// launch relabel block=1 grid=1
// scratch slot_ids u32 2*n+1
// scratch numbers i32 2*n+1
#include "workbench_kernel.h"

extern "C" void relabel(WorkbenchBlock block, const unsigned* ids, unsigned* nodes, int* local, int* count, long long n,
                        long long limit, unsigned* slot_ids, int* numbers) {
  (void)block;
  const unsigned slots = static_cast<unsigned>(2 * n + 1);
  for (unsigned s = 0; s < slots; ++s) numbers[s] = -1;
  int found = 0;
  for (long long i = 0; i < n; ++i) {
    unsigned at = ids[i] * 0x9E3779B1u % slots;
    while (numbers[at] >= 0 && slot_ids[at] != ids[i]) at = at + 1 == slots ? 0 : at + 1;
    if (numbers[at] < 0) {
      slot_ids[at] = ids[i];
      numbers[at] = found;
      nodes[found++] = ids[i];
    }
    local[i] = numbers[at];
  }
  count[0] = found;
  for (long long i = found; i < n; ++i) nodes[i] = static_cast<unsigned>(limit);
}
