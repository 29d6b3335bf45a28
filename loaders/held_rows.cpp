// loaders/held_rows.cpp - see held_rows.h.
#include "loaders/held_rows.h"

#include <algorithm>
#include <numeric>

#include "loaders/gather_rows.h"

namespace salient {

void HeldRowWriter::start(Batch& batch) {
  batch.num_own = batch.num_copied = 0;
  missing_.clear();
}

void HeldRowWriter::write(std::size_t table, std::span<const NodeId> nodes, std::byte* x, Batch& batch) {
  constexpr std::size_t kAhead = 32;  // prefetch distance
  const std::size_t missing_before = missing_.size();
  rows_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i + kAhead < nodes.size()) part_->prefetch(nodes[i + kAhead]);
    const std::uint32_t row = part_->row_of(table, nodes[i]);
    const int owner = part_->owner_of(nodes[i]);
    const bool is_own = owner == part_->rank(), is_here = row != NodeSet::kAbsent;
    batch.num_own += is_own ? 1 : 0;
    batch.num_copied += is_here && !is_own ? 1 : 0;
    rows_[i] = is_here ? row : 0;  // another rank's row comes over row 0 later
    if (!is_here)
      missing_.push_back({static_cast<LocalId>(i),
                          static_cast<std::uint32_t>(static_cast<std::size_t>(owner) * part_->num_tables() + table)});
  }
  if (missing_.size() - missing_before < nodes.size())
    gather_features(part_->table(table), rows_.data(), nodes.size(), x);
}

void HeldRowWriter::finish(Batch& batch) {
  std::vector<std::size_t>& begin = batch.remote_begin;
  begin.assign(static_cast<std::size_t>(part_->num_ranks()) * part_->num_tables() + 1, 0);
  for (const Missing& missing : missing_) ++begin[missing.list + 1];
  std::inclusive_scan(begin.begin(), begin.end(), begin.begin());
  cursor_.assign(begin.begin(), begin.end());
  batch.remote.resize(missing_.size());
  for (const Missing& missing : missing_) batch.remote[cursor_[missing.list]++] = missing.row;
}

}  // namespace salient
