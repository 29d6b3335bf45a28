// engine/links/row_groups.cpp - see row_groups.h.
#include "engine/links/row_groups.h"

#include <oneapi/tbb/parallel_sort.h>

namespace salient {

RowGroups group_by_row(std::span<const std::uint32_t> row_of) {
  std::vector<std::uint64_t> sorted(row_of.size());
  for (std::size_t i = 0; i < row_of.size(); ++i) sorted[i] = (std::uint64_t{row_of[i]} << 32) | i;
  oneapi::tbb::parallel_sort(sorted.begin(), sorted.end());
  RowGroups groups;
  groups.items.reserve(sorted.size());
  for (const std::uint64_t pair : sorted) {
    const auto row = static_cast<std::uint32_t>(pair >> 32);
    if (groups.rows.empty() || groups.rows.back() != row) {
      if (!groups.rows.empty()) groups.begin.push_back(groups.items.size());
      groups.rows.push_back(row);
    }
    groups.items.push_back(static_cast<std::uint32_t>(pair));
  }
  if (!groups.rows.empty()) groups.begin.push_back(groups.items.size());
  return groups;
}

}  // namespace salient
