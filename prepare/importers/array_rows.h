// prepare/importers/array_rows.h - the rows of a user's .npy matrix, block after block, in any order and type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "core/console/progress.h"
#include "core/files/npy.h"

namespace salient {

/// Rows [first, first + count) of [V, dim] in C order, whatever the order in the file.
template <class T>
void read_rows(const NpyFile& file, std::size_t dim, std::size_t first, std::size_t count, std::vector<T>& rows) {
  const auto convert = [&](const std::byte* raw, std::size_t items, T* out) {
    if constexpr (std::is_same_v<T, float>)
      convert_to_float(file.header(), raw, items, out);
    else
      convert_to_double(file.header(), raw, items, out);
  };
  const auto item = static_cast<std::size_t>(file.header().item_bytes);
  const std::byte* data = file.data().data();
  rows.resize(count * dim);
  if (!file.header().is_fortran_order) return convert(data + first * dim * item, rows.size(), rows.data());
  std::vector<T> column(count);
  for (std::size_t j = 0; j < dim; ++j) {
    convert(data + (j * file.header().shape[0] + first) * item, count, column.data());
    for (std::size_t i = 0; i < count; ++i) rows[i * dim + j] = column[i];
  }
}

/// Rows from `first` on where the file has them as T already, which spares a copy; else null.
template <class T>
const T* rows_in_place(const NpyFile& file, std::size_t dim, std::size_t first) {
  const NpyHeader& header = file.header();
  const bool is_here = header.kind == 'f' && header.item_bytes == int{sizeof(T)} && !header.is_big_endian &&
                       !header.is_fortran_order && header.data_offset % alignof(T) == 0;
  return is_here ? file.items<T>().data() + first * dim : nullptr;
}

/// use(values, number of the first row) for all rows, some at a time. @param label  of the progress
template <class T, class Use>
void for_each_row_block(const NpyFile& file, std::size_t dim, const char* label, Use use) {
  const std::size_t num_rows = file.header().shape[0], block = std::max<std::size_t>(1, (std::size_t{1} << 18) / dim);
  Progress progress(label, num_rows, "rows");
  std::vector<T> rows;
  for (std::size_t first = 0; first < num_rows; first += block) {
    const std::size_t count = std::min(block, num_rows - first);
    const T* values = rows_in_place<T>(file, dim, first);
    if (!values) {
      read_rows(file, dim, first, count, rows);
      values = rows.data();
    }
    use(std::span(values, count * dim), first);
    progress.add(count);
  }
}

}  // namespace salient
