// models/resident/tf32x3_product.cu - see tf32x3_product.h; the kernel is in tf32x3_kernel.cuh.
#include "models/resident/tf32x3_product.h"

#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/resident/tf32x3_kernel.cuh"

namespace salient {
namespace {

using tf32x3::Order;

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

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

template <Order kA, Order kB>
constexpr int kSharedBytes = tf32x3::kStages* tf32x3::kStageFloats<kA, kB>* static_cast<int>(sizeof(float));

std::int64_t tiles(std::int64_t count) { return (count + tf32x3::kTile - 1) / tf32x3::kTile; }

template <Order kA, Order kB>
void launch(const tf32x3::Problem& problem, std::int64_t num_parts, cudaStream_t stream) {
  const auto kernel = tf32x3::product_kernel<kA, kB>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes<kA, kB>));
  const dim3 blocks(static_cast<unsigned>(tiles(problem.a.count) * tiles(problem.b.count)),
                    static_cast<unsigned>(num_parts));
  kernel<<<blocks, tf32x3::kThreads, kSharedBytes<kA, kB>, stream>>>(problem);
  cuda_check(cudaGetLastError());
}

/// How many parts a sum of `depth` terms has, so that every multiprocessor has one.
std::int64_t num_parts_of(std::int64_t depth, std::int64_t size, std::int64_t num_tiles, std::size_t room) {
  const std::int64_t wanted = std::min(attribute(cudaDevAttrMultiProcessorCount) / num_tiles, depth / kLeastPartDepth);
  return std::max(std::int64_t{1}, std::min(wanted, static_cast<std::int64_t>(room) / size));
}

void weight_gradient(const ProductShape& s, const ProductMatrices& m, std::span<float> workspace, cudaStream_t stream) {
  const std::int64_t size = s.in * s.out;
  const std::int64_t wanted = num_parts_of(s.rows, size, tiles(s.out) * tiles(s.in), workspace.size());
  const std::int64_t steps = (s.rows + tf32x3::kDepth - 1) / tf32x3::kDepth;
  const std::int64_t part_steps = (steps + wanted - 1) / wanted;
  const std::int64_t num_parts = (steps + part_steps - 1) / part_steps;
  auto* const result = static_cast<float*>(m.result);
  launch<Order::kAcrossSum, Order::kAcrossSum>({{static_cast<const float*>(m.first), s.out, s.out},
                                                {static_cast<const float*>(m.second), s.in, s.in},
                                                s.rows,
                                                part_steps * tf32x3::kDepth,
                                                num_parts == 1 ? result : workspace.data(),
                                                false},
                                               num_parts, stream);
  if (num_parts == 1) return;
  sum_parts_kernel<<<blocks_for(size / 4), kThreadsPerBlock, 0, stream>>>(
      reinterpret_cast<const float4*>(workspace.data()), static_cast<int>(num_parts), size / 4,
      reinterpret_cast<float4*>(result));
  cuda_check(cudaGetLastError());
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

}  // namespace

bool has_tf32x3_product(const ProductShape& s, const ProductMatrices& m) {
  constexpr int kMostShared =
      std::max({kSharedBytes<Order::kAlongSum, Order::kAlongSum>, kSharedBytes<Order::kAlongSum, Order::kAcrossSum>,
                kSharedBytes<Order::kAcrossSum, Order::kAcrossSum>});
  return s.inputs == ActivationType::kF32 && s.result == ActivationType::kF32 && !s.may_use_tf32 && s.rows > 0 &&
         s.in % 8 == 0 && s.out % 8 == 0 && s.weight_stride % 4 == 0 && is_aligned(m.first) && is_aligned(m.second) &&
         is_aligned(m.result) && attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
         attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= kMostShared;
}

void tf32x3_product(const ProductShape& s, const ProductMatrices& m, std::span<float> workspace, cudaStream_t stream) {
  if (s.kind == ProductKind::kWeightGradient) return weight_gradient(s, m, workspace, stream);
  const bool is_forward = s.kind == ProductKind::kForward;
  const auto* const first = static_cast<const float*>(m.first);
  const auto* const second = static_cast<const float*>(m.second);
  const std::int64_t depth = is_forward ? s.in : s.out, width = is_forward ? s.out : s.in;
  const std::int64_t stride = s.weight_stride == 0 ? s.in : s.weight_stride;
  const std::int64_t whole = (depth + tf32x3::kDepth - 1) / tf32x3::kDepth * tf32x3::kDepth;
  const tf32x3::Problem problem{
      {first, depth, s.rows}, {second, stride, width}, depth, whole, static_cast<float*>(m.result), s.has_relu};
  is_forward ? launch<Order::kAlongSum, Order::kAlongSum>(problem, 1, stream)
             : launch<Order::kAlongSum, Order::kAcrossSum>(problem, 1, stream);
}

}  // namespace salient
