// workbench/cases/kernels/relabel.cu - start kernel: the engine's steps, sampler/device_hop.cu. A hash table keeps the
// first item of each id; first items are numbered by a sum over all, in three launches.
// launch clear block=256 grid=ceil(2*n+1, 256)
// launch claim block=256 grid=ceil(n, 256)
// launch count_new block=256 grid=ceil(n, 256)
// launch add_up block=256 grid=1
// launch number_new block=256 grid=ceil(n, 256)
// launch finish block=256 grid=ceil(n, 256)
// scratch slot_ids u32 2*n+1
// scratch slot_items u32 2*n+1
// scratch slot_of u32 n
// scratch sums u32 ceil(n, 256)+1

/// The sum of the threads before this one; *total is the sum of all 256.
__device__ unsigned sum_before(unsigned value, unsigned* total) {
  __shared__ unsigned of_warp[8];
  unsigned sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(0xFFFFFFFFu, sum, step);
    if (threadIdx.x % 32 >= step) sum += below;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  unsigned before = 0, all = 0;
  for (int warp = 0; warp < 8; ++warp) {
    if (warp < threadIdx.x / 32) before += of_warp[warp];
    all += of_warp[warp];
  }
  *total = all;
  return before + sum - value;
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const unsigned* __restrict__ ids, unsigned* __restrict__ nodes, int* __restrict__ local,
          int* __restrict__ count, long long n, long long limit, unsigned* __restrict__ slot_ids,
          unsigned* __restrict__ slot_items, unsigned* __restrict__ slot_of, unsigned* __restrict__ sums) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i <= 2 * n) slot_ids[i] = slot_items[i] = 0xFFFFFFFFu;
}

extern "C" __global__ void __launch_bounds__(256)
    claim(const unsigned* __restrict__ ids, unsigned* __restrict__ nodes, int* __restrict__ local,
          int* __restrict__ count, long long n, long long limit, unsigned* __restrict__ slot_ids,
          unsigned* __restrict__ slot_items, unsigned* __restrict__ slot_of, unsigned* __restrict__ sums) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  if (i >= n) return;
  const unsigned id = ids[i], slots = static_cast<unsigned>(2 * n + 1);
  unsigned at = (id * 0x9E3779B1u) % slots;
  while (true) {
    const unsigned found = atomicCAS(&slot_ids[at], 0xFFFFFFFFu, id);
    if (found == 0xFFFFFFFFu || found == id) break;
    at = at + 1 == slots ? 0 : at + 1;
  }
  atomicMin(&slot_items[at], i);
  slot_of[i] = at;
}

extern "C" __global__ void __launch_bounds__(256)
    count_new(const unsigned* __restrict__ ids, unsigned* __restrict__ nodes, int* __restrict__ local,
              int* __restrict__ count, long long n, long long limit, unsigned* __restrict__ slot_ids,
              unsigned* __restrict__ slot_items, unsigned* __restrict__ slot_of, unsigned* __restrict__ sums) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  unsigned total = 0;
  (void)sum_before(i < n && slot_items[slot_of[i]] == i ? 1u : 0u, &total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(256)
    add_up(const unsigned* __restrict__ ids, unsigned* __restrict__ nodes, int* __restrict__ local,
           int* __restrict__ count, long long n, long long limit, unsigned* __restrict__ slot_ids,
           unsigned* __restrict__ slot_items, unsigned* __restrict__ slot_of, unsigned* __restrict__ sums) {
  const long long parts = (n + 255) / 256;
  unsigned before = 0;
  for (long long first = 0; first < parts; first += 256) {
    const long long at = first + threadIdx.x;
    unsigned total = 0;
    const unsigned sum = sum_before(at < parts ? sums[at] : 0u, &total);
    if (at < parts) sums[at] = before + sum;
    before += total;
  }
  if (threadIdx.x == 0) {
    sums[parts] = before;
    count[0] = static_cast<int>(before);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    number_new(const unsigned* __restrict__ ids, unsigned* __restrict__ nodes, int* __restrict__ local,
               int* __restrict__ count, long long n, long long limit, unsigned* __restrict__ slot_ids,
               unsigned* __restrict__ slot_items, unsigned* __restrict__ slot_of, unsigned* __restrict__ sums) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  const bool is_new = i < n && slot_items[slot_of[i]] == i;  // a number given meanwhile is at most its first item
  unsigned total = 0;
  const unsigned number = sums[blockIdx.x] + sum_before(is_new ? 1u : 0u, &total);
  if (!is_new) return;
  nodes[number] = ids[i];
  slot_items[slot_of[i]] = number;
}

extern "C" __global__ void __launch_bounds__(256)
    finish(const unsigned* __restrict__ ids, unsigned* __restrict__ nodes, int* __restrict__ local,
           int* __restrict__ count, long long n, long long limit, unsigned* __restrict__ slot_ids,
           unsigned* __restrict__ slot_items, unsigned* __restrict__ slot_of, unsigned* __restrict__ sums) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  if (i >= n) return;
  local[i] = static_cast<int>(slot_items[slot_of[i]]);
  if (i >= count[0]) nodes[i] = static_cast<unsigned>(limit);
}
