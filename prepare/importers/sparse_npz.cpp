// prepare/importers/sparse_npz.cpp - see sparse_npz.h.
#include "prepare/importers/sparse_npz.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/free_memory.h"
#include "prepare/formats/npz_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/npz_tables.h"

namespace salient {
namespace {

/// A string without axes, "csr" say, as bytes or UTF-32; "" if there is no such array.
std::string text_of(const ZipArchive& archive, const std::string& name) {
  constexpr std::uint64_t kMaxBytes = 4096;
  const ZipMember* const member = archive.find(name + ".npy");
  if (!member) return "";
  ZipMemberStream stream(archive, *member);
  if (member->size < kNpyPreambleBytes || member->size > kMaxBytes)
    fail(ErrorKind::kBadData, stream.name() + ": is no name of a format");
  std::string bytes(member->size, '\0');
  stream.read(std::as_writable_bytes(std::span(bytes)));
  std::string text = bytes.substr(std::min(npy_header_bytes(bytes, stream.name()), bytes.size()));
  std::erase(text, '\0');
  return text;
}

/// All items, below `limit`.
template <class T>
std::vector<T> read_indices(NpzArray& array, std::uint64_t limit, const MemoryLimit& memory) {
  array.expect(NpzKind::kInteger);
  memory.check(array.items_left() * sizeof(T), array.name());
  std::vector<T> items;
  items.reserve(array.items_left());
  for_each_block<std::uint64_t>(array, "indices", [&](std::span<const std::uint64_t> block, std::uint64_t position) {
    for (const std::uint64_t item : block) {
      if (item >= limit)
        fail_at_item(array.name(), position, std::to_string(item),
                     "the matrix allows 0 to " + std::to_string(limit - 1));
      items.push_back(static_cast<T>(item));
      ++position;
    }
  });
  return items;
}

void read_values(NpzArray& array, SparseMatrix& matrix, const MemoryLimit& memory) {
  memory.check(array.items_left() * sizeof(double), array.name());
  matrix.values.resize(array.items_left());
  array.read(std::span(matrix.values));
}

/// Reads them all, and keeps whether they differ.
void pass_values(NpzArray& array, SparseMatrix& matrix) {
  std::optional<double> first;
  for_each_block<double>(array, "values", [&](std::span<const double> block, std::uint64_t) {
    if (!first) first = block.front();
    matrix.has_weights |= !std::ranges::all_of(block, [&](double value) { return value == *first; });
  });
}

void require_length(const NpzArray& array, std::uint64_t length) {
  if (array.header().shape.size() != 1 || array.header().shape[0] != length)
    fail(ErrorKind::kBadData,
         array.name() + ": has shape " + array.header().shape_text() + ", expected (" + std::to_string(length) + ",)");
}

/// Where each of `count` rows begins. It ascends from 0 to num_values.
std::vector<std::int64_t> read_begin(NpzArray& array, std::uint64_t count, std::uint64_t num_values,
                                     const MemoryLimit& memory) {
  require_length(array, count + 1);
  std::vector<std::int64_t> begin = read_indices<std::int64_t>(array, num_values + 1, memory);
  if (begin.front() != 0 || static_cast<std::uint64_t>(begin.back()) != num_values || !std::ranges::is_sorted(begin))
    fail(ErrorKind::kBadData,
         array.name() + ": does not ascend from 0 to the number of values, " + std::to_string(num_values));
  return begin;
}

/// Sorts values by their rows and keeps their order within a row.
void sort_by_rows(SparseMatrix& matrix, const std::vector<std::uint32_t>& rows, const MemoryLimit& memory) {
  memory.check(rows.size() * sizeof(std::uint32_t) + matrix.values.size() * sizeof(double) +
                   (matrix.num_rows + 1) * sizeof(std::int64_t),
               "a sparse matrix");
  matrix.begin.assign(matrix.num_rows + 1, 0);
  for (const std::uint32_t row : rows) ++matrix.begin[row + std::size_t{1}];
  for (std::size_t r = 0; r < matrix.num_rows; ++r) matrix.begin[r + 1] += matrix.begin[r];
  std::vector<std::uint32_t> columns(rows.size());
  std::vector<double> values(matrix.values.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {  // moves begin[r] to the end of row r
    const auto at = static_cast<std::size_t>(matrix.begin[rows[k]]++);
    columns[at] = matrix.columns[k];
    if (!values.empty()) values[at] = matrix.values[k];
  }
  std::copy_backward(matrix.begin.begin(), matrix.begin.end() - 1, matrix.begin.end());
  matrix.begin.front() = 0;
  matrix.columns = std::move(columns);
  matrix.values = std::move(values);
}

/// The number of the row, or column, of each value.
std::vector<std::uint32_t> spread(const std::vector<std::int64_t>& begin, const MemoryLimit& memory) {
  memory.check(static_cast<std::uint64_t>(begin.back()) * sizeof(std::uint32_t), "a sparse matrix");
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(begin.back()));
  for (std::size_t r = 0; r + 1 < begin.size(); ++r)
    std::fill(numbers.begin() + begin[r], numbers.begin() + begin[r + 1], static_cast<std::uint32_t>(r));
  return numbers;
}

void read_shape(const ZipArchive& archive, const std::string& prefix, SparseMatrix& matrix) {
  NpzArray array(archive, prefix + "shape");
  std::array<std::uint64_t, 2> shape{};
  require_length(array, shape.size());
  array.read(std::span<std::uint64_t>(shape));
  matrix.num_rows = shape[0];
  matrix.num_columns = shape[1];
  if (!is_node_count(matrix.num_rows) || !is_node_count(matrix.num_columns))
    fail(ErrorKind::kBadData, array.name() + ": is (" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) +
                                  "), expected 1 to 2^32 - 2 rows and columns");
}

/// Columns and values of row r: columns ascend, each once.
void read_row(const SparseMatrix& matrix, std::size_t r, std::vector<std::pair<std::uint32_t, double>>& row) {
  row.clear();
  for (auto k = static_cast<std::size_t>(matrix.begin[r]); k < static_cast<std::size_t>(matrix.begin[r + 1]); ++k)
    row.emplace_back(matrix.columns[k], matrix.values[k]);
  const auto by_column = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::ranges::is_sorted(row, by_column)) std::ranges::stable_sort(row, by_column);
  std::size_t last = 0;
  for (std::size_t k = 1; k < row.size(); ++k) {
    if (row[k].first == row[last].first)
      row[last].second += row[k].second;
    else
      row[++last] = row[k];
  }
  if (!row.empty()) row.resize(last + 1);
}

