// prepare/formats/table_file.cpp - see table_file.h.
#include "prepare/formats/table_file.h"

#include <algorithm>
#include <utility>

namespace salient {

bool is_skipped_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '#' || line[first] == '%';
}

TableFile::TableFile(const std::filesystem::path& path) : reader_(std::make_unique<LineReader>(path)) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  bool has_sizes = false;  // a line in front of the rows
  for (std::string_view line; head_.size() < 2 && reader_->next(line);) {
    const bool is_first = reader_->line_number() == 1;
    if (is_first && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (is_first) has_sizes = line.starts_with("%%MatrixMarket") || line.starts_with("%MatrixMarket");
    if (is_skipped_line(line) || std::exchange(has_sizes, false)) continue;
    head_.push_back({reader_->line_number(), std::string(line)});
  }
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
