// store/sparse_rows.cpp - see sparse_rows.h.
#include "store/sparse_rows.h"

#include <algorithm>

namespace salient {

LongestRows::LongestRows(std::span<const std::int64_t> begin) {
  std::vector<std::uint64_t> count_of;  // by length, which is below the number of values
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    const auto length = static_cast<std::size_t>(begin[v + 1] - begin[v]);
    if (length >= count_of.size()) count_of.resize(length + 1, 0);
    ++count_of[length];
  }
  for (std::size_t length = count_of.size(); length-- > 0;)
    if (count_of[length] > 0) by_length_.push_back({count_of[length], length});
}

std::uint64_t LongestRows::num_values(std::uint64_t num_rows) const {
  std::uint64_t sum = 0;
  for (const Rows& rows : by_length_) {
    const std::uint64_t taken = std::min(num_rows, rows.count);
    sum += taken * rows.length;
    num_rows -= taken;
    if (num_rows == 0) break;
  }
  return sum;
}

}  // namespace salient
