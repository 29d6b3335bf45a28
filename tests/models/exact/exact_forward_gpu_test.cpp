// tests/models/exact/exact_forward_gpu_test.cpp - predictions from all neighbours, block after block, against dense
// f64 algebra on the host, wherever parts of them are kept.
#include "models/exact/exact_forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "models/exact/all_neighbors.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

using test::OnDevice;

struct Shape {
  int in_dim;
  int num_layers = 3;
  std::int64_t block_rows = 256;  ///< of 3000 nodes: the last block is not full
  int hidden = 32, num_classes = 10;
  int max_pieces = 1 << 15;

  std::int64_t own_block() const { return block_rows * padded(num_classes) * 2; }  ///< bytes of its own parts
};

/// Rows without entries, with few, and with about as many as one or two pieces of a long row have.
test::OwnedGraph graph_with_long_rows() {
  const test::OwnedGraph gaps = test::graph_with_gaps();  // node 1 has all nodes as neighbours
  test::OwnedGraph graph;
  for (NodeId v = 0; v < test::kSageNodes; ++v) {
    const NodeId of_long_row = v % 50 == 5   ? kLongRow - 1 + v / 50 % 4
                               : v % 50 == 6 ? 2 * kLongRow - 1 + v / 50 % 3
                                             : 0;
    for (NodeId i = 0; i < of_long_row; ++i) graph.indices.push_back((v + 7 * i) % test::kSageNodes);
    const std::span<const NodeId> row = gaps.view().row(v);
    if (of_long_row == 0) graph.indices.insert(graph.indices.end(), row.begin(), row.end());
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

struct Problem {
  test::OwnedGraph graph = graph_with_long_rows();
  const Shape shape;
  at::Tensor x;
  std::vector<at::Tensor> weights, on_device;  // around and self of each layer

  explicit Problem(const Shape& s) : shape(s) {
    at::manual_seed(3);
    x = at::randn({test::kSageNodes, s.in_dim}).to(at::kHalf);
    for (int i = 0; i < 2 * s.num_layers; ++i) {
      const int in = i < 2 ? s.in_dim : s.hidden, out = i / 2 + 1 == s.num_layers ? s.num_classes : s.hidden;
      weights.push_back((at::randn({out, in}) / std::sqrt(in)).to(at::kHalf).to(at::kFloat));
      on_device.push_back(weights.back().to(at::kCUDA));
    }
    cuda_check(cudaDeviceSynchronize());
  }

  at::Tensor expected() const {
    at::Tensor mean = at::zeros({test::kSageNodes, test::kSageNodes}, at::kDouble);
    for (NodeId v = 0; v < test::kSageNodes; ++v) {
      const std::span<const NodeId> row = graph.view().row(v);
      for (const NodeId u : row)
        mean.data_ptr<double>()[std::size_t{v} * test::kSageNodes + u] += 1.0 / static_cast<double>(row.size());
    }
    at::Tensor h = x.to(at::kDouble);
    for (int i = 0; i < shape.num_layers; ++i) {
      const at::Tensor z = mean.matmul(h).matmul(weights[2 * static_cast<std::size_t>(i)].to(at::kDouble).t()) +
                           h.matmul(weights[2 * static_cast<std::size_t>(i) + 1].to(at::kDouble).t());
      h = i + 1 < shape.num_layers ? z.clamp_min(0) : z;
    }
    return h;
  }

  /// @param spent_bytes  of the features, which may be overwritten
  at::Tensor found(const std::vector<NodeId>& nodes, std::int64_t spent_bytes, std::int64_t most_kept) const {
    const CudaStream stream;
    const OnDevice<EdgeOffset> indptr({graph.indptr.begin(), graph.indptr.end()}, stream);
    const OnDevice<NodeId> indices({graph.indices.begin(), graph.indices.end()}, stream);
    const at::Tensor features = x.to(at::kCUDA);
    const at::Tensor logits = at::zeros({static_cast<std::int64_t>(nodes.size()), shape.num_classes}).to(at::kCUDA);
    cuda_check(cudaDeviceSynchronize());
    auto* const rows = static_cast<std::byte*>(features.data_ptr());
    ExactForward forward({.num_layers = shape.num_layers,
                          .in_dim = shape.in_dim,
                          .hidden_dim = shape.hidden,
                          .num_classes = shape.num_classes,
                          .is_deterministic = true,
                          .block_rows = shape.block_rows,
                          .max_pieces = shape.max_pieces,
                          .most_kept = most_kept},
                         {{indptr.get(), indices.get(), test::kSageNodes}, {rows, FeatureType::kF16, shape.in_dim}},
                         {rows, static_cast<std::size_t>(spent_bytes)});
    std::vector<SageWeights> of_layers;
    for (std::size_t i = 0; i < on_device.size(); i += 2)
      of_layers.push_back({on_device[i].const_data_ptr<float>(), on_device[i + 1].const_data_ptr<float>(), nullptr,
                           nullptr, on_device[i].size(1), on_device[i].size(0)});
    forward.start(of_layers, stream.get());
    const auto block_rows = static_cast<std::size_t>(shape.block_rows);
    const auto classes = static_cast<std::size_t>(shape.num_classes);
    for (std::size_t first = 0; first < nodes.size(); first += block_rows) {
      const std::span block = std::span(nodes).subspan(first).first(std::min(block_rows, nodes.size() - first));
      const float* const of_block = forward.predict(block, stream.get());
      cuda_check(cudaMemcpy2DAsync(logits.data_ptr<float>() + first * classes, classes * sizeof(float), of_block,
                                   static_cast<std::size_t>(forward.logits_stride()) * sizeof(float),
                                   classes * sizeof(float), block.size(), cudaMemcpyDeviceToDevice, stream.get()));
    }
    EXPECT_FALSE(forward.is_beyond_f16(stream.get()));
    return logits.cpu();
  }
};

class ExactForwardOf : public testing::TestWithParam<Shape> {};

TEST_P(ExactForwardOf, FindsWhatDenseAlgebraFindsWhereverPartsAreKept) {
  const Problem problem(GetParam());
  const at::Tensor expected = problem.expected();
  std::vector<NodeId> all(test::kSageNodes), some;
  std::iota(all.begin(), all.end(), 0U);
  for (NodeId i = 0; i < 700; ++i) some.push_back(i * 2'641 % test::kSageNodes);
  const at::Tensor some_index = at::tensor(std::vector<std::int64_t>(some.begin(), some.end()));
  const at::Tensor nothing_kept = problem.found(all, 0, 0);
  EXPECT_LT(((nothing_kept - expected).norm() / expected.norm()).item<double>(), 2e-3);
  const std::int64_t own_block = problem.shape.own_block(), features = static_cast<std::int64_t>(problem.x.nbytes());
  for (const auto& [spent, most_kept] :
       {std::pair{std::int64_t{0}, std::int64_t{1} << 40}, std::pair{4 * own_block, std::int64_t{0}},
        std::pair{4 * own_block + 100, 3 * own_block}}) {
    const std::int64_t bytes = std::min(spent, features);
    EXPECT_TRUE(at::equal(problem.found(all, bytes, most_kept), nothing_kept)) << bytes << ", " << most_kept;
    // the order of a sum depends on the nodes beside it
    EXPECT_LT(test::distance(problem.found(some, bytes, most_kept), nothing_kept.index_select(0, some_index)), 5e-4)
        << bytes << ", " << most_kept << ", a list";
  }
}

/// Where there is room for few pieces they are long, and a block's nodes say how long: sums are in another order then.
TEST(ExactForwardInFewPieces, FindsWhatDenseAlgebraFinds) {
  for (const int max_pieces : {2, 3, 7, 20, 60}) {
    const Problem problem(Shape{.in_dim = 24, .block_rows = 1024, .max_pieces = max_pieces});
    const at::Tensor expected = problem.expected();
    std::vector<NodeId> nodes(test::kSageNodes);
    std::iota(nodes.rbegin(), nodes.rend(), 0U);
    EXPECT_LT(((problem.found(nodes, 0, 0).flip(0) - expected).norm() / expected.norm()).item<double>(), 2e-3)
        << max_pieces;
  }
}

/// Rows of words of 16, 8 and 2 bytes, of one chunk of columns, and wider than a warp; two layers, the last hidden one
/// of which reads the features, and four, which keep two layers' results; all nodes in one block; layers of 256
/// columns, which tensor cores compute from means and rows where they are.
INSTANTIATE_TEST_SUITE_P(Shapes, ExactForwardOf,
                         testing::Values(Shape{24}, Shape{20}, Shape{7}, Shape{8}, Shape{300}, Shape{360}, Shape{24, 2},
                                         Shape{24, 4}, Shape{24, 3, 4096}, Shape{24, 3, 256, 256},
                                         Shape{128, 3, 256, 256, 172}, Shape{200, 2, 512, 256, 130},
                                         Shape{72, 4, 1000, 256, 64}),
                         [](const testing::TestParamInfo<Shape>& test) {
                           return std::to_string(test.param.in_dim) + "_columns_" +
                                  std::to_string(test.param.num_layers) + "_layers_of_" +
                                  std::to_string(test.param.hidden) + "_blocks_of_" +
                                  std::to_string(test.param.block_rows);
                         });

}  // namespace
}  // namespace salient
