// tests/models/ops/relations_test.cpp - rows by relation and by type against loops and dense matrices.
#include "models/ops/relations.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "models/ops/operators.h"
#include "tests/support/scratch.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

HopView some_hop(std::uint32_t seed) {
  return test::random_typed_batch(test::small_types(), {50, 30, 4}, /*num_classes=*/3, seed).hops.front();
}

TEST(FilledRows, AreThoseWithEntriesInBothOrders) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const HopView hop = some_hop(seed);
    const FilledRows rows(hop);
    const std::vector<int> indptr = test::values_of(hop.indptr), dst = test::values_of(hop.typed->row_dst);
    std::vector<int> filled, filled_indptr, filled_dst;
    for (std::size_t row = 0; row < dst.size(); ++row)
      if (indptr[row] < indptr[row + 1]) {
        filled.push_back(static_cast<int>(row));
        filled_indptr.push_back(indptr[row]);
        filled_dst.push_back(dst[row]);
      }
    filled_indptr.push_back(indptr.back());
    ASSERT_LT(filled.size(), dst.size()) << "some are empty";
    EXPECT_EQ(test::values_of(rows.entries.indptr), filled_indptr);
    EXPECT_EQ(test::values_of(rows.dst), filled_dst);
    const std::vector<int> by_relation = test::values_of(hop.typed->relation_rows);
    const std::vector<int> in_hop = test::values_of(rows.in_hop), place = test::values_of(rows.by_relation);
    ASSERT_EQ(in_hop.size(), filled.size());
    for (std::size_t k = 0; k < in_hop.size(); ++k) {
      EXPECT_EQ(filled[static_cast<std::size_t>(in_hop[k])], by_relation[k]);
      EXPECT_EQ(place[static_cast<std::size_t>(in_hop[k])], static_cast<int>(k));
    }
    const at::Tensor ones = at::ones({rows.dst.numel(), 1});
    const at::Tensor count = segment_sum(rows.of_destination, ones);
    for (std::int64_t i = 0; i < hop.num_dst; ++i)
      EXPECT_EQ(count[i].item<float>(), std::ranges::count(filled_dst, static_cast<int>(i)));
  }
}

TEST(FilledRows, AreOfTypedHopsAlone) {
  const HopView plain = test::view_of(test::random_hop(5, 7, 3, 1));
  EXPECT_COMPLAINT(FilledRows{plain}, ErrorKind::kInternal, "typed graph");
  EXPECT_COMPLAINT(in_relation_order(plain), ErrorKind::kInternal, "typed graph");
}

TEST(InRelationOrder, HasTheEntriesOfEachRowWithSomeInTheirOrder) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const HopView hop = some_hop(seed), ordered = in_relation_order(hop);
    const std::vector<int> indptr = test::values_of(hop.indptr), indices = test::values_of(hop.indices);
    std::vector<int> expected_indptr{0}, expected;
    for (const int row : test::values_of(hop.typed->relation_rows)) {
      const auto r = static_cast<std::size_t>(row);
      expected.insert(expected.end(), indices.begin() + indptr[r], indices.begin() + indptr[r + 1]);
      expected_indptr.push_back(static_cast<int>(expected.size()));
    }
    EXPECT_EQ(expected.size(), indices.size());
    EXPECT_EQ(ordered.num_dst, hop.typed->relation_rows.numel());
    EXPECT_EQ(ordered.num_src, hop.num_src);
    EXPECT_EQ(test::values_of(ordered.indptr), expected_indptr);
    EXPECT_EQ(test::values_of(ordered.indices), expected);
  }
}

TEST(GroupedProduct, IsAProductOfEachGroupWithItsBlocksAsAreItsGradients) {
  const std::vector<std::int64_t> begin{0, 4, 4, 5, 11};  // one group without rows
  for (const std::int64_t num_blocks : {1, 3}) {
    const at::Tensor x = at::randn({11, 6}).requires_grad_();
    const at::Tensor weight = at::randn({4, num_blocks, 9 / num_blocks, 6 / num_blocks}).requires_grad_();
    const at::Tensor given = weight.transpose(2, 3);  // with other strides
    const at::Tensor y = grouped_product(x, begin, given, Precision::kFp32);
    std::vector<at::Tensor> expected;
    for (std::size_t g = 0; g + 1 < begin.size(); ++g)
      expected.push_back(x.narrow(0, begin[g], begin[g + 1] - begin[g])
                             .mm(at::block_diag(given[static_cast<std::int64_t>(g)].unbind(0))));
    EXPECT_TRUE(at::allclose(y, at::cat(expected), 1e-5, 1e-6)) << num_blocks;
    const at::Tensor grad = at::randn({11, 9});
    y.backward(grad);
    const at::Tensor grad_x = x.grad().clone(), grad_weight = weight.grad().clone();
    x.mutable_grad().zero_(), weight.mutable_grad().zero_();
    at::cat(expected).backward(grad);
    EXPECT_TRUE(at::allclose(grad_x, x.grad(), 1e-5, 1e-6)) << num_blocks;
    EXPECT_TRUE(at::allclose(grad_weight, weight.grad(), 1e-5, 1e-6)) << num_blocks;
    EXPECT_EQ(grad_weight[1].abs().sum().item<float>(), 0);
  }
  EXPECT_EQ(grouped_product(at::zeros({0, 6}), {0, 0}, at::zeros({1, 1, 6, 2}), Precision::kFp32).sizes(),
            (at::IntArrayRef{0, 2}));
  EXPECT_COMPLAINT(grouped_product(at::zeros({3, 6}), {0, 2}, at::zeros({1, 1, 6, 2}), Precision::kFp32),
                   ErrorKind::kInternal, "a weight for each group of rows");
}

