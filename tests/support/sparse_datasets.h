// tests/support/sparse_datasets.h - a generated data set whose features are mostly 0, dense and sparse.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/half.h"
#include "core/philox.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

namespace salient::test {

/// One graph with the same rows twice.
struct SparseTwins {
  Dataset dense, sparse;
};

/// About one value of `one_in` is not 0; every fifth row is empty. Values have few bits, the same in both types.
inline SparseTwins sparse_twins(NodeId num_nodes, double mean_degree, int feature_dim,
                                FeatureType type = FeatureType::kF16, std::uint32_t one_in = 8) {
  struct Storage {
    std::shared_ptr<const void> graph{};
    std::vector<std::byte> rows{}, values{};
    std::vector<std::int64_t> begin{0};
    std::vector<std::uint32_t> columns{};
  };
  const auto storage = std::make_shared<Storage>();
  SparseTwins twins{.dense = generated_dataset(num_nodes, mean_degree, feature_dim, type), .sparse = {}};
  storage->graph = twins.dense.storage;
  const std::size_t item = size_of(type), row_bytes = twins.dense.feature_row_bytes();
  storage->rows.resize(num_nodes * row_bytes);
  for (NodeId v = 0; v < num_nodes; ++v) {
    for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(feature_dim); ++c) {
      const PhiloxBlock draw = philox4x32({{3, 5}}, {{v, c, 0, 0}});
      if (v % 5 == 4 || draw.word[0] % one_in != 0) continue;
      const float value = static_cast<float>(draw.word[1] % 64 + 1) / (draw.word[2] % 2 == 0 ? 16.0f : -16.0f);
      std::uint32_t bits = 0;
      if (type == FeatureType::kF16)
        bits = float_to_half(value);
      else
        std::memcpy(&bits, &value, sizeof bits);
      std::memcpy(storage->rows.data() + v * row_bytes + c * item, &bits, item);
      storage->columns.push_back(c);
      const auto* const first = reinterpret_cast<const std::byte*>(&bits);
      storage->values.insert(storage->values.end(), first, first + item);
    }
    storage->begin.push_back(static_cast<std::int64_t>(storage->columns.size()));
  }
  twins.dense.features.data = storage->rows.data();
  twins.dense.storage = storage;
  twins.sparse = twins.dense;
  twins.sparse.feature_layout = FeatureLayout::kCsr;
  twins.sparse.features = {};
  twins.sparse.sparse_features = {.begin = storage->begin,
                                  .columns = storage->columns,
                                  .values = storage->values.data(),
                                  .longest = LongestRows(storage->begin)};
  return twins;
}

/// The rows of a sparse batch in host memory, as a dense batch would have them.
inline std::vector<std::byte> densified(const BatchLayout& layout, const std::byte* slab) {
  const std::size_t item = size_of(layout.feature_type), dim = static_cast<std::size_t>(layout.feature_dim);
  std::vector<std::byte> rows(static_cast<std::size_t>(layout.num_nodes) * dim * item);
  const auto* const begin = reinterpret_cast<const LocalId*>(slab + layout.x_begin);
  const auto* const columns = reinterpret_cast<const LocalId*>(slab + layout.x_columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(layout.num_nodes); ++i)
    for (auto k = static_cast<std::size_t>(begin[i]); k < static_cast<std::size_t>(begin[i + 1]); ++k)
      std::memcpy(rows.data() + (i * dim + static_cast<std::size_t>(columns[k])) * item, slab + layout.x + k * item,
                  item);
  return rows;
}

/// Asserts that `batch`, in host memory, is the dense batch of `request` with its rows in the place of x.
inline void expect_sparse_batch(const Batch& batch, const SparseTwins& twins, const std::vector<int>& fanouts,
                                const BatchRequest& request) {
  Dataset without_features = twins.dense;
  without_features.features.row_bytes = 0;
  expect_reference_batch(batch, without_features, fanouts, request);
  const BatchLayout& layout = batch.layout;
  EXPECT_EQ(layout.feature_layout, FeatureLayout::kCsr);
  const std::vector<NodeId> nodes = part<NodeId>(batch, layout.nodes, static_cast<std::size_t>(layout.num_nodes));
  std::vector<std::byte> rows(nodes.size() * twins.dense.features.row_bytes);
  gather_rows_reference(twins.dense.features, nodes.data(), nodes.size(), rows.data());
  EXPECT_EQ(densified(layout, batch.data), rows);
  const std::vector<LocalId> begin = part<LocalId>(batch, layout.x_begin, nodes.size() + 1);
  EXPECT_EQ(begin.front(), 0);
  EXPECT_EQ(begin.back(), layout.num_values);
}

}  // namespace salient::test
