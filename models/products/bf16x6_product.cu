// models/products/bf16x6_product.cu - see bf16x6_product.h; the kernel is in bf16x6_kernel.cuh.
#include "models/products/bf16x6_product.h"

#include <algorithm>

#include "models/products/bf16x6_kernel.cuh"

namespace salient {
namespace {

using split::Order;

template <Order kA, Order kB>
void launch(const split::Problem& problem, unsigned blocks, cudaStream_t stream) {
  const auto kernel = bf16x6::product_kernel<kA, kB>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bf16x6::kSharedBytes));
  kernel<<<blocks, bf16x6::kThreads, bf16x6::kSharedBytes, stream>>>(problem);
  cuda_check(cudaGetLastError());
}

}  // namespace

void bf16x6_product(const split::Problem& problem, int multiprocessors, cudaStream_t stream) {
  const auto tiles = [](const split::Matrix& m) { return (m.count + split::kTile - 1) / split::kTile; };
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(multiprocessors, tiles(problem.a) * tiles(problem.b) * problem.num_parts));
  if (problem.a.order == Order::kAcrossSum)
    return launch<Order::kAcrossSum, Order::kAcrossSum>(problem, blocks, stream);
  problem.b.order == Order::kAlongSum ? launch<Order::kAlongSum, Order::kAlongSum>(problem, blocks, stream)
                                      : launch<Order::kAlongSum, Order::kAcrossSum>(problem, blocks, stream);
}

}  // namespace salient