TEST(RowsByType, AreTakenAndJoinedInTheirPlaces) {
  const HopView hop = some_hop(4);
  const RowsByType sources = RowsByType::sources_of(*hop.typed);
  const at::Tensor x = at::randn({hop.num_src, 3}).requires_grad_();
  std::vector<at::Tensor> rows = sources.split(x);
  for (std::size_t t = 0; t < rows.size(); ++t)
    EXPECT_TRUE(at::equal(rows[t], x.index_select(0, sources.nodes[t].narrow(0, 0, sources.count[t])))) << t;
  EXPECT_TRUE(at::equal(sources.join(rows, 3), x));
  sources.join(rows, 3).mul(x.detach()).sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), x)) << "each row once";
  rows[1] = at::Tensor();
  const at::Tensor without = sources.join(rows, 3), of_type = sources.nodes[1].narrow(0, 0, sources.count[1]);
  EXPECT_EQ(without.index_select(0, of_type).abs().sum().item<float>(), 0);
  at::Tensor first_type = x.detach().clone().requires_grad_();  // of the other types' rows no gradient comes
  sources.split(first_type)[0].sum().backward();
  const at::Tensor of_first = sources.nodes[0].narrow(0, 0, sources.count[0]);
  EXPECT_TRUE(at::equal(first_type.grad(), at::zeros_like(x).index_fill(0, of_first.to(at::kLong), 1)));
  const std::vector<int> place = test::values_of(sources.place_in_type());
  for (std::size_t t = 0; t < sources.nodes.size(); ++t)
    for (std::int64_t i = 0; i < sources.count[t]; ++i)
      EXPECT_EQ(place[static_cast<std::size_t>(sources.nodes[t][i].item<int>())], i);
}

TEST(DotAttention, OfGroupsHasOneSoftmaxForSeveralRows) {
  constexpr std::int64_t kHeads = 2, kChannels = 3, kWidth = kHeads * kChannels;
  const HopView hop = test::view_of(test::random_hop(7, 9, 4, 2));
  const std::vector<int> group_begin{0, 3, 3, 7};  // rows of each of three groups, one of them without
  std::vector<int> group_of_row;
  for (std::size_t g = 0; g + 1 < group_begin.size(); ++g)
    group_of_row.insert(group_of_row.end(), static_cast<std::size_t>(group_begin[g + 1] - group_begin[g]),
                        static_cast<int>(g));
  const at::Tensor query = at::randn({7, kWidth}), key = at::randn({9, kWidth}), value = at::randn({9, kWidth});
  const SoftmaxGroups groups{hop.indptr.index_select(0, at::tensor(group_begin, at::kInt)),
                             at::tensor(group_of_row, at::kInt)};
  const at::Tensor found = dot_attention(hop, {query, key, value}, kHeads, GradientOrder::kAny, groups);
  const std::vector<int> indptr = test::values_of(hop.indptr), indices = test::values_of(hop.indices);
  const auto head = [&](const at::Tensor& rows, int row, std::int64_t h) {
    return rows[row].narrow(0, h * kChannels, kChannels);
  };
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto weight = [&](int row, int e) {
      const double dot = head(query, row, h).dot(head(key, indices[static_cast<std::size_t>(e)], h)).item<double>();
      return std::exp(dot / std::sqrt(double{kChannels}));
    };
    std::vector<double> norm(3);
    const auto for_each_entry = [&](const auto& f) {
      for (int row = 0; row < 7; ++row)
        for (int e = indptr[static_cast<std::size_t>(row)]; e < indptr[static_cast<std::size_t>(row) + 1]; ++e)
          f(row, e);
    };
    for_each_entry([&](int row, int e) {
      norm[static_cast<std::size_t>(group_of_row[static_cast<std::size_t>(row)])] += weight(row, e);
    });
    at::Tensor expected = at::zeros({7, kChannels});
    for_each_entry([&](int row, int e) {
      const double share = weight(row, e) / norm[static_cast<std::size_t>(group_of_row[static_cast<std::size_t>(row)])];
      expected[row] += share * head(value, indices[static_cast<std::size_t>(e)], h);
    });
    EXPECT_TRUE(at::allclose(found.narrow(1, h * kChannels, kChannels), expected, 1e-5, 1e-6)) << h;
  }
}

}  // namespace
}  // namespace salient
