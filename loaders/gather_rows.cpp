// loaders/gather_rows.cpp - the host's row gather; what limits it is memory: latency of the reads, then bandwidth.
//
// Reads    the rows that come `kBytesAhead` later are prefetched line by line, so several misses are always under way.
// Writes   whole cache lines by non-temporal stores: without them every line of `out` would first be read. Rows whose
//          size is a multiple of 32 bytes go from register to memory; others are joined in a small buffer first, since
//          only aligned lines can be streamed.
#include "loaders/gather_rows.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace salient {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kWord = sizeof(__m256i);
constexpr std::size_t kBytesAhead = 2048;        // prefetch distance; at least one row, at most kMaxRowsAhead
constexpr std::size_t kMaxRowsAhead = 32;
constexpr std::size_t kPrefetchedBytes = 1024;   // of one row; past them the hardware follows the stream by itself
constexpr std::size_t kJoinBytes = 4096;         // the buffer of joined rows stays in the first-level cache

void prefetch(const std::byte* row, std::size_t row_bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(row);
  const std::uintptr_t end = address + std::min(row_bytes, kPrefetchedBytes);
  for (std::uintptr_t line = address / kLine * kLine; line < end; line += kLine)
    _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_NTA);
}

/// `out` aligned to kWord, `bytes` a multiple of it.
void stream(const std::byte* from, std::size_t bytes, std::byte* out) {
  for (std::size_t at = 0; at < bytes; at += kWord)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
}

/// Calls take(row) for each row in turn, after prefetching the one that comes `ahead` rows later.
template <class Take>
void for_each_row(RowTable table, const NodeId* row_of, std::size_t num_out, Take take) {
  const auto row = [&](std::size_t i) { return table.data + row_of[i] * table.row_bytes; };
  const std::size_t ahead = std::min(std::clamp<std::size_t>(kBytesAhead / table.row_bytes, 1, kMaxRowsAhead), num_out);
  for (std::size_t i = 0; i < ahead; ++i) prefetch(row(i), table.row_bytes);
  for (std::size_t i = 0; i < num_out - ahead; ++i) {
    prefetch(row(i + ahead), table.row_bytes);
    take(row(i));
  }
  for (std::size_t i = num_out - ahead; i < num_out; ++i) take(row(i));
}

/// Rows of any size: joined in a buffer that is streamed out whenever it holds kJoinBytes.
void gather_joined(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out) {
  alignas(kLine) std::array<std::byte, kJoinBytes> joined;
  std::size_t filled = 0;
  for_each_row(table, row_of, num_out, [&](const std::byte* row) {
    for (std::size_t left = table.row_bytes; left > 0;) {
      const std::size_t part = std::min(left, kJoinBytes - filled);
      std::memcpy(joined.data() + filled, row, part);
      row += part;
      left -= part;
      filled += part;
      if (filled < kJoinBytes) continue;
      stream(joined.data(), kJoinBytes, out);
      out += kJoinBytes;
      filled = 0;
    }
  });
  std::memcpy(out, joined.data(), filled);
}

}  // namespace

void gather_rows(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out) {
  if (table.row_bytes == 0 || num_out == 0) return;
  if (reinterpret_cast<std::uintptr_t>(out) % kWord != 0) return gather_rows_reference(table, row_of, num_out, out);
  if (table.row_bytes % kWord == 0)
    for_each_row(table, row_of, num_out, [&](const std::byte* row) {
      stream(row, table.row_bytes, out);
      out += table.row_bytes;
    });
  else
    gather_joined(table, row_of, num_out, out);
  _mm_sfence();  // streaming stores are weakly ordered: whoever is told "done" must find them
}

}  // namespace salient
