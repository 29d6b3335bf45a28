// loaders/batch.cpp - see batch.h.
#include "loaders/batch.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "loaders/pair_features.h"
#include "loaders/typed_batch.h"
#include "store/dataset.h"

namespace salient {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment; }

}  // namespace

std::size_t BatchLayout::add(std::size_t num_bytes) {
  const std::size_t at = bytes;
  bytes = aligned(at + num_bytes);
  return at;
}

std::int64_t Batch::num_edges() const {
  std::int64_t sum = 0;
  for (const HopLayout& hop : layout.hops) sum += hop.num_edges;
  return sum;
}

void place_values(BatchLayout& layout, LocalId num_values) {
  const auto count = static_cast<std::size_t>(num_values);
  layout.num_values = num_values;
  layout.x = aligned(layout.x_columns + count * sizeof(LocalId));
  layout.bytes = aligned(layout.x + count * size_of(layout.feature_type));
  layout.prepared_bytes = layout.bytes;
}

BatchLayout lay_out_batch(const MfgShape& mfg, LocalId num_seeds, const Dataset& dataset, Residency residency,
                          const BatchParts& parts) {
  BatchLayout layout{.num_nodes = mfg.num_nodes,
                     .num_seeds = num_seeds,
                     .feature_dim = dataset.feature_dim,
                     .feature_type = gathered_type(dataset.feature_type),
                     .feature_layout = dataset.feature_layout,
                     .label_type = dataset.label_type(),
                     .residency = residency,
                     .num_pairs = parts.num_pairs,
                     .has_pair_features = parts.has_pair_features,
                     .degrees_of = parts.degrees,
                     .entries = parts.entries};
  if (parts.entries.features) layout.edge_dim = dataset.edge_feature_dim, layout.edge_type = dataset.edge_feature_type;
  const auto add = [&layout](std::size_t bytes) { return layout.add(bytes); };
  layout.y = add(static_cast<std::size_t>(num_seeds) * layout.label_type.row_bytes());
  const auto num_nodes = static_cast<std::size_t>(mfg.num_nodes);
  layout.nodes = add(num_nodes * sizeof(NodeId));
  const std::size_t of_pair = dataset.types.is_typed() ? 3 : 2;
  if (parts.num_pairs > 0) layout.pairs = add(of_pair * static_cast<std::size_t>(parts.num_pairs) * sizeof(LocalId));
  if (parts.has_pair_features)
    layout.pair_x = add(static_cast<std::size_t>(parts.num_pairs) * kPairFeatures * sizeof(float));
  if (parts.degrees == Degrees::kOfEveryNode) layout.degrees = add(num_nodes * sizeof(NodeDegree));
  if (parts.entries.row_weights) layout.row_weights = add(num_nodes * sizeof(float));
  layout.hops.reserve(mfg.hops.size());
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const MfgShape::Hop& hop = mfg.hops[h];
    const LocalId num_rows = mfg.typed_hops.empty() ? hop.num_dst : mfg.typed_hops[h].num_rows;
    const auto num_edges = static_cast<std::size_t>(hop.num_edges);
    layout.hops.push_back({.num_dst = hop.num_dst,
                           .num_src = hop.num_src,
                           .num_edges = hop.num_edges,
                           .indptr = add((static_cast<std::size_t>(num_rows) + 1) * sizeof(LocalId)),
                           .indices = add(num_edges * sizeof(LocalId))});
    if (parts.entries.places) layout.hops.back().places = add(num_edges * sizeof(std::int64_t));
    if (parts.entries.weights) layout.hops.back().weights = add(num_edges * sizeof(float));
    if (parts.entries.gaps) layout.hops.back().gaps = add(num_edges * sizeof(float));
    if (parts.entries.features) layout.hops.back().edge_x = add(num_edges * dataset.edge_features.row_bytes);
  }
  if (dataset.types.is_typed()) return lay_out_types(mfg, dataset, layout), layout;
  if (dataset.has_sparse_features()) {
    require(residency == Residency::kHost, "sparse rows are in host memory");
    constexpr std::uint64_t kMost = std::numeric_limits<LocalId>::max();
    layout.x_begin = add((num_nodes + 1) * sizeof(LocalId));
    layout.x_columns = layout.bytes;
    place_values(layout, static_cast<LocalId>(std::min(kMost, dataset.sparse_features.longest.num_values(num_nodes))));
    return layout;
  }
  if (residency == Residency::kCached) {
    layout.x_rows = add(num_nodes * sizeof(NodeId));
    layout.x_missed = add(num_nodes * dataset.feature_row_bytes());
  }
  const std::size_t without_x = layout.bytes;
  layout.x = add(num_nodes * dataset.gathered_row_bytes());
  layout.prepared_bytes = is_x_from_host(residency) ? layout.bytes : without_x;
  return layout;
}

}  // namespace salient
