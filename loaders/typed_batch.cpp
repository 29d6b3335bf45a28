// loaders/typed_batch.cpp - see typed_batch.h.
#include "loaders/typed_batch.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/error.h"
#include "loaders/gather_rows.h"
#include "loaders/gather_sparse_rows.h"

namespace salient {
namespace {

std::size_t bytes_of(LocalId count, std::size_t item = sizeof(LocalId)) {
  return static_cast<std::size_t>(count) * item;
}

LocalId most_values(const SparseRowTable& table, LocalId num_rows) {
  constexpr std::uint64_t kMost = std::numeric_limits<LocalId>::max();
  return static_cast<LocalId>(std::min(kMost, table.longest.num_values(static_cast<std::uint64_t>(num_rows))));
}

void place_values(BatchLayout& layout, TypeLayout& type, LocalId num_values) {
  type.num_values = num_values;
  type.x_columns = layout.add(bytes_of(num_values));
  type.x = layout.add(bytes_of(num_values, size_of(type.feature_type)));
}

void place_dense(BatchLayout& layout, TypeLayout& type) {
  type.x =
      layout.add(bytes_of(type.num_nodes, static_cast<std::size_t>(type.feature_dim) * size_of(type.feature_type)));
}

/// Whether the device writes x of the type.
bool is_gathered_on_device(const BatchLayout& layout, const TypeLayout& type) {
  return layout.residency == Residency::kDevice && type.feature_layout == FeatureLayout::kDense;
}

/// Behind all that the copy moves: what the device writes.
void place_device_parts(BatchLayout& layout) {
  layout.x = layout.prepared_bytes = layout.bytes;
  for (TypeLayout& type : layout.types) {
    if (type.feature_dim == 0 || !is_gathered_on_device(layout, type)) continue;
    type.x_rows = layout.add(bytes_of(type.num_nodes, sizeof(NodeId)));
    place_dense(layout, type);
  }
}

}  // namespace

bool has_one_table(const Dataset& dataset) {
  return dataset.feature_dim > 0 &&
         std::ranges::all_of(dataset.types.node_types, [](const NodeType& type) { return type.features.dim == 0; });
}

void lay_out_types(const MfgShape& mfg, const Dataset& dataset, BatchLayout& layout) {
  const bool is_one_table = has_one_table(dataset);
  require(layout.residency == Residency::kHost || (layout.residency == Residency::kDevice && !is_one_table),
          "features of a typed graph are in host memory, or those of each type on the device");
  if (!is_one_table) layout.feature_dim = 0;
  layout.feature_layout = FeatureLayout::kDense;
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const TypedHopShape& shape = mfg.typed_hops[h];
    layout.typed_hops.push_back({.shape = shape,
                                 .row_begin = layout.add(bytes_of(mfg.hops[h].num_dst + 1)),
                                 .row_dst = layout.add(bytes_of(shape.num_rows)),
                                 .relation_rows = layout.add(bytes_of(shape.relation_begin.back()))});
  }
  for (std::size_t t = 0; t < dataset.types.node_types.size(); ++t) {
    const FeatureShape& features = dataset.types.node_types[t].features;
    const LocalId num_nodes = mfg.num_nodes_of_type[t];
    layout.types.push_back({.num_nodes = num_nodes,
                            .nodes = layout.add(bytes_of(num_nodes)),
                            .feature_dim = features.dim,
                            .feature_type = gathered_type(features.type),
                            .feature_layout = features.layout,
                            .first = static_cast<NodeId>(dataset.slots->node_begin[t])});
  }
  const std::size_t begin_of_features = layout.bytes;  // from there write_features() places them anew
  for (std::size_t t = 0; t < layout.types.size(); ++t) {
    TypeLayout& type = layout.types[t];
    if (type.feature_dim == 0 || is_gathered_on_device(layout, type)) continue;
    if (type.feature_layout == FeatureLayout::kDense) {
      place_dense(layout, type);
    } else {
      type.x_begin = layout.add(bytes_of(type.num_nodes + 1));
      place_values(layout, type, most_values(dataset.type_features[t].sparse, type.num_nodes));
    }
  }
  if (is_one_table) {
    layout.x = layout.add(bytes_of(layout.num_nodes, dataset.gathered_row_bytes()));
    layout.prepared_bytes = layout.bytes;
    return;
  }
  place_device_parts(layout);
  layout.x = begin_of_features;
}

const TypedBatchWriter::Memory& TypedBatchWriter::memory_in(const BatchLayout& layout, std::byte* slab) {
  const auto locals = [&](std::size_t offset) { return reinterpret_cast<LocalId*>(slab + offset); };
  memory_.hops.clear();
  memory_.nodes.clear();
  for (const TypedHopLayout& hop : layout.typed_hops)
    memory_.hops.push_back({locals(hop.row_begin), locals(hop.row_dst), locals(hop.relation_rows)});
  for (const TypeLayout& type : layout.types) memory_.nodes.push_back(locals(type.nodes));
  return memory_;
}

void TypedBatchWriter::write_sparse(const SparseRowTable& table, BatchLayout& layout, TypeLayout& type,
                                    std::byte* slab) const {
  type.x_begin = layout.add(bytes_of(type.num_nodes + 1));
  auto* const begin = reinterpret_cast<LocalId*>(slab + type.x_begin);
  place_values(layout, type, begin_of_rows(table, rows_.data(), rows_.size(), begin));
  gather_sparse_rows(table, rows_.data(), rows_.size(),
                     {.begin = begin,
                      .columns = reinterpret_cast<LocalId*>(slab + type.x_columns),
                      .values = slab + type.x,
                      .value_bytes = size_of(type.feature_type)});
}

void TypedBatchWriter::write_features(BatchLayout& layout, std::byte* slab) {
  const auto* const nodes = reinterpret_cast<const NodeId*>(slab + layout.nodes);
  layout.bytes = layout.x;
  for (std::size_t t = 0; t < layout.types.size(); ++t) {
    TypeLayout& type = layout.types[t];
    if (type.feature_dim == 0 || is_gathered_on_device(layout, type)) continue;
    const FeatureTable& table = dataset_->type_features[t];
    const auto* const numbers = reinterpret_cast<const LocalId*>(slab + type.nodes);
    rows_.resize(static_cast<std::size_t>(type.num_nodes));
    std::transform(numbers, numbers + type.num_nodes, rows_.begin(), [&](LocalId i) { return nodes[i] - type.first; });
    if (type.feature_layout == FeatureLayout::kCsr) {
      write_sparse(table.sparse, layout, type, slab);
    } else {
      place_dense(layout, type);
      gather_features(table.rows, rows_.data(), rows_.size(), slab + type.x);
    }
  }
  place_device_parts(layout);
}

}  // namespace salient
