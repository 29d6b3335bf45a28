// models/ops/bf16_product.cpp - see bf16_product.h.
//
// oneDNN's kernel multiplies A [m, k], row-major, by B [k, n] in words of two rows, `words[k / 2][64]` for each 64
// columns. A product by a weight goes over blocks of 64 rows, of which the last is computed whole into a buffer. The
// gradient of a weight, where the sum is over the batch's rows, goes over chunks of rows with a sum each, which are
// added up in order. So tiles have few sizes, whatever the batch has.
#include "models/ops/bf16_product.h"

#include <ATen/native/CPUBlas.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "models/kernels/parallel.h"
#include "models/ops/bf16_tiles.h"

namespace salient {
namespace {

constexpr std::int64_t kTileRows = 64, kTileColumns = 64;
constexpr std::int64_t kDepth = 512;       // of a tile: columns of A at a time
constexpr std::int64_t kChunkDepth = 256;  // rows of a batch that a weight's gradient takes at a time
constexpr std::int64_t kChunkColumns = 256;
constexpr std::int64_t kMaxChunks = 32, kMaxSums = std::int64_t{8} << 20;  // of a gradient; floats in all of them

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

FactorRows rows_of(const at::Tensor& x) {
  const FactorType type = x.scalar_type() == at::kFloat  ? FactorType::kF32
                          : x.scalar_type() == at::kHalf ? FactorType::kF16
                                                         : FactorType::kBf16;
  return {x.const_data_ptr(), x.stride(0), type};
}

/// x's rows lie one behind the other, each without gaps.
bool has_rows(const at::Tensor& x) { return x.size(1) == 1 || x.stride(1) == 1; }
at::Tensor with_rows(const at::Tensor& x) { return has_rows(x) ? x : x.contiguous(); }

/// C = A B or C += A B by oneDNN, which keeps a kernel for each shape and thread. Its parameters are those of a BLAS.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const std::uint16_t* a, std::int64_t a_stride,
              const std::uint32_t* b, float* c, std::int64_t c_stride, bool adds) {
  at::native::cpublas::brgemm(m, n, k, a_stride, kTileColumns, c_stride, adds, reinterpret_cast<const at::BFloat16*>(a),
                              reinterpret_cast<const at::BFloat16*>(b), c);
}

/// Words of two rows of a weight, 64 columns after the other: [n / 64][k / 2][64].
std::vector<std::uint32_t> packed(const at::Tensor& b) {
  const std::int64_t k = b.size(0), n = b.size(1), pairs = round_up(ceil_div(k, 2), kLanes);
  std::vector<std::uint32_t> out(static_cast<std::size_t>(ceil_div(n, kTileColumns) * pairs * kTileColumns));
  const bool is_transposed = !has_rows(b);
  const at::Tensor source = with_rows(is_transposed ? b.t() : b);
  const FactorRows rows = rows_of(source);
  parallel_rows(ceil_div(n, kTileColumns), 1, [&](std::int64_t block) {
    const std::int64_t first = block * kTileColumns, columns = std::min(kTileColumns, n - first);
    std::uint32_t* const words = out.data() + block * pairs * kTileColumns;
    if (!is_transposed) {
      for (std::int64_t r = 0; r < k; r += 2)
        pair_rows(words + r / 2 * kTileColumns, rows.at(r, first), r + 1 < k ? rows.at(r + 1, first) : nullptr,
                  rows.type, columns, kTileColumns);
      return;
    }
    std::vector<std::uint32_t> turned(static_cast<std::size_t>(kLanes * pairs));
    for (std::int64_t i = 0; i < columns; i += kLanes) {
      for (std::int64_t r = 0; r < std::min(kLanes, columns - i); ++r)
        round_row(reinterpret_cast<std::uint16_t*>(turned.data() + r * pairs), rows.at(first + i + r, 0), rows.type, k,
                  2 * pairs);
      for (std::int64_t p = 0; p < pairs; p += kLanes)
        transpose_words(words + p * kTileColumns + i, kTileColumns, turned.data() + p, pairs);
    }
  });
  return out;
}

/// Products of a batch's rows by a weight.
void rows_by_weight(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, bool adds) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1), pairs = round_up(ceil_div(k, 2), kLanes);
  const std::vector<std::uint32_t> words = packed(b);
  const FactorRows rows = rows_of(a);
  auto* const result = y.mutable_data_ptr<float>();
  const std::int64_t stride = y.stride(0);
  parallel_rows(ceil_div(m, kTileRows), 1, [&](std::int64_t block) {
    const std::int64_t first = block * kTileRows, num_rows = std::min(kTileRows, m - first);
    const bool is_whole = num_rows == kTileRows;
    thread_local std::vector<std::uint16_t> tile(kTileRows * kDepth);
    const std::int64_t num_sums = is_whole ? 0 : kTileRows * round_up(n, kTileColumns);
    std::vector<float> sums(static_cast<std::size_t>(num_sums));
    for (std::int64_t at = 0; at < k; at += kDepth) {
      const std::int64_t depth = std::min(kDepth, k - at);
      for (std::int64_t r = 0; r < num_rows; ++r)
        round_row(tile.data() + r * kDepth, rows.at(first + r, at), rows.type, depth, round_up(depth, 2 * kLanes));
      for (std::int64_t j = 0; j < n; j += kTileColumns) {
        const std::int64_t columns = std::min(kTileColumns, n - j);
        const std::uint32_t* const w = words.data() + (j / kTileColumns * pairs + at / 2) * kTileColumns;
        if (is_whole) {
          multiply(kTileRows, columns, round_up(depth, 2), tile.data(), kDepth, w, result + first * stride + j, stride,
                   adds || at > 0);
        } else {
          multiply(kTileRows, columns, round_up(depth, 2), tile.data(), kDepth, w, sums.data() + j * kTileRows,
                   kTileColumns, at > 0);
        }
      }
    }
    for (std::int64_t r = 0; !is_whole && r < num_rows; ++r)
      for (std::int64_t j = 0; j < n; ++j) {
        float* const to = result + (first + r) * stride + j;
        const float sum = sums[static_cast<std::size_t>(j / kTileColumns * kTileColumns * kTileRows + r * kTileColumns +
                                                        j % kTileColumns)];
        *to = adds ? *to + sum : sum;
      }
    at::native::cpublas::brgemm_release();
  });
}