bool is_zero(const std::array<std::byte, sizeof(float)>& stored, FeatureType type) {
  const bool is_half = type == FeatureType::kF16;  // the sign is the last byte's
  return std::ranges::all_of(stored.begin(), stored.begin() + (is_half ? 1 : 3),
                             [](std::byte b) { return b == std::byte{0}; }) &&
         (stored[is_half ? 1 : 3] & std::byte{0x7F}) == std::byte{0};
}

}  // namespace

bool has_sparse_matrix(const ZipArchive& archive, std::string_view prefix) {
  const auto has = [&](const char* name) {
    return archive.find(std::string(prefix).append(name).append(".npy")) != nullptr;
  };
  return has("shape") && has("data") && ((has("indices") && has("indptr")) || (has("row") && has("col")));
}

SparseMatrix read_sparse_matrix(const ZipArchive& archive, const std::string& prefix, const MemoryLimit& memory,
                                SparseValues wanted) {
  const bool is_coo = archive.find(prefix + "indptr.npy") == nullptr;
  const std::string said = text_of(archive, prefix + "format"), format = said.empty() ? is_coo ? "coo" : "csr" : said;
  if (format != "coo" && (is_coo || (format != "csr" && format != "csc")))
    fail(ErrorKind::kBadData, archive.file().path().string() + ": has a sparse matrix of format " + in_quotes(format) +
                                  ", csr, csc and coo can be read");
  SparseMatrix matrix;
  read_shape(archive, prefix, matrix);
  NpzArray data(archive, prefix + "data");
  require_length(data, data.header().num_items());
  const std::uint64_t num_values = data.header().num_items();
  if (wanted == SparseValues::kRead)
    read_values(data, matrix, memory);
  else
    pass_values(data, matrix);
  if (is_coo) {
    NpzArray row(archive, prefix + "row"), column(archive, prefix + "col");
    require_length(row, num_values);
    require_length(column, num_values);
    matrix.columns = read_indices<std::uint32_t>(column, matrix.num_columns, memory);
    sort_by_rows(matrix, read_indices<std::uint32_t>(row, matrix.num_rows, memory), memory);
    return matrix;
  }
  const bool is_csr = format == "csr";
  NpzArray indptr(archive, prefix + "indptr"), indices(archive, prefix + "indices");
  require_length(indices, num_values);
  std::vector<std::int64_t> begin =
      read_begin(indptr, is_csr ? matrix.num_rows : matrix.num_columns, num_values, memory);
  std::vector<std::uint32_t> others =
      read_indices<std::uint32_t>(indices, is_csr ? matrix.num_columns : matrix.num_rows, memory);
  if (is_csr) {
    matrix.begin = std::move(begin);
    matrix.columns = std::move(others);
    return matrix;
  }
  matrix.columns = spread(begin, memory);
  free_memory_of(begin);
  sort_by_rows(matrix, others, memory);
  return matrix;
}

RawFeatures sparse_features(const SparseMatrix& matrix, FeatureType type, const std::string& file,
                            const MemoryLimit& memory) {
  constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 20;
  if (matrix.num_columns > kMaxDim)
    fail(ErrorKind::kBadData, file + ": features of " + std::to_string(matrix.num_columns) + " columns, at most " +
                                  std::to_string(kMaxDim) + " are possible");
  RawFeatures features{.type = type, .dim = static_cast<int>(matrix.num_columns), .layout = FeatureLayout::kCsr};
  const std::size_t num_values = matrix.values.size(), item = size_of(type);
  memory.check(num_values * (sizeof(std::uint32_t) + item) + (matrix.num_rows + 1) * sizeof(std::int64_t), file);
  features.begin.reserve(matrix.num_rows + 1);
  features.columns.reserve(num_values);
  features.rows.reserve(num_values * item);
  features.begin.push_back(0);
  features.file = file;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::size_t r = 0; r < matrix.num_rows; ++r) {
    read_row(matrix, r, row);
    for (const auto& [column, value] : row) {
      std::array<std::byte, sizeof(float)> stored{};
      convert_features(std::span(&value, 1), type, features.dim, r * matrix.num_columns + column, file, stored.data());
      features.losses.add_entry(column, value, stored.data(), type, features.dim);
      if (is_zero(stored, type)) continue;
      features.columns.push_back(column);
      features.rows.insert(features.rows.end(), stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(item));
    }
    features.begin.push_back(static_cast<std::int64_t>(features.columns.size()));
  }
  return features;
}

}  // namespace salient
