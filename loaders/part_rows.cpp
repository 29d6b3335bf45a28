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

}  // namespace

PartRows::PartRows(const Dataset& dataset, Parts parts, int rank, std::span<const NodeId> copied)
    : parts_(std::move(parts)),
      rank_(rank),
      row_bytes_(dataset.features.row_bytes),
      fp8_scale_(dataset.features.fp8_scale) {
  std::vector<NodeId> held;
  std::ranges::set_union(nodes_of_part(parts_, rank), copied, std::back_inserter(held));
  held_ = NodeSet(dataset.num_nodes(), held);
  rows_.resize(held.size() * row_bytes_);
  if (dataset.features.data != nullptr) {
    read_rows(dataset, held);
  } else {
    read_own_rows(dataset);
    missing_.assign(copied.begin(), copied.end());
  }
}

void PartRows::read_rows(const Dataset& dataset, std::span<const NodeId> held) {
  Progress progress("feature rows of this rank", held.size(), "rows");
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  oneapi::tbb::parallel_for(Range(0, held.size(), kBlock), [&](const Range& range) {
    gather_rows(dataset.features, held.data() + range.begin(), range.size(), rows_.data() + range.begin() * row_bytes_);
    progress.add(range.size());
  });
}

void PartRows::read_own_rows(const Dataset& dataset) {
  verify_owners(dataset, parts_);  // they say whose the file's rows are
  const NpyFile file = open_part_rows(dataset, parts_, rank_);
  const std::vector<NodeId> own = nodes_of_part(parts_, rank_);
  for (std::size_t k = 0; k < own.size(); ++k) set_row(own[k], file.data().subspan(k * row_bytes_, row_bytes_));
}

void PartRows::set_row(NodeId node, std::span<const std::byte> bytes) {
  const std::uint32_t row = held_.index_of(node);
  require(row != NodeSet::kAbsent && bytes.size() == row_bytes_, "a row that is held");
  std::memcpy(rows_.data() + row * row_bytes_, bytes.data(), row_bytes_);
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
