// store/largest_feature.cpp - see largest_feature.h.
#include "store/largest_feature.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <cmath>
#include <limits>

#include "core/value_text.h"
#include "store/feature_value.h"

namespace salient {
namespace {

struct Found {
  float value = 0, size = -1;  // of what is no number: infinite
  std::size_t node = 0, column = 0;

  void meet(float other, std::size_t at_node, std::size_t at_column) {
    const float other_size = std::isnan(other) ? std::numeric_limits<float>::infinity() : std::fabs(other);
    if (other_size > size) *this = {other, other_size, at_node, at_column};
  }
};

}  // namespace

std::string largest_feature_text(const Dataset& dataset) {
  const SparseRowTable& sparse = dataset.sparse_features;
  const RowTable& dense = dataset.features;
  const bool is_sparse = dataset.has_sparse_features();
  if (is_sparse ? sparse.values == nullptr : dense.data == nullptr) return "";
  const FeatureType type = dataset.feature_type;
  const auto dim = static_cast<std::size_t>(dataset.feature_dim);
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  const Found found = oneapi::tbb::parallel_reduce(
      Range(0, is_sparse ? sparse.begin.size() - 1 : dense.num_rows, 256), Found{},
      [&](const Range& rows, Found best) {
        for (std::size_t v = rows.begin(); v < rows.end(); ++v) {
          const std::size_t first = is_sparse ? static_cast<std::size_t>(sparse.begin[v]) : v * dim;
          const std::size_t end = is_sparse ? static_cast<std::size_t>(sparse.begin[v + 1]) : first + dim;
          for (std::size_t i = first; i < end; ++i)
            best.meet(feature_value(is_sparse ? sparse.values : dense.data, i, type, dense.fp8_scale), v,
                      is_sparse ? sparse.columns[i] : i - first);
        }
        return best;
      },
      [](const Found& a, const Found& b) { return a.size > b.size || (a.size == b.size && a.node < b.node) ? a : b; });
  if (found.size < 0) return "";
  return "the largest feature is " + to_text(found.value) + " (node " + std::to_string(found.node) + ", column " +
         std::to_string(found.column) + ")";
}

}  // namespace salient
