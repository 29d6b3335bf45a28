// tests/engine/rank/ordered_product_test.cpp - an element has the same bits in every block, shape and arena.
#include "engine/rank/ordered_product.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <random>
#include <vector>

namespace salient {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

/// out = a b, an element at a time.
Floats product_reference(const ProductSize& size, MatrixView a, MatrixView b, Floats out) {
  for (std::int64_t i = 0; i < size.rows; ++i)
    for (std::int64_t j = 0; j < size.columns; ++j) {
      float& sum = out[static_cast<std::size_t>(i * size.columns + j)];
      for (std::int64_t k = 0; k < size.inner; ++k) sum = std::fma(a.at(i, k), b.at(k, j), sum);
    }
  return out;
}

TEST(OrderedProduct, IsTheSumInOrderForAnyShape) {
  for (const ProductSize size : {ProductSize{1, 1, 1}, {6, 16, 8}, {7, 17, 5}, {13, 40, 33}, {5, 3, 100}, {4, 4, 0}}) {
    const Floats a = random_floats(size.rows * size.inner, 1), b = random_floats(size.inner * size.columns, 2);
    const MatrixView plain_a{a.data(), size.inner}, plain_b{b.data(), size.columns};
    const MatrixView turned_a{a.data(), 1, size.rows}, turned_b{b.data(), 1, size.inner};
    const Floats begun = random_floats(size.rows * size.columns, 3);
    for (const auto& [left, right] : {std::pair{plain_a, plain_b}, {turned_a, plain_b}, {plain_a, turned_b}}) {
      Floats out(begun.size(), 7.F), added = begun;
      ordered_product(size, left, right, out.data(), size.columns);
      ordered_product(size, left, right, added.data(), size.columns, /*adds=*/true);
      EXPECT_EQ(out, product_reference(size, left, right, Floats(out.size())));
      EXPECT_EQ(added, product_reference(size, left, right, begun));
    }
  }
}

TEST(OrderedProduct, ScoresArePairScoresInEveryBlock) {
  constexpr std::int64_t kRows = 23, kColumns = 75, kInner = 37;
  const Floats a = random_floats(kRows * kInner, 1), b = random_floats(kColumns * kInner, 2);
  for (const PairScore kind : {PairScore::kDot, PairScore::kDistance})
    for (const std::int64_t first : {0, 1, 16, 50}) {
      const ProductSize size{kRows, kColumns - first, kInner};
      Floats out(static_cast<std::size_t>(size.rows * size.columns));
      pair_scores(kind, size, {a.data(), kInner}, {b.data() + first * kInner, kInner}, out.data(), size.columns);
      for (std::int64_t i = 0; i < size.rows; ++i)
        for (std::int64_t j = 0; j < size.columns; ++j)
          ASSERT_EQ(out[static_cast<std::size_t>(i * size.columns + j)],
                    pair_score(kind, a.data() + i * kInner, b.data() + (first + j) * kInner, kInner));
    }
}

TEST(OrderedProduct, ThreadsChangeNothing) {
  const ProductSize size{200, 300, 100};
  const Floats a = random_floats(size.rows * size.inner, 1), b = random_floats(size.inner * size.columns, 2);
  const auto with = [&](int threads) {
    Floats out(static_cast<std::size_t>(size.rows * size.columns));
    oneapi::tbb::task_arena(threads).execute([&] {
      ordered_product(size, {a.data(), size.inner}, {b.data(), size.columns}, out.data(), size.columns);
    });
    return out;
  };
  EXPECT_EQ(with(1), with(4));
}

}  // namespace
}  // namespace salient
