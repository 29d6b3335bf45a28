// models/kernels/filled_rows.cu - see filled_rows.h.
//
// Work split  CUB's scans of counts of rows; then a thread a row, a place and a destination in one kernel, and eight
//             lanes for the entries of a row.
// Access      rows in their order; scattered words are of arrays that the L2 cache holds.
// Limit       latency: four launches, and two more for the scans.
// Sync        none.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>

#include <algorithm>

#include "core/cuda/cuda.h"
#include "models/kernels/filled_rows.h"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

struct IsFilled {
  const LocalId* indptr;
  std::int64_t num_rows;
  __device__ LocalId operator()(std::int64_t row) const {
    return row < num_rows && indptr[row] < indptr[row + 1] ? 1 : 0;
  }
};

struct EntriesOf {
  RowOrder order;
  __device__ LocalId operator()(std::int64_t i) const {
    if (i == order.num_rows) return 0;
    const LocalId row = order.rows[i];
    return order.indptr[row + 1] - order.indptr[row];
  }
};

__global__ void __launch_bounds__(kThreadsPerBlock) fill_kernel(SlotRows rows, FilledRowArrays to) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  for (std::int64_t row = first; row < rows.num_rows; row += stride) {
    const LocalId begin = __ldg(rows.indptr + row), end = __ldg(rows.indptr + row + 1);
    if (begin == end) continue;
    const LocalId number = __ldg(to.filled_before + row);
    to.indptr[number] = begin;
    to.dst[number] = __ldg(rows.row_dst + row);
  }
  for (std::int64_t place = first; place < rows.num_filled; place += stride) {
    const LocalId row = __ldg(rows.relation_rows + place), number = __ldg(to.filled_before + row);
    to.dst_by_relation[place] = __ldg(rows.row_dst + row);
    to.in_hop[place] = number;
    to.by_relation[number] = static_cast<LocalId>(place);
  }
  for (std::int64_t i = first; i <= rows.num_dst; i += stride)
    to.dst_indptr[i] = __ldg(to.filled_before + __ldg(rows.row_begin + i));
  if (first == 0) to.indptr[rows.num_filled] = __ldg(rows.indptr + rows.num_rows);
}

constexpr int kLogLanes = 3;

__global__ void __launch_bounds__(kThreadsPerBlock)
    copy_entries_kernel(RowOrder order, const LocalId* __restrict__ to_indptr, LocalId* __restrict__ to_indices) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> kLogLanes;
  const int lane = static_cast<int>(thread) & ((1 << kLogLanes) - 1);
  for (std::int64_t i = thread >> kLogLanes; i < order.num_rows; i += stride) {
    const LocalId row = __ldg(order.rows + i), to = __ldg(to_indptr + i);
    const LocalId begin = __ldg(order.indptr + row), count = __ldg(order.indptr + row + 1) - begin;
    for (LocalId k = lane; k < count; k += 1 << kLogLanes) to_indices[to + k] = __ldg(order.indices + begin + k);
  }
}

// ---- host code -------------------------------------------------------------------------------------------

/// to[i] = the sum of value(0) .. value(i - 1), for i in [0, count].
template <class Value>
cudaError_t sum_before(void* scratch, std::size_t& bytes, const Value& value, LocalId* to, std::int64_t count,
                       cudaStream_t stream) {
  const auto values = thrust::make_transform_iterator(thrust::make_counting_iterator<std::int64_t>(0), value);
  return cub::DeviceScan::ExclusiveSum(scratch, bytes, values, to, count + 1, stream);
}

}  // namespace

std::size_t filled_rows_scratch_bytes(std::int64_t num_rows) {
  std::size_t filled = 0, entries = 0;
  cuda_check(sum_before(nullptr, filled, IsFilled{}, nullptr, num_rows, nullptr));
  cuda_check(sum_before(nullptr, entries, EntriesOf{}, nullptr, num_rows, nullptr));
  return std::max(filled, entries);
}

void find_filled_rows(const SlotRows& rows, const FilledRowArrays& to, void* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  cuda_check(sum_before(scratch, scratch_bytes, IsFilled{rows.indptr, rows.num_rows}, to.filled_before, rows.num_rows,
                        stream));
  fill_kernel<<<blocks_for(std::max(rows.num_rows, rows.num_dst + 1)), kThreadsPerBlock, 0, stream>>>(rows, to);
  cuda_check(cudaGetLastError());
}

void reorder_rows(const RowOrder& order, LocalId* to_indptr, LocalId* to_indices, void* scratch,
                  std::size_t scratch_bytes, cudaStream_t stream) {
  cuda_check(sum_before(scratch, scratch_bytes, EntriesOf{order}, to_indptr, order.num_rows, stream));
  if (order.num_rows == 0) return;
  copy_entries_kernel<<<blocks_for(order.num_rows << kLogLanes), kThreadsPerBlock, 0, stream>>>(order, to_indptr,
                                                                                                to_indices);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
