// models/products/split_product.cu - see split_product.h; the kernels are in tf32x3_kernel.cuh and bf16x6_kernel.cuh.
#include "models/products/split_product.h"

#include <algorithm>

#include "core/cuda/device_attribute.h"
#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/bf16x6_product.h"
#include "models/products/tf32x3_kernel.cuh"

namespace salient {
namespace {

using split::Order;
using split::Problem;

// ---- device code -----------------------------------------------------------------------------------------

/// out = the sum of `parts` matrices, the first one first. A thread has four neighbouring elements.
__global__ void __launch_bounds__(kThreadsPerBlock)
    sum_parts_kernel(const float4* __restrict__ parts, int num_parts, std::int64_t count, float4* __restrict__ out) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    float4 sum = parts[i];
#pragma unroll 8
    for (int part = 1; part < num_parts; ++part) {
      const float4 more = parts[part * count + i];
      sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
    }
    out[i] = sum;
  }
}

// ---- host code -------------------------------------------------------------------------------------------

constexpr std::int64_t kLeastPartDepth = 512;

template <Order kA, Order kB>
constexpr int kSharedBytes = tf32x3::kStages* tf32x3::kStageFloats<kA, kB>* static_cast<int>(sizeof(float));

std::int64_t tiles(std::int64_t count) { return (count + split::kTile - 1) / split::kTile; }

template <Order kA, Order kB>
void launch_tf32x3(const Problem& problem, cudaStream_t stream) {
  const auto kernel = tf32x3::product_kernel<kA, kB>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes<kA, kB>));
  const dim3 blocks(static_cast<unsigned>(tiles(problem.a.count) * tiles(problem.b.count)),
                    static_cast<unsigned>(problem.num_parts));
  kernel<<<blocks, tf32x3::kThreads, kSharedBytes<kA, kB>, stream>>>(problem);
  cuda_check(cudaGetLastError());
}

void launch(Splitting splitting, const Problem& problem, cudaStream_t stream) {
  if (splitting == Splitting::kBf16x6)
    return bf16x6_product(problem, device_attribute(cudaDevAttrMultiProcessorCount), stream);
  if (problem.a.order == Order::kAcrossSum) return launch_tf32x3<Order::kAcrossSum, Order::kAcrossSum>(problem, stream);
  problem.b.order == Order::kAlongSum ? launch_tf32x3<Order::kAlongSum, Order::kAlongSum>(problem, stream)
                                      : launch_tf32x3<Order::kAlongSum, Order::kAcrossSum>(problem, stream);
}

/// Cuts the sum into parts, so that every multiprocessor has one.
void cut(Problem& problem, std::size_t room) {
  const std::int64_t size = problem.a.count * problem.b.count;
  const std::int64_t num_tiles = tiles(problem.a.count) * tiles(problem.b.count);
  const std::int64_t wanted = std::min({device_attribute(cudaDevAttrMultiProcessorCount) / num_tiles,
                                        problem.depth / kLeastPartDepth, static_cast<std::int64_t>(room) / size});
  const std::int64_t units = (problem.depth + split::kDepthUnit - 1) / split::kDepthUnit;
  const std::int64_t part_units = wanted <= 1 ? units : (units + wanted - 1) / wanted;
  problem.part_depth = part_units * split::kDepthUnit;
  problem.num_parts = (units + part_units - 1) / part_units;
}

void weight_gradient(Splitting splitting, const ProductShape& s, const ProductMatrices& m, std::span<float> workspace,
                     cudaStream_t stream) {
  auto* const result = static_cast<float*>(m.result);
  Problem problem{{static_cast<const float*>(m.first), s.out, s.out, Order::kAcrossSum},
                  {static_cast<const float*>(m.second), s.in, s.in, Order::kAcrossSum},
                  s.rows,
                  0,
                  0,
                  result,
                  false};
  cut(problem, workspace.size());
  if (problem.num_parts > 1) problem.out = workspace.data();
  launch(splitting, problem, stream);
  if (problem.num_parts == 1) return;
  const std::int64_t fours = s.in * s.out / 4;
  sum_parts_kernel<<<blocks_for(fours), kThreadsPerBlock, 0, stream>>>(reinterpret_cast<const float4*>(problem.out),
                                                                       static_cast<int>(problem.num_parts), fours,
                                                                       reinterpret_cast<float4*>(result));
  cuda_check(cudaGetLastError());
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

bool has_kernel(Splitting splitting) {
  constexpr int kMostShared =
      std::max({kSharedBytes<Order::kAlongSum, Order::kAlongSum>, kSharedBytes<Order::kAlongSum, Order::kAcrossSum>,
                kSharedBytes<Order::kAcrossSum, Order::kAcrossSum>});
  const int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
  if (splitting == Splitting::kBf16x6) return major == 9 && device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
  return major >= 8 && device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= kMostShared;
}

}  // namespace

bool has_split_product(Splitting splitting, const ProductShape& s, const ProductMatrices& m) {
  return s.inputs == ActivationType::kF32 && s.result == ActivationType::kF32 && !s.may_use_tf32 && s.rows > 0 &&
         s.rows < std::int64_t{1} << 31 && s.in % 8 == 0 && s.out % 8 == 0 && s.weight_stride % 4 == 0 &&
         is_aligned(m.first) && is_aligned(m.second) && is_aligned(m.result) && has_kernel(splitting);
}

void split_product(Splitting splitting, const ProductShape& s, const ProductMatrices& m, std::span<float> workspace,
                   cudaStream_t stream) {
  if (s.kind == ProductKind::kWeightGradient) return weight_gradient(splitting, s, m, workspace, stream);
  const bool is_forward = s.kind == ProductKind::kForward;
  const auto* const first = static_cast<const float*>(m.first);
  const auto* const second = static_cast<const float*>(m.second);
  const std::int64_t depth = is_forward ? s.in : s.out, width = is_forward ? s.out : s.in;
  const std::int64_t stride = s.weight_stride == 0 ? s.in : s.weight_stride;
  const std::int64_t whole = (depth + split::kDepthUnit - 1) / split::kDepthUnit * split::kDepthUnit;
  launch(splitting,
         {{first, depth, s.rows, Order::kAlongSum},
          {second, stride, width, is_forward ? Order::kAlongSum : Order::kAcrossSum},
          depth,
          whole,
          1,
          static_cast<float*>(m.result),
          s.has_relu},
         stream);
}

}  // namespace salient
