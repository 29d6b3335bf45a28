// prepare/formats/table_file.cpp - see table_file.h.
#include "prepare/formats/table_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace salient {
namespace {

/// A first line such as "%%MatrixMarket matrix coordinate real symmetric", of which people leave out the end.
class MatrixBanner {
 public:
  explicit MatrixBanner(std::string_view line) : words_(line) {
    std::ranges::transform(words_, words_.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    is_there_ = words_.starts_with("%%matrixmarket") || words_.starts_with("%matrixmarket");
  }
  bool is_there() const { return is_there_; }
  bool has(std::string_view word) const { return words_.find(word) != std::string::npos; }

 private:
  std::string words_;
  bool is_there_ = false;
};

MatrixSizes read_sizes(const MatrixBanner& banner, const LineReader& reader, std::string_view line) {
  const auto refuse = [&](const char* rule) { fail_at_line(reader.path(), reader.line_number(), line, rule); };
  if (banner.has(" array")) refuse("the matrix lists all its values; those of a graph have entries (coordinate)");
  TableLine fields;
  std::array<std::uint64_t, 3> sizes{};
  const bool are_three = fields.split(line, Separator::kBlanks) == nullptr && fields.fields().size() == sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!are_three || !parse_number(fields.fields()[i], sizes[i]))
      refuse("is not the sizes of a matrix: rows, columns, entries");
  return {.num_rows = sizes[0],
          .num_columns = sizes[1],
          .num_entries = sizes[2],
          .is_symmetric = banner.has("symmetric") || banner.has("hermitian")};
}

}  // namespace

bool is_skipped_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '#' || line[first] == '%';
}

TableFile::TableFile(const std::filesystem::path& path) : reader_(std::make_unique<LineReader>(path)) {
  std::optional<MatrixBanner> banner;
  for (std::string_view line; head_.size() < 2 && reader_->next(line);) {
    const bool is_first = reader_->line_number() == 1;
    if (is_first) banner.emplace(line);
    if (is_skipped_line(line)) continue;
    if (banner->is_there() && !matrix_)
      matrix_ = read_sizes(*banner, *reader_, line);
    else
      head_.push_back({reader_->line_number(), std::string(line)});
  }
  if (banner && banner->is_there() && !matrix_)
    fail(ErrorKind::kBadData, this->path().string() + ": a Matrix Market file that ends before its sizes");
}

std::vector<std::string> TableFile::fields_of(const TableRow& row, Separator separator) const {
  TableLine line;
  if (const char* rule = line.split(row.text, separator)) fail_at_line(path(), row.number, row.text, rule);
  return {line.fields().begin(), line.fields().end()};
}

std::size_t column_named(const std::string& column, const std::vector<std::string>& header, const TableFile& table,
                         Topic topic) {
  std::size_t number = 0;
  if (parse_number(std::string_view(column), number)) return number;
  const auto found = std::ranges::find(header, column);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  std::string text = table.path().string() + ": has no column " + in_quotes(column);
  for (const std::string& name : header)
    if (text.size() < 300) text.append(&name == &header.front() ? "; it has: " : ", ").append(in_quotes(name));
  fail(ErrorKind::kBadData, header.empty() ? text + ", and no header" : text, topic);
}

}  // namespace salient
