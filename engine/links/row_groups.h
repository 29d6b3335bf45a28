// engine/links/row_groups.h - which items of a batch have which row, so that sums of a row keep one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace salient {

/// Rows ascend, and so do the items of a row.
struct RowGroups {
  std::vector<std::uint32_t> rows{};  ///< each once
  std::vector<std::size_t> begin{0};  ///< [rows + 1] into items
  std::vector<std::uint32_t> items{};

  std::span<const std::uint32_t> items_of(std::size_t group) const {
    return std::span(items).subspan(begin[group], begin[group + 1] - begin[group]);
  }
};

/// @param row_of  of each item    Cost: a sort
RowGroups group_by_row(std::span<const std::uint32_t> row_of);

}  // namespace salient
