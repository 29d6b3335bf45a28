// prepare/writing/feature_layout.cpp - see feature_layout.h.
#include "prepare/writing/feature_layout.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "core/host/interrupt.h"

namespace salient {
namespace {

constexpr int kLeastWidth = 1000;    // of rows that stay sparse: narrower ones are cheap, and fit on a GPU
constexpr std::uint64_t kSaved = 4;  // times fewer bytes

/// Calls visit(row, column, its bytes) for every value that is not zero, row by row. T: unsigned, as wide as a value.
template <class T, class Visit>
void for_each_value(const RawFeatures& features, Visit visit) {
  constexpr T kMagnitude = std::numeric_limits<T>::max() / 2;  // all bits but the sign
  const auto dim = static_cast<std::size_t>(features.dim);
  for (std::size_t r = 0; r < features.num_rows(); ++r) {
    stop_if_interrupted();
    for (std::size_t c = 0; c < dim; ++c) {
      const std::byte* const at = features.rows.data() + (r * dim + c) * sizeof(T);
      T bits;
      std::memcpy(&bits, at, sizeof(T));
      if ((bits & kMagnitude) != 0) visit(r, static_cast<std::uint32_t>(c), at);
    }
  }
}

template <class T>
RawFeatures sparse_of(const RawFeatures& dense, const MemoryLimit& memory) {
  constexpr const char* kWhat = "sparse features";
  RawFeatures sparse{.type = dense.type,
                     .dim = dense.dim,
                     .layout = FeatureLayout::kCsr,
                     .column_names = dense.column_names,
                     .file = dense.file};
  memory.check((dense.num_rows() + 1) * sizeof(std::int64_t), kWhat);
  sparse.begin.assign(dense.num_rows() + 1, 0);
  for_each_value<T>(dense, [&](std::size_t r, std::uint32_t, const std::byte*) { ++sparse.begin[r + 1]; });
  for (std::size_t r = 0; r < dense.num_rows(); ++r) sparse.begin[r + 1] += sparse.begin[r];
  const auto num_values = static_cast<std::size_t>(sparse.begin.back());
  memory.check(num_values * (sizeof(std::uint32_t) + sizeof(T)), kWhat);
  sparse.columns.reserve(num_values);
  sparse.rows.reserve(num_values * sizeof(T));
  for_each_value<T>(dense, [&](std::size_t, std::uint32_t column, const std::byte* value) {
    sparse.columns.push_back(column);
    sparse.rows.insert(sparse.rows.end(), value, value + sizeof(T));
  });
  return sparse;
}

RawFeatures dense_of(const RawFeatures& sparse, const MemoryLimit& memory) {
  RawFeatures dense{.type = sparse.type, .dim = sparse.dim, .column_names = sparse.column_names, .file = sparse.file};
  const std::size_t item = size_of(sparse.type), row_bytes = static_cast<std::size_t>(sparse.dim) * item;
  memory.check(sparse.num_rows() * row_bytes, "dense features");
  dense.rows.resize(sparse.num_rows() * row_bytes);
  for (std::size_t r = 0; r < sparse.num_rows(); ++r) {
    stop_if_interrupted();
    for (auto k = static_cast<std::size_t>(sparse.begin[r]); k < static_cast<std::size_t>(sparse.begin[r + 1]); ++k)
      std::memcpy(dense.rows.data() + r * row_bytes + sparse.columns[k] * item, sparse.rows.data() + k * item, item);
  }
  return dense;
}

}  // namespace

FeatureLayout layout_for(const RawFeatures& features, std::optional<FeatureLayout> wanted) {
  if (wanted) return *wanted;
  if (features.layout == FeatureLayout::kDense || features.dim < kLeastWidth) return FeatureLayout::kDense;
  const std::uint64_t dense_bytes =
      features.num_rows() * static_cast<std::uint64_t>(features.dim) * size_of(features.type);
  const std::uint64_t sparse_bytes = features.begin.size() * sizeof(std::int64_t) +
                                     features.columns.size() * sizeof(std::uint32_t) + features.rows.size();
  return sparse_bytes * kSaved <= dense_bytes ? FeatureLayout::kCsr : FeatureLayout::kDense;
}

RawFeatures in_layout(RawFeatures features, FeatureLayout layout, const MemoryLimit& memory) {
  if (features.layout == layout) return features;
  if (layout == FeatureLayout::kDense) return dense_of(features, memory);
  return features.type == FeatureType::kF16 ? sparse_of<std::uint16_t>(features, memory)
                                            : sparse_of<std::uint32_t>(features, memory);
}

}  // namespace salient
