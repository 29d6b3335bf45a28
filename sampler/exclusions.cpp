// sampler/exclusions.cpp - see exclusions.h.
#include "sampler/exclusions.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/error.h"

namespace salient {

void Exclusions::clear() noexcept {
  entries_.clear();
  rows_.clear();
  begin_.assign(1, 0);
  places_.clear();
  std::ranges::fill(filter_, 0);
}

void require_rows_of_exclusions(const CsrGraph& graph) {
  if (graph.num_rows() > std::size_t{1} << 32)
    fail(ErrorKind::kUsage, "links of a graph of " + std::to_string(graph.num_rows()) +
                                " slots: nodes times the relations that lead to them are at most 2^32");
}

void Exclusions::add_entries(const CsrGraph& graph, EntryKey key) {
  const std::uint32_t row = row_of(key);
  const NodeId neighbor = neighbor_of(key);
  const std::span<const NodeId> entries = graph.row(row);
  if (graph.entries.times.empty()) {
    const auto [begin, end] = std::ranges::equal_range(entries, neighbor);
    for (auto at = begin; at != end; ++at) add(row, static_cast<std::uint32_t>(at - entries.begin()));
    return;
  }
  for (std::uint32_t place = 0; place < entries.size(); ++place)
    if (entries[place] == neighbor) add(row, place);
}

void Exclusions::finish() {
  std::ranges::sort(entries_);
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  for (const std::uint64_t entry : entries_) {
    const auto row = static_cast<std::uint32_t>(entry >> 32);
    if (rows_.empty() || rows_.back() != row) {
      rows_.push_back(row);
      begin_.push_back(begin_.back());
    }
    places_.push_back(static_cast<std::uint32_t>(entry));
    ++begin_.back();
  }
  // 16 bits a row, so that one of 16 others at most is looked up in vain; small enough for the first cache
  const std::size_t num_bits = std::max<std::size_t>(64, std::bit_ceil(16 * rows_.size()));
  filter_.assign(num_bits / 64, 0);
  filter_mask_ = static_cast<std::uint32_t>(std::min<std::size_t>(num_bits, std::size_t{1} << 24) - 1);
  for (const std::uint32_t row : rows_) {
    const std::uint32_t bit = hash_of(row) & filter_mask_;
    filter_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
}

std::span<const std::uint32_t> Exclusions::find(std::uint32_t row) const {
  const auto at = std::ranges::lower_bound(rows_, row);
  if (at == rows_.end() || *at != row) return {};
  const auto i = static_cast<std::size_t>(at - rows_.begin());
  return std::span(places_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
}

}  // namespace salient
