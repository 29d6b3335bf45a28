// tests/support/sparse_matrix.h - generated sparse rows as plain arrays, and the dense matrix that they are.
#pragma once

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "core/half.h"
#include "models/kernels/sparse_product.h"

namespace salient::test {

template <class T>
struct OwnedSparseRows {
  std::int64_t num_rows, num_columns;
  std::vector<LocalId> begin{0};
  std::vector<LocalId> columns{};
  std::vector<T> values{};
  std::vector<float> dense{};  ///< [num_rows, num_columns]

  SparseRowsOf<T> view() const { return {begin.data(), columns.data(), values.data(), num_rows, num_columns}; }
};

/// About one value of `one_in` is not 0; every third row is empty, and column 0 is in all the others.
template <class T>
OwnedSparseRows<T> random_sparse_rows(std::int64_t num_rows, std::int64_t num_columns, std::uint32_t one_in,
                                      std::uint32_t seed) {
  std::mt19937 random(seed);
  OwnedSparseRows<T> made{num_rows, num_columns};
  made.dense.resize(static_cast<std::size_t>(num_rows * num_columns));
  for (std::int64_t i = 0; i < num_rows; ++i) {
    for (std::int64_t c = 0; c < num_columns && i % 3 != 2; ++c) {
      if (random() % one_in != 0 && c > 0) continue;
      const float value = static_cast<float>(random() % 255 + 1) / (random() % 2 == 0 ? 128.0f : -128.0f);
      made.columns.push_back(static_cast<LocalId>(c));
      if constexpr (std::is_same_v<T, float>)
        made.values.push_back(value);
      else
        made.values.push_back({float_to_half(value)});
      made.dense[static_cast<std::size_t>(i * num_columns + c)] = value;
    }
    made.begin.push_back(static_cast<LocalId>(made.columns.size()));
  }
  return made;
}

}  // namespace salient::test
