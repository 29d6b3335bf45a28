// tests/models/kernels/sparse_product_test.cpp - products and masks of sparse rows are those of their references.
#include "models/kernels/sparse_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "models/kernels/sparse_dropout.h"
#include "models/kernels/transpose.h"
#include "tests/support/hops.h"
#include "tests/support/sparse_matrix.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

using test::OwnedSparseRows, test::random_sparse_rows, test::random_values;

std::vector<float> unset(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

SourceEdges view_of(const TransposedHop& hop) { return {hop.indptr.data(), hop.destination.data(), hop.edge.data()}; }

/// Of the first `num_rows` rows.
template <class T>
SparseRowsOf<T> first_rows(const OwnedSparseRows<T>& rows, std::int64_t num_rows) {
  SparseRowsOf<T> first = rows.view();
  first.num_rows = num_rows;
  return first;
}

template <class T>
void expect_references(std::int64_t num_rows, std::int64_t num_columns, std::uint32_t one_in, std::int64_t width) {
  const OwnedSparseRows<T> rows = random_sparse_rows<T>(num_rows, num_columns, one_in, 1);
  const std::vector<float> matrix = random_values(num_columns * width, 2), grad = random_values(num_rows * width, 3);
  std::vector<float> out = unset(num_rows * width), expected = out;
  sparse_product(rows.view(), matrix.data(), width, out.data());
  sparse_product_reference(rows.view(), matrix.data(), width, expected.data());
  ASSERT_EQ(out, expected) << num_rows << " x " << num_columns << " x " << width;
  const TransposedHop by_column = transpose(rows.view().edges());
  for (const std::int64_t part : {num_rows, num_rows / 2, std::int64_t{0}}) {
    std::vector<float> made = unset(num_columns * width), wanted = made;
    sparse_product_backward(first_rows(rows, part), view_of(by_column), grad.data(), width, made.data());
    sparse_product_backward_reference(first_rows(rows, part), grad.data(), width, wanted.data());
    ASSERT_EQ(made, wanted) << part << " of " << num_rows << " x " << num_columns << " x " << width;
  }
}

TEST(SparseProduct, EqualsItsReferenceBitForBit) {
  for (const auto& [num_rows, num_columns] : {std::pair{0, 5}, {1, 1}, {7, 3}, {200, 90}, {50, 1000}})
    for (const std::uint32_t one_in : {1u, 4u, 50u})
      for (const std::int64_t width : {1, 7, 8, 12, 64, 100}) {
        expect_references<float>(num_rows, num_columns, one_in, width);
        expect_references<Half>(num_rows, num_columns, one_in, width);
      }
}

TEST(SparseProduct, ReferencesAreProductsOfTheDenseMatrix) {
  const OwnedSparseRows<float> rows = random_sparse_rows<float>(40, 30, 3, 1);
  constexpr std::int64_t kWidth = 5;
  const std::vector<float> matrix = random_values(30 * kWidth, 2), grad = random_values(40 * kWidth, 3);
  std::vector<float> out(40 * kWidth), grad_matrix(30 * kWidth);
  sparse_product_reference(rows.view(), matrix.data(), kWidth, out.data());
  sparse_product_backward_reference(rows.view(), grad.data(), kWidth, grad_matrix.data());
  const auto dense = [&](std::size_t i, std::size_t c) { return double{rows.dense[i * 30 + c]}; };
  for (std::size_t j = 0; j < kWidth; ++j) {
    for (std::size_t i = 0; i < 40; ++i) {
      double sum = 0;
      for (std::size_t c = 0; c < 30; ++c) sum += dense(i, c) * double{matrix[c * kWidth + j]};
      EXPECT_NEAR(out[i * kWidth + j], sum, 1e-5);
    }
    for (std::size_t c = 0; c < 30; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < 40; ++i) sum += dense(i, c) * double{grad[i * kWidth + j]};
      EXPECT_NEAR(grad_matrix[c * kWidth + j], sum, 1e-5);
    }
  }
}

TEST(SparseProduct, DoesNotDependOnThreads) {
  const OwnedSparseRows<Half> rows = random_sparse_rows<Half>(500, 200, 6, 1);
  const std::vector<float> matrix = random_values(200 * 64, 2);
  std::vector<float> one(500 * 64), three(500 * 64);
  test::with_threads(1, [&] { sparse_product(rows.view(), matrix.data(), 64, one.data()); });
  test::with_threads(3, [&] { sparse_product(rows.view(), matrix.data(), 64, three.data()); });
  EXPECT_EQ(one, three);
}

TEST(SparseDropout, IsDropoutOfTheDenseRows) {
  for (const double p : {0.0, 0.1, 0.5, 1.0}) {
    const OwnedSparseRows<Half> rows = random_sparse_rows<Half>(60, 70, 3, 1);
    std::vector<std::uint32_t> nodes(60);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::uint32_t>(i * 2654435761u);
    const DropoutMask mask = DropoutMask::make(p, 3, 17, 2);
    std::vector<float> dense(rows.dense.size()), values = unset(static_cast<std::int64_t>(rows.values.size()));
    dropout_reference(mask, Activation::kNone, {rows.dense.data(), nodes.data(), 60, 70}, {dense.data()});
    sparse_dropout(mask, rows.view(), nodes.data(), values.data());
    for (std::size_t i = 0; i < 60; ++i)
      for (auto k = static_cast<std::size_t>(rows.begin[i]); k < static_cast<std::size_t>(rows.begin[i + 1]); ++k)
        ASSERT_EQ(values[k], dense[i * 70 + static_cast<std::size_t>(rows.columns[k])]) << i << " " << k;
  }
}

}  // namespace
}  // namespace salient