/// sum over rows r of a[r]^T x[r]: what the gradient of a weight is. a is [rows, m], x [rows, n].
void sum_over_rows(const at::Tensor& y, const at::Tensor& a, const at::Tensor& x, bool adds) {
  const std::int64_t num_rows = a.size(0), m = a.size(1), n = x.size(1), wide = round_up(m, kLanes);
  const std::int64_t most = std::clamp(kMaxSums / std::max<std::int64_t>(1, m * n), std::int64_t{1}, kMaxChunks);
  const std::int64_t chunk = round_up(std::max(kChunkDepth, ceil_div(num_rows, most)), kChunkDepth);
  const std::int64_t num_chunks = ceil_div(num_rows, chunk), blocks = ceil_div(n, kChunkColumns);
  const at::Tensor sums = at::empty({num_chunks, m, n}, at::kFloat);
  auto* const all = sums.mutable_data_ptr<float>();
  const FactorRows left = rows_of(a), right = rows_of(x);
  parallel_rows(num_chunks * blocks, 1, [&](std::int64_t task) {
    const std::int64_t c = task / blocks, j0 = task % blocks * kChunkColumns, j1 = std::min(n, j0 + kChunkColumns);
    thread_local std::vector<std::uint32_t> pairs, turned, words(kChunkDepth / 2 * kChunkColumns);
    pairs.resize(static_cast<std::size_t>(kLanes * wide));
    turned.resize(static_cast<std::size_t>(wide * kChunkDepth / 2));
    for (std::int64_t at = c * chunk; at < std::min(num_rows, (c + 1) * chunk); at += kChunkDepth) {
      const std::int64_t end = std::min(num_rows, at + kChunkDepth);
      const std::int64_t depth = round_up(end - at, 2 * kLanes);
      for (std::int64_t p = 0; p < depth / 2; ++p) {
        const std::int64_t low = std::min(at + 2 * p, end - 1), high = low + 1;  // a row behind the end: no columns
        const std::int64_t has_row = at + 2 * p < end ? 1 : 0;
        pair_rows(pairs.data() + p % kLanes * wide, left.at(low, 0), high < end ? left.at(high, 0) : nullptr, left.type,
                  has_row * m, wide);
        for (std::int64_t j = j0; j < j1; j += kTileColumns)
          pair_rows(words.data() + (j - j0) * kChunkDepth / 2 + p * kTileColumns, right.at(low, j),
                    high < end ? right.at(high, j) : nullptr, right.type, has_row * std::min(kTileColumns, n - j),
                    kTileColumns);
        if (p % kLanes != kLanes - 1) continue;
        for (std::int64_t i = 0; i < wide; i += kLanes)
          transpose_words(turned.data() + i * kChunkDepth / 2 + p - (kLanes - 1), kChunkDepth / 2, pairs.data() + i,
                          wide);
      }
      for (std::int64_t j = j0; j < j1; j += kTileColumns)
        multiply(m, std::min(kTileColumns, n - j), depth, reinterpret_cast<const std::uint16_t*>(turned.data()),
                 kChunkDepth, words.data() + (j - j0) * kChunkDepth / 2, all + c * m * n + j, n, at > c * chunk);
    }
    at::native::cpublas::brgemm_release();
  });
  parallel_rows(m, 8, [&](std::int64_t i) {
    float* const to = y.mutable_data_ptr<float>() + i * y.stride(0);
    if (!adds) std::fill_n(to, n, 0.0F);
    for (std::int64_t c = 0; c < num_chunks; ++c) {
      const float* const from = all + (c * m + i) * n;
      for (std::int64_t j = 0; j < n; ++j) to[j] += from[j];
    }
  });
}

}  // namespace

void bf16_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, bool adds) {
  require(y.scalar_type() == at::kFloat && has_rows(y), "a product's sums are f32 rows");
  if (y.numel() == 0) return;
  if (a.size(1) == 0) {
    if (!adds) y.zero_();
  } else if (a.stride(0) == 1 && (!has_rows(a) || a.size(0) == 1)) {
    sum_over_rows(y, a.t(), with_rows(b), adds);
  } else {
    rows_by_weight(y, with_rows(a), b, adds);
  }
}

}  // namespace salient
