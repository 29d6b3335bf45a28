// tests/models/exact/all_neighbors_gpu_test.cpp - the parts of exact inference by themselves, on so few
// multiprocessors that each warp and each block has many turns, against f64 on the host.
#include "models/exact/all_neighbors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "models/exact/exact_layer.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

using test::distance;
using test::OnDevice;

constexpr std::int64_t kNodes = test::kSageNodes;
constexpr int kMaxPieces = 64;

at::Tensor on_gpu(const at::Tensor& x) { return x.to(at::kCUDA).contiguous(); }
at::Tensor halves(std::int64_t rows, std::int64_t columns) { return at::randn({rows, columns}).to(at::kHalf); }
at::Tensor nans_on_gpu(std::int64_t rows, std::int64_t columns, at::ScalarType type) {
  return at::full({rows, columns}, std::nan(""), at::TensorOptions(at::kCUDA).dtype(type));
}

/// A graph with empty, short and long rows, a table of rows, and the scratch memory of a gather.
struct Problem {
  explicit Problem(int width) : x(halves(kNodes, width)), x_device(on_gpu(x)) {
    cuda_check(cudaMemset(num_added.data_ptr(), 0, kMaxPieces * sizeof(std::int32_t)));
    cuda_check(cudaDeviceSynchronize());
  }

