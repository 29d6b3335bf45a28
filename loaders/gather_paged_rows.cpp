// loaders/gather_paged_rows.cpp - see gather_paged_rows.h.
#include "loaders/gather_paged_rows.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::size_t kWindow = 2048;  // rows that are asked for at a time: 8 MB of pages at most where rows are small

/// Where a row is copied from and to.
struct Copy {
  NodeId row;
  std::uint32_t out;
};

std::uintptr_t page_bytes() {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uintptr_t page_of(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address) / page_bytes(); }

void ask_for_pages(std::uintptr_t first, std::uintptr_t last) {
  (void)madvise(reinterpret_cast<void*>(first * page_bytes()), (last - first + 1) * page_bytes(), MADV_WILLNEED);
}

/// Rows in ascending order: those on neighbouring pages are one request.
void ask_for_rows(RowTable table, std::span<const Copy> copies) {
  if (copies.empty()) return;
  std::uintptr_t first = page_of(table.data + copies[0].row * table.row_bytes), last = first;
  for (const Copy& copy : copies) {
    const std::byte* const row = table.data + copy.row * table.row_bytes;
    if (page_of(row) > last + 1) {
      ask_for_pages(first, last);
      first = page_of(row);
    }
    last = page_of(row + table.row_bytes - 1);
  }
  ask_for_pages(first, last);
}

}  // namespace

void gather_paged_rows(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out) {
  require(table.fp8_scale == 0, "rows are copied as they are");
  if (table.row_bytes == 0 || num_out == 0) return;
  std::vector<Copy> copies(num_out);
  for (std::size_t i = 0; i < num_out; ++i) copies[i] = {row_of[i], static_cast<std::uint32_t>(i)};
  std::ranges::sort(copies, {}, &Copy::row);
  const auto window = [&](std::size_t first) {
    const std::size_t begin = std::min(first, num_out);
    return std::span(copies).subspan(begin, std::min(kWindow, num_out - begin));
  };
  ask_for_rows(table, window(0));
  for (std::size_t first = 0; first < num_out; first += kWindow) {
    ask_for_rows(table, window(first + kWindow));
    for (const Copy& copy : window(first))
      std::memcpy(out + copy.out * table.row_bytes, table.data + copy.row * table.row_bytes, table.row_bytes);
  }
}

void read_ahead(const std::byte* begin, std::size_t bytes) {
  if (bytes > 0) ask_for_pages(page_of(begin), page_of(begin + bytes - 1));
}

}  // namespace salient
