// loaders/gather_rows.cpp - the host's row gather; what limits it is memory: latency of the reads, then bandwidth.
//
// Reads    the rows that come `kBytesAhead` later are prefetched line by line, so several misses are always under way.
// Writes   aligned 32-byte words by non-temporal stores: without them every line of `out` would first be read. Where
//          rows end inside a word, it is put together in a small buffer. Rows below 32 bytes, and an `out` that is not
//          aligned to 32, are left to the reference: rare, or of no caller.
//
// Best of 60 rounds, 100,000 of 2 M rows, one core of a busy 2-core server, GB/s of rows, beside the reference (a
// memcpy per row) and reading alone: 256 bytes 8.4, 7.0, 9.5; 200 bytes 6.6, 4.7, 6.6. Tried and dropped: joining odd
// rows in a 4 KiB buffer before they are streamed (200 bytes: 5.1).
#include "loaders/gather_rows.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace salient {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kWord = sizeof(__m256i);
constexpr std::size_t kBytesAhead = 2048;  // prefetch distance; at least one row, at most kMaxRowsAhead
constexpr std::size_t kMaxRowsAhead = 32;
constexpr std::size_t kPrefetchedBytes = 1024;  // of one row; past them the hardware follows the stream by itself

void prefetch(const std::byte* row, std::size_t row_bytes) {
  const std::byte* const end = row + std::min(row_bytes, kPrefetchedBytes);
  for (const std::byte* line = row - reinterpret_cast<std::uintptr_t>(row) % kLine; line < end; line += kLine)
    _mm_prefetch(line, _MM_HINT_NTA);
}

/// `out` aligned to kWord, `bytes` a multiple of it.
void stream(const std::byte* from, std::size_t bytes, std::byte* out) {
  for (std::size_t at = 0; at < bytes; at += kWord)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
}

void copy_word(const std::byte* from, std::byte* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

/// Calls take(row) for each row in turn, after prefetching the one that comes `ahead` rows later.
template <class Row, class Take>
void for_each_row(RowTable table, const Row* row_of, std::size_t num_out, Take take) {
  const auto row = [&](std::size_t i) { return table.data + static_cast<std::size_t>(row_of[i]) * table.row_bytes; };
  const std::size_t ahead = std::min(std::clamp<std::size_t>(kBytesAhead / table.row_bytes, 1, kMaxRowsAhead), num_out);
  for (std::size_t i = 0; i < ahead; ++i) prefetch(row(i), table.row_bytes);
  for (std::size_t i = 0; i < num_out - ahead; ++i) {
    prefetch(row(i + ahead), table.row_bytes);
    take(row(i));
  }
  for (std::size_t i = num_out - ahead; i < num_out; ++i) take(row(i));
}

/// Rows of at least kWord bytes that need not be a multiple of it: `out` is a stream of aligned words, of which the
/// first of a row begins with the last bytes of the row before. Those wait in `carry`.
template <class Row>
void gather_across_words(RowTable table, const Row* row_of, std::size_t num_out, std::byte* out) {
  alignas(kWord) std::array<std::byte, 3 * kWord> buffer{};
  std::byte* const carry =
      buffer.data() + kWord;  // room on either side: whole words are stored, a part of them is used
  std::size_t carried = 0;    // bytes in `carry`, below kWord
  for_each_row(table, row_of, num_out, [&](const std::byte* row) {
    copy_word(row, carry + carried);
    stream(carry, kWord, out);
    const std::size_t begin = kWord - carried;  // of the row is still to come
    const std::size_t middle = (table.row_bytes - begin) / kWord * kWord;
    stream(row + begin, middle, out + kWord);
    out += kWord + middle;
    carried = table.row_bytes - begin - middle;
    copy_word(row + table.row_bytes - kWord, carry + carried - kWord);
  });
  std::memcpy(out, carry, carried);
}

/// Rows of whole words of 16 numbers, and `out` aligned to kWord.
void gather_fp8_words(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out) {
  const __m256 factors = _mm256_set1_ps(256 * table.fp8_scale);
  for_each_row(table, row_of, num_out, [&](const std::byte* row) {
    const auto* const values = reinterpret_cast<const std::uint8_t*>(row);
    for (std::size_t c = 0; c < table.row_bytes; c += kWord / 2, out += kWord)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(out), sixteen_fp8_as_half(values + c, factors));
  });
  _mm_sfence();
}

/// gather_rows() of numbers of either width.
template <class Row>
void gather(RowTable table, const Row* row_of, std::size_t num_out, std::byte* out) {
  if (table.row_bytes == 0 || num_out == 0) return;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(out) % kWord == 0;
  if (!is_aligned || table.row_bytes < kWord) return gather_rows_reference(table, row_of, num_out, out);
  if (table.row_bytes % kWord == 0)
    for_each_row(table, row_of, num_out, [&](const std::byte* row) {
      stream(row, table.row_bytes, out);
      out += table.row_bytes;
    });
  else
    gather_across_words(table, row_of, num_out, out);
  _mm_sfence();  // streaming stores are weakly ordered: a reader that learns "done" must find them
}

}  // namespace

void gather_features(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out) {
  if (table.fp8_scale == 0 || table.row_bytes == 0 || num_out == 0) return gather_rows(table, row_of, num_out, out);
  if (table.row_bytes % (kWord / 2) == 0 && reinterpret_cast<std::uintptr_t>(out) % kWord == 0)
    return gather_fp8_words(table, row_of, num_out, out);
  for_each_row(table, row_of, num_out, [&](const std::byte* row) {
    fp8_to_halves(reinterpret_cast<const std::uint8_t*>(row), table.row_bytes, table.fp8_scale,
                  reinterpret_cast<std::uint16_t*>(out));
    out += table.row_bytes * sizeof(std::uint16_t);
  });
}

void gather_rows(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out) {
  gather(table, row_of, num_out, out);
}

void gather_rows(RowTable table, const std::int64_t* row_of, std::size_t num_out, std::byte* out) {
  gather(table, row_of, num_out, out);
}

}  // namespace salient
