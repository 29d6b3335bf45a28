// store/synthetic_edges.cpp - see synthetic_edges.h.
#include "store/synthetic_edges.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/half.h"
#include "core/host/huge_vector.h"
#include "core/philox.h"
#include "store/synthetic_nodes.h"

namespace salient {
namespace {

constexpr std::uint32_t kKey = 0x45444745;

struct Storage {
  std::shared_ptr<const void> rest{};
  UnsetHugeVector<std::uint16_t> rows{};
};

/// Whole blocks of four: `row` has room for them.
void draw_row(NodeId a, NodeId b, std::vector<float>& row) {
  for (std::uint32_t block = 0; block < row.size() / 4; ++block) {
    const PhiloxBlock words = philox4x32({{0, kKey}}, {{std::min(a, b), std::max(a, b), block, 0}});
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t w = words.word[i], pairs = (w & 0x00FF00FF) + (w >> 8 & 0x00FF00FF);
      const auto sum = static_cast<std::int32_t>((pairs & 0xFFFF) + (pairs >> 16));
      row[std::size_t{4} * block + i] = static_cast<float>(sum - 510) * kNoiseScale;
    }
  }
}

}  // namespace

Dataset with_synthetic_edge_features(Dataset dataset, int dim) {
  require(dim >= 1 && !dataset.types.is_typed(), "edges of a plain graph have columns");
  const auto columns = static_cast<std::size_t>(dim);
  const auto storage = std::make_shared<Storage>();
  storage->rest = dataset.storage;
  storage->rows.resize(dataset.graph.indices.size() * columns);
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  oneapi::tbb::parallel_for(Range(0, dataset.num_nodes(), 256), [&](const Range& range) {
    std::vector<float> row((columns + 3) / 4 * 4);
    for (std::size_t v = range.begin(); v < range.end(); ++v)
      for (auto e = static_cast<std::size_t>(dataset.graph.indptr[v]);
           e < static_cast<std::size_t>(dataset.graph.indptr[v + 1]); ++e) {
        draw_row(static_cast<NodeId>(v), dataset.graph.indices[e], row);
        floats_to_halves(row.data(), columns, storage->rows.data() + e * columns);
      }
  });
  dataset.edge_feature_dim = dim;
  dataset.edge_feature_type = FeatureType::kF16;
  dataset.edge_features = {reinterpret_cast<const std::byte*>(storage->rows.data()), dataset.graph.indices.size(),
                           dataset.edge_feature_shape().row_bytes()};
  const std::string mark = "-edges-" + std::to_string(dim);
  dataset.name += mark;
  dataset.fingerprint += mark;
  dataset.storage = storage;
  return dataset;
}

}  // namespace salient
