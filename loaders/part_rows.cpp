// loaders/part_rows.cpp - see part_rows.h.
#include "loaders/part_rows.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "core/console/progress.h"
#include "core/error.h"
#include "loaders/gather_rows.h"
#include "store/part_rows_file.h"

namespace salient {
namespace {

constexpr std::size_t kBlock = 1 << 14;  // rows
constexpr std::size_t kAlignment = 64;   // of tables

}  // namespace

PartRows::PartRows(const Dataset& dataset, Parts parts, int rank, std::span<const NodeId> copied)
    : parts_(std::move(parts)), rank_(rank) {
  std::vector<NodeId> held;
  std::ranges::set_union(nodes_of_part(parts_, rank), copied, std::back_inserter(held));
  held_ = NodeSet(dataset.num_nodes(), held);
  lay_out_tables(dataset, held);
  if (dataset.types.is_typed() || dataset.features.data != nullptr) {
    read_rows(held);
  } else {
    read_own_rows(dataset);
    missing_.assign(copied.begin(), copied.end());
  }
}

/// One table behind the other.
void PartRows::lay_out_tables(const Dataset& dataset, std::span<const NodeId> held) {
  if (dataset.slots == nullptr) {
    tables_.push_back({.source = dataset.features, .end_node = dataset.num_nodes()});
  } else {
    const std::vector<std::uint64_t>& begin = dataset.slots->node_begin;
    for (std::size_t t = 0; t + 1 < begin.size(); ++t)
      tables_.push_back({.source = dataset.type_features[t].rows, .first_node = begin[t], .end_node = begin[t + 1]});
  }
  const std::vector<std::size_t> ends = ends_of_tables(held);
  std::size_t first = 0, bytes = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Table& table = tables_[t];
    table.first_held = static_cast<std::uint32_t>(first);
    table.rows = table.source;
    table.rows.num_rows = ends[t] - first;
    bytes += (table.rows.num_rows * table.rows.row_bytes + kAlignment - 1) / kAlignment * kAlignment;
    first = ends[t];
  }
  rows_.resize(bytes);
  bytes = 0;
  for (Table& table : tables_) {
    table.rows.data = rows_.data() + bytes;
    bytes += (table.rows.num_rows * table.rows.row_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
}

std::vector<std::size_t> PartRows::ends_of_tables(std::span<const NodeId> nodes) const {
  std::vector<std::size_t> ends;
  for (const Table& table : tables_)
    ends.push_back(static_cast<std::size_t>(
        std::ranges::partition_point(nodes, [&](NodeId node) { return node < table.end_node; }) - nodes.begin()));
  return ends;
}

void PartRows::read_rows(std::span<const NodeId> held) {
  Progress progress("feature rows of this rank", held.size(), "rows");
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  for (const Table& table : tables_) {
    if (table.rows.row_bytes == 0) continue;
    const std::span<const NodeId> of_table = held.subspan(table.first_held, table.rows.num_rows);
    auto* const rows = const_cast<std::byte*>(table.rows.data);  // of rows_
    oneapi::tbb::parallel_for(Range(0, of_table.size(), kBlock), [&](const Range& range) {
      std::vector<NodeId> row_of(of_table.begin() + static_cast<std::ptrdiff_t>(range.begin()),
                                 of_table.begin() + static_cast<std::ptrdiff_t>(range.end()));
      for (NodeId& row : row_of) row -= static_cast<NodeId>(table.first_node);
      gather_rows(table.source, row_of.data(), range.size(), rows + range.begin() * table.rows.row_bytes);
      progress.add(range.size());
    });
  }
}

void PartRows::read_own_rows(const Dataset& dataset) {
  verify_owners(dataset, parts_);  // they say whose the file's rows are
  const NpyFile file = open_part_rows(dataset, parts_, rank_);
  const std::vector<NodeId> own = nodes_of_part(parts_, rank_);
  const std::size_t row_bytes = table().row_bytes;
  for (std::size_t k = 0; k < own.size(); ++k) set_row(own[k], file.data().subspan(k * row_bytes, row_bytes));
}

void PartRows::set_row(NodeId node, std::span<const std::byte> bytes) {
  const std::uint32_t row = held_.index_of(node);
  require(row != NodeSet::kAbsent && bytes.size() == table().row_bytes, "a row that is held, of a plain graph");
  std::memcpy(rows_.data() + row * bytes.size(), bytes.data(), bytes.size());
}

Parts open_parts_of_ranks(const Dataset& dataset, int num_ranks) {
  Parts parts = open_parts(dataset);
  if (parts.num_parts != num_ranks)
    fail(ErrorKind::kUsage,
         dataset.name + ": number of parts " + std::to_string(parts.num_parts) + ", of ranks " +
             std::to_string(num_ranks) + "; a part for each rank is needed",
         Topic::kParts);
  return parts;
}

std::vector<NodeId> nodes_of_part(const Parts& parts, int part) {
  std::vector<NodeId> nodes;
  for (std::size_t v = 0; v < parts.owner.size(); ++v)
    if (parts.owner[v] == part) nodes.push_back(static_cast<NodeId>(v));
  return nodes;
}

}  // namespace salient