  at::Tensor means(const std::vector<NodeId>& nodes) const {
    const at::Tensor rows = x.to(at::kDouble),
                     result = at::zeros({static_cast<std::int64_t>(nodes.size()), x.size(1)}, at::kDouble);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::span<const NodeId> row = graph.view().row(nodes[i]);
      const at::Tensor entries = at::tensor(std::vector<std::int64_t>(row.begin(), row.end()));
      if (!row.empty()) result[static_cast<std::int64_t>(i)] = rows.index_select(0, entries).mean(0);
    }
    return result;
  }
  NeighborGather gather(const NodeBlock& block) const {
    const GatherScratch scratch{static_cast<GatherCounts*>(counts.data_ptr()),
                                static_cast<RowPiece*>(pieces.data_ptr()),
                                num_added.data_ptr<std::int32_t>(),
                                sums.data_ptr<float>(),
                                beyond.data_ptr<std::int32_t>(),
                                kMaxPieces};
    return {{indptr.get(), indices.get(), static_cast<std::size_t>(kNodes)},
            block,
            {static_cast<const std::byte*>(x_device.data_ptr()), FeatureType::kF16, x.size(1)},
            scratch,
            /*multiprocessors=*/1};
  }

  test::OwnedGraph graph = test::graph_with_gaps();
  CudaStream stream;
  OnDevice<EdgeOffset> indptr{{graph.indptr.begin(), graph.indptr.end()}, stream};
  OnDevice<NodeId> indices{{graph.indices.begin(), graph.indices.end()}, stream};
  at::Tensor x, x_device;
  at::Tensor counts = at::zeros({64}, at::TensorOptions(at::kCUDA).dtype(at::kByte));
  at::Tensor pieces = at::zeros({2 * kMaxPieces}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
  at::Tensor num_added = at::zeros({kMaxPieces}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
  at::Tensor sums = at::zeros({kMaxPieces, 512}, at::TensorOptions(at::kCUDA).dtype(at::kFloat));
  at::Tensor beyond = at::zeros({1}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
};

std::vector<NodeId> first_nodes(std::int64_t count) {
  std::vector<NodeId> nodes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(i);
  return nodes;
}

class AllNeighborsOf : public testing::TestWithParam<int> {};

TEST_P(AllNeighborsOf, FindsTheMeansAndSumsThatTheHostFinds) {
  const int width = GetParam();
  const Problem problem(width);
  const std::vector<NodeId> all = first_nodes(kNodes - 3);  // the last run is not full
  const auto count = static_cast<std::int64_t>(all.size());
  const at::Tensor means = problem.means(all), own = problem.x.narrow(0, 0, count).to(at::kDouble);
  const NeighborGather gather = problem.gather({nullptr, 0, count});
  const at::Tensor found = nans_on_gpu(count, width, at::kHalf), operand = nans_on_gpu(count, 2 * width, at::kHalf),
                   sums = nans_on_gpu(count, width, at::kFloat);
  cuda_check(cudaDeviceSynchronize());
  all_neighbors_means(gather, found.data_ptr(), problem.stream.get());
  all_neighbors_operand(gather, operand.data_ptr(), problem.stream.get());
  sum_with_neighbors(gather, {static_cast<const std::byte*>(problem.x_device.data_ptr()), /*is_of_nodes=*/true},
                     sums.data_ptr<float>(), problem.stream.get());
  problem.stream.wait();
  EXPECT_LT(distance(found, means), 5e-4);
  EXPECT_LT(distance(operand, at::cat({means, own}, 1)), 5e-4);
  EXPECT_LT(distance(sums, means + own), 1e-6);

  std::vector<NodeId> some;
  for (NodeId i = 0; i < 1999; ++i) some.push_back(i * 2'641 % kNodes);
  const OnDevice<NodeId> list(some, problem.stream);
  const at::Tensor of_list = nans_on_gpu(1999, width, at::kHalf);
  cuda_check(cudaDeviceSynchronize());
  all_neighbors_means(problem.gather({list.get(), 0, 1999}), of_list.data_ptr(), problem.stream.get());
  problem.stream.wait();
  EXPECT_LT(distance(of_list, problem.means(some)), 5e-4);
  EXPECT_EQ(problem.beyond.item<int>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Widths, AllNeighborsOf, testing::Values(8, 24, 120, 128, 136, 176, 256, 264, 400),
                         [](const testing::TestParamInfo<int>& test) { return std::to_string(test.param); });

struct LayerCase {
  int width, next_columns;
  std::int64_t count;
};
class ExactLayerOf : public testing::TestWithParam<LayerCase> {};

TEST_P(ExactLayerOf, FindsTheProductsThatTheHostFinds) {
  const auto [width, next_columns, count] = GetParam();
  if (!ExactLayer::fits({nullptr, FeatureType::kF16, width}, kFusedWidth))
    GTEST_SKIP() << "needs compute capability 9.0";
  const at::Tensor means = halves(count, width), own = halves(count, width);
  const at::Tensor weight = (at::randn({kFusedWidth, 2 * width}) / std::sqrt(width)).to(at::kHalf);
  const at::Tensor next = (at::randn({2 * next_columns, kFusedWidth}) / 16).to(at::kHalf);
  const at::Tensor h = at::cat({means, own}, 1).to(at::kDouble).matmul(weight.to(at::kDouble).t()).clamp_min(0);
  const at::Tensor results = h.matmul(next.to(at::kDouble).t());
  const at::Tensor means_device = on_gpu(means), own_device = on_gpu(own), weight_device = on_gpu(weight),
                   next_device = on_gpu(next);
  const at::Tensor found = nans_on_gpu(count + 1, kFusedWidth, at::kHalf);
  const at::Tensor around = nans_on_gpu(count + 1, next_columns, at::kHalf), self = around.clone(),
                   self_alone = around.clone();
  const at::Tensor beyond = at::zeros({1}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
  cuda_check(cudaDeviceSynchronize());
  const CudaStream stream;
  ExactLayerBlock block{
      count,   means_device.data_ptr(),        own_device.data_ptr(), width, found.data_ptr(), nullptr,
      nullptr, beyond.data_ptr<std::int32_t>()};
  ExactLayer({width, weight_device.data_ptr(), nullptr, 0}).run(block, 2, stream.get());
  const ExactLayer before_last({width, weight_device.data_ptr(), next_device.data_ptr(), next_columns});
  block.result = nullptr, block.around = around.data_ptr(), block.self = self.data_ptr();
  before_last.run(block, 2, stream.get());
  block.around = nullptr, block.self = self_alone.data_ptr();
  before_last.run(block, 3, stream.get());
  stream.wait();
  EXPECT_LT(distance(found.narrow(0, 0, count), h), 5e-4);
  EXPECT_LT(distance(around.narrow(0, 0, count), results.narrow(1, 0, next_columns)), 1e-3);
  EXPECT_LT(distance(self.narrow(0, 0, count), results.narrow(1, next_columns, next_columns)), 1e-3);
  EXPECT_TRUE(at::equal(self_alone.narrow(0, 0, count), self.narrow(0, 0, count)));
  for (const at::Tensor& rows : {found, around, self}) EXPECT_TRUE(rows[count].isnan().all().item<bool>());
  EXPECT_EQ(beyond.item<int>(), 0);

  means_device[count - 1].fill_(60000);  // some column of the result is beyond f16
  cuda_check(cudaDeviceSynchronize());
  before_last.run(block, 2, stream.get());
  stream.wait();
  EXPECT_EQ(beyond.item<int>(), 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExactLayerOf,
                         testing::Values(LayerCase{128, 176, 3001}, LayerCase{256, 176, 2048}, LayerCase{72, 8, 1000},
                                         LayerCase{8, 64, 130}, LayerCase{200, 304, 1}),
                         [](const testing::TestParamInfo<LayerCase>& test) {
                           return std::to_string(test.param.width) + "_columns_" +
                                  std::to_string(test.param.next_columns) + "_classes_" +
                                  std::to_string(test.param.count) + "_nodes";
                         });

}  // namespace
}  // namespace salient
