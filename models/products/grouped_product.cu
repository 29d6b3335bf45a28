// models/products/grouped_product.cu - see grouped_product.h.
//
// Work split  a block per tile of 128 rows of a group, or per part of a group's rows for the gradient of its matrix;
//             which group that is, it finds in a table among the kernel's arguments.
// Access, precision, limit  those of tf32x3_kernel.cuh, whose tiles these are.
// Sync        none between blocks; a second kernel adds up the parts of a gradient.
#include "models/products/grouped_product.h"

#include <algorithm>

#include "core/cuda/cuda.h"
#include "core/cuda/device_attribute.h"
#include "models/kernels/launch.cuh"
#include "models/products/tf32x3_kernel.cuh"

namespace salient {
namespace {

using split::Order;
using split::Problem;
using tf32x3::kThreadsFor;

constexpr int kTile = split::kTile, kMostGroups = 200;  // of a launch: a kernel has 4 KiB of arguments

/// Groups of a launch, and the units of work that each has.
struct GroupTable {
  int count;
  std::int32_t begin[kMostGroups + 1], first_unit[kMostGroups + 1];

  int num_units() const { return first_unit[count]; }

  /// Of these groups of `shape`; a unit is `rows_of_unit` rows of one.
  static GroupTable make(const GroupedShape& shape, std::size_t first, std::int64_t rows_of_unit) {
    GroupTable table{};
    table.count = static_cast<int>(std::min<std::size_t>(kMostGroups, shape.begin.size() - 1 - first));
    for (int g = 0; g <= table.count; ++g) {
      const std::size_t at = first + static_cast<std::size_t>(g);
      table.begin[g] = static_cast<std::int32_t>(shape.begin[at]);
      if (g == table.count) break;
      const std::int64_t rows = shape.begin[at + 1] - shape.begin[at];
      table.first_unit[g + 1] =
          table.first_unit[g] + static_cast<std::int32_t>((rows + rows_of_unit - 1) / rows_of_unit);
    }
    return table;
  }

  __device__ int group_of(int unit) const {  // the last one that begins there or before: it has units
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first_unit[middle] <= unit ? low : high) = middle;
    }
    return low;
  }
};

// ---- device code -----------------------------------------------------------------------------------------

struct RowProducts {
  const float* x;
  split::Matrix weight;  ///< of the first group and block
  std::int64_t group, block;
  float* y;
  std::int64_t in;
};

template <Order kB, int kColumns, bool kIsSplit>
__global__ void __launch_bounds__(kThreadsFor<kColumns>, kTile / kColumns)
    rows_kernel(const __grid_constant__ GroupTable groups, const RowProducts p) {
  const int unit = static_cast<int>(blockIdx.x), g = groups.group_of(unit);
  const std::int64_t begin = groups.begin[g], b = blockIdx.z, x_width = p.in * gridDim.z,
                     y_width = p.weight.count * gridDim.z;
  Problem problem{{p.x + begin * x_width + b * p.in, x_width, groups.begin[g + 1] - begin, Order::kAlongSum},
                  p.weight,
                  p.in,
                  p.in,
                  1,
                  nullptr,
                  false};
  problem.b.data += g * p.group + b * p.block;
  tf32x3::multiply_tile<Order::kAlongSum, kB, kColumns, kIsSplit>(
      problem, {p.y + begin * y_width + b * p.weight.count, y_width, false},
      std::int64_t{unit - groups.first_unit[g]} * kTile, std::int64_t{blockIdx.y} * kColumns, 0, p.in);
}

struct GradientParts {
  GroupedFactors factors;
  std::int64_t in, out, part_rows;
  float* parts;  ///< [units, blocks, in, out]
};

