// loaders/typed_batch.cpp - see typed_batch.h.
#include "loaders/typed_batch.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/error.h"
#include "loaders/cached_rows.h"
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
  return !is_x_from_host(layout.residency) && type.feature_layout == FeatureLayout::kDense;
}

/// Whether the copy moves those of its rows that the device lacks.
bool has_missed_rows(const BatchLayout& layout, const TypeLayout& type) {
  return layout.residency == Residency::kCached && is_gathered_on_device(layout, type);
}

/// Behind all that the copy moves: what the device writes.
void place_device_parts(BatchLayout& layout) {
  layout.x = layout.prepared_bytes = layout.bytes;
  for (TypeLayout& type : layout.types) {
    if (type.feature_dim == 0 || !is_gathered_on_device(layout, type)) continue;
    if (!has_missed_rows(layout, type)) type.x_rows = layout.add(bytes_of(type.num_nodes, sizeof(NodeId)));
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
  require(layout.residency == Residency::kHost || layout.residency == Residency::kDevice || !is_one_table,
          "rows of one table are in host memory or in a GPU's");
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
    if (type.feature_dim == 0) continue;
    if (has_missed_rows(layout, type)) {
      type.x_rows = layout.add(bytes_of(type.num_nodes, sizeof(NodeId)));
      type.x_missed = layout.add(bytes_of(type.num_nodes, dataset.type_features[t].rows.row_bytes));
    } else if (is_gathered_on_device(layout, type)) {
      continue;
    } else if (type.feature_layout == FeatureLayout::kDense) {
      place_dense(layout, type);
    } else {
      type.x_begin = layout.add(bytes_of(type.num_nodes + 1));
      place_values(layout, type, most_values(dataset.type_features[t].sparse, type.num_nodes));
    }
  }
  if (is_one_table) {
    const std::size_t without_x = layout.bytes;
    layout.x = layout.add(bytes_of(layout.num_nodes, dataset.gathered_row_bytes()));
    layout.prepared_bytes = is_x_from_host(layout.residency) ? layout.bytes : without_x;
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

/// Where each row is, and those that the cache lacks.
void TypedBatchWriter::write_missed(const RowTable& table, const NodeSet& cached, BatchLayout& layout, TypeLayout& type,
                                    std::byte* slab) {
  type.x_rows = layout.add(bytes_of(type.num_nodes, sizeof(NodeId)));
  find_cached_rows(cached, rows_, reinterpret_cast<std::uint32_t*>(slab + type.x_rows), missed_);
  type.x_missed = layout.add(missed_.size() * table.row_bytes);
  gather_rows(table, missed_.data(), missed_.size(), slab + type.x_missed);
}

void TypedBatchWriter::write_features(Batch& batch, std::byte* slab, HeldRowWriter* held) {
  BatchLayout& layout = batch.layout;
  const auto* const nodes = reinterpret_cast<const NodeId*>(slab + layout.nodes);
  layout.bytes = layout.x;
  if (held != nullptr) held->start(batch);
  for (std::size_t t = 0; t < layout.types.size(); ++t) {
    TypeLayout& type = layout.types[t];
    const bool is_cached = has_missed_rows(layout, type);
    if (type.feature_dim == 0 || (is_gathered_on_device(layout, type) && !is_cached)) continue;
    const FeatureTable& table = dataset_->type_features[t];
    const bool is_sparse = type.feature_layout == FeatureLayout::kCsr;
    const NodeId first = held != nullptr && !is_sparse ? 0 : type.first;  // parts know nodes by their ids
    const auto* const numbers = reinterpret_cast<const LocalId*>(slab + type.nodes);
    rows_.resize(static_cast<std::size_t>(type.num_nodes));
    std::transform(numbers, numbers + type.num_nodes, rows_.begin(), [&](LocalId i) { return nodes[i] - first; });
    if (is_sparse) {
      write_sparse(table.sparse, layout, type, slab);
    } else if (is_cached) {
      write_missed(table.rows, cached_[t], layout, type, slab);
    } else {
      place_dense(layout, type);
      if (held != nullptr)
        held->write(t, rows_, slab + type.x, batch);
      else
        gather_features(table.rows, rows_.data(), rows_.size(), slab + type.x);
    }
  }
  if (held != nullptr) held->finish(batch);
  place_device_parts(layout);
}

}  // namespace salient
