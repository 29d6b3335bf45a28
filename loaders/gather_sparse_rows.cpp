// loaders/gather_sparse_rows.cpp - see gather_sparse_rows.h.
#include "loaders/gather_sparse_rows.h"

#include <cstring>
#include <limits>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::size_t kRowsAhead = 8, kBeginsAhead = 32, kLine = 64;
static_assert(sizeof(LocalId) == sizeof(std::uint32_t));  // columns are below 2^31 and are copied as they are

void prefetch(const void* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const std::byte*>(from) + at);
}

}  // namespace

LocalId begin_of_rows(const SparseRowTable& table, const NodeId* row_of, std::size_t num_out, LocalId* begin) {
  std::int64_t sum = 0;
  begin[0] = 0;
  for (std::size_t i = 0; i < num_out; ++i) {
    if (i + kBeginsAhead < num_out) __builtin_prefetch(&table.begin[row_of[i + kBeginsAhead]]);
    sum += table.begin[row_of[i] + std::size_t{1}] - table.begin[row_of[i]];
    if (sum > std::numeric_limits<LocalId>::max())
      fail(ErrorKind::kHostMemory, "the feature rows of a batch have 2^31 values or more", Topic::kBatch);
    begin[i + 1] = static_cast<LocalId>(sum);
  }
  return begin[num_out];
}

void gather_sparse_rows(const SparseRowTable& table, const NodeId* row_of, std::size_t num_out,
                        const SparseRowsOut& out) {
  for (std::size_t i = 0; i < num_out; ++i) {
    if (i + kRowsAhead < num_out) {
      const auto ahead = static_cast<std::size_t>(table.begin[row_of[i + kRowsAhead]]);
      const auto count = static_cast<std::size_t>(out.begin[i + kRowsAhead + 1] - out.begin[i + kRowsAhead]);
      prefetch(table.columns.data() + ahead, count * sizeof(LocalId));
      prefetch(table.values + ahead * out.value_bytes, count * out.value_bytes);
    }
    const auto from = static_cast<std::size_t>(table.begin[row_of[i]]), to = static_cast<std::size_t>(out.begin[i]);
    const auto count = static_cast<std::size_t>(out.begin[i + 1]) - to;
    if (count == 0) continue;
    std::memcpy(out.columns + to, table.columns.data() + from, count * sizeof(LocalId));
    std::memcpy(out.values + to * out.value_bytes, table.values + from * out.value_bytes, count * out.value_bytes);
  }
}

}  // namespace salient