template <int kColumns, bool kIsSplit>
__global__ void __launch_bounds__(kThreadsFor<kColumns>, kTile / kColumns)
    gradient_kernel(const __grid_constant__ GroupTable groups, const GradientParts p) {
  const int unit = static_cast<int>(blockIdx.x), g = groups.group_of(unit);
  const std::int64_t begin = groups.begin[g], rows = groups.begin[g + 1] - begin, b = blockIdx.z;
  const std::int64_t x_width = p.in * gridDim.z, y_width = p.out * gridDim.z;
  const Problem problem{{p.factors.x + begin * x_width + b * p.in, x_width, p.in, Order::kAcrossSum},
                        {p.factors.grad + begin * y_width + b * p.out, y_width, p.out, Order::kAcrossSum},
                        rows,
                        rows,
                        1,
                        nullptr,
                        false};
  const std::int64_t tiles_across = (p.out + kColumns - 1) / kColumns;
  const std::int64_t first_row = (unit - groups.first_unit[g]) * p.part_rows;
  tf32x3::multiply_tile<Order::kAcrossSum, Order::kAcrossSum, kColumns, kIsSplit>(
      problem, {p.parts + (std::int64_t{unit} * gridDim.z + b) * p.in * p.out, p.out, false},
      blockIdx.y / tiles_across * kTile, blockIdx.y % tiles_across * kColumns, first_row,
      first_row + p.part_rows < rows ? first_row + p.part_rows : rows);
}

/// A thread per four elements of a group's gradient; the parts are added up in the order of the rows.
__global__ void __launch_bounds__(kThreadsPerBlock)
    sum_units_kernel(const __grid_constant__ GroupTable groups, const float4* __restrict__ parts, std::int64_t fours,
                     float4* __restrict__ gradient) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  if (i >= fours) return;
  float4 sum{};
#pragma unroll 4
  for (int unit = groups.first_unit[blockIdx.y]; unit < groups.first_unit[blockIdx.y + 1]; ++unit) {
    const float4 more = __ldg(parts + unit * fours + i);
    sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
  }
  gradient[blockIdx.y * fours + i] = sum;
}

// ---- host code -------------------------------------------------------------------------------------------

unsigned tiles(std::int64_t count, std::int64_t of) { return static_cast<unsigned>((count + of - 1) / of); }

template <Order kA, Order kB, int kColumns>
constexpr int kSharedBytes = tf32x3::kStages* tf32x3::kStageFloats<kA, kB, kColumns>* static_cast<int>(sizeof(float));

/// launch(columns of a tile, whether factors are split), both as constants.
template <class Launch>
void with_tiles(std::int64_t columns, bool is_exact, const Launch& launch) {
  const auto with_columns = [&](auto width) {
    is_exact ? launch(width, std::true_type{}) : launch(width, std::false_type{});
  };
  columns <= 64 ? with_columns(std::integral_constant<int, 64>{}) : with_columns(std::integral_constant<int, 128>{});
}

template <Order kB>
void launch_rows(const GroupTable& table, const RowProducts& p, std::int64_t blocks, bool is_exact,
                 cudaStream_t stream) {
  with_tiles(p.weight.count, is_exact, [&](auto columns, auto is_split) {
    constexpr int kColumns = columns(), kShared = kSharedBytes<Order::kAlongSum, kB, kColumns>;
    const auto kernel = rows_kernel<kB, kColumns, is_split()>;
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    const dim3 grid(static_cast<unsigned>(table.num_units()), tiles(p.weight.count, kColumns),
                    static_cast<unsigned>(blocks));
    kernel<<<grid, kThreadsFor<kColumns>, kShared, stream>>>(table, p);
    cuda_check(cudaGetLastError());
  });
}

void launch_gradient(const GroupTable& table, const GradientParts& p, std::int64_t blocks, bool is_exact,
                     cudaStream_t stream) {
  with_tiles(p.out, is_exact, [&](auto columns, auto is_split) {
    constexpr int kColumns = columns(), kShared = kSharedBytes<Order::kAcrossSum, Order::kAcrossSum, kColumns>;
    const auto kernel = gradient_kernel<kColumns, is_split()>;
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    const dim3 grid(static_cast<unsigned>(table.num_units()), tiles(p.in, kTile) * tiles(p.out, kColumns),
                    static_cast<unsigned>(blocks));
    kernel<<<grid, kThreadsFor<kColumns>, kShared, stream>>>(table, p);
    cuda_check(cudaGetLastError());
  });
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// Rows of a part of a gradient: two blocks a multiprocessor, and no part so short that adding it up costs as much.
std::int64_t part_rows(const GroupedShape& shape) {
  constexpr std::int64_t kLeastRows = 256;
  const std::int64_t columns = shape.out <= 64 ? 64 : 128;
  const std::int64_t of_part = std::int64_t{tiles(shape.in, kTile)} * tiles(shape.out, columns) * shape.blocks;
  const std::int64_t wanted = std::max<std::int64_t>(1, 2 * device_attribute(cudaDevAttrMultiProcessorCount) / of_part);
  const std::int64_t rows = std::max(kLeastRows, (shape.num_rows() + wanted - 1) / wanted);
  return (rows + tf32x3::kDepth - 1) / tf32x3::kDepth * tf32x3::kDepth;
}

}  // namespace

bool has_grouped_product(const GroupedShape& shape, const GroupedWeight& weight) {
  constexpr std::int64_t kLargeProduct = std::int64_t{1} << 31;  // of a group, where a launch of its own costs nothing
  const auto num_groups = static_cast<std::int64_t>(shape.begin.size()) - 1;
  if (shape.num_rows() * shape.blocks * shape.in * shape.out > num_groups * kLargeProduct) return false;
  constexpr int kMostShared = std::max(kSharedBytes<Order::kAlongSum, Order::kAlongSum, kTile>,
                                       kSharedBytes<Order::kAcrossSum, Order::kAcrossSum, kTile>);
  const bool has_rows = weight.out == 1 && weight.in % 4 == 0, has_columns = weight.in == 1 && weight.out % 4 == 0;
  return shape.in % 8 == 0 && shape.out % 8 == 0 && (has_rows || has_columns) && weight.group % 4 == 0 &&
         weight.block % 4 == 0 && is_aligned(weight.data) && device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
         device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= kMostShared;
}

void grouped_product(const GroupedShape& shape, const float* x, const GroupedWeight& weight, float* y, bool is_exact,
                     cudaStream_t stream) {
  const bool has_rows = weight.out == 1;  // of terms: a term has an element of each column of y
  for (std::size_t first = 0; first + 1 < shape.begin.size(); first += kMostGroups) {
    const GroupTable table = GroupTable::make(shape, first, kTile);
    if (table.num_units() == 0) continue;
    const RowProducts p{x,
                        {weight.data + static_cast<std::int64_t>(first) * weight.group,
                         has_rows ? weight.in : weight.out, shape.out, has_rows ? Order::kAcrossSum : Order::kAlongSum},
                        weight.group,
                        weight.block,
                        y,
                        shape.in};
    has_rows ? launch_rows<Order::kAcrossSum>(table, p, shape.blocks, is_exact, stream)
             : launch_rows<Order::kAlongSum>(table, p, shape.blocks, is_exact, stream);
  }
}

std::int64_t grouped_gradient_workspace(const GroupedShape& shape) {
  const std::int64_t rows = part_rows(shape);
  std::int64_t units = 0, most = 0;
  for (std::size_t first = 0; first + 1 < shape.begin.size(); first += kMostGroups) {
    units = GroupTable::make(shape, first, rows).num_units();
    most = std::max(most, units);
  }
  return most * shape.blocks * shape.in * shape.out;
}

void grouped_weight_gradient(const GroupedShape& shape, const GroupedFactors& factors, float* gradient,
                             float* workspace, bool is_exact, cudaStream_t stream) {
  const std::int64_t size = shape.blocks * shape.in * shape.out;
  const std::int64_t rows = part_rows(shape);
  for (std::size_t first = 0; first + 1 < shape.begin.size(); first += kMostGroups) {
    const GroupTable table = GroupTable::make(shape, first, rows);
    if (table.num_units() > 0)
      launch_gradient(table, {factors, shape.in, shape.out, rows, workspace}, shape.blocks, is_exact, stream);
    const dim3 grid(tiles(size / 4, kThreadsPerBlock), static_cast<unsigned>(table.count));
    sum_units_kernel<<<grid, kThreadsPerBlock, 0, stream>>>(
        table, reinterpret_cast<const float4*>(workspace), size / 4,
        reinterpret_cast<float4*>(gradient + static_cast<std::int64_t>(first) * size));
    cuda_check(cudaGetLastError());
  }
}

}  // namespace salient
