// prepare/formats/table_file.h - a table in a text file, plain or gzip, of any size: its header and its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "prepare/formats/line_blocks.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/table_line.h"
#include "prepare/formats/text_fields.h"

namespace salient {

/// A line of a table that is neither empty nor a comment.
struct TableRow {
  std::uint64_t number = 0;
  std::string text{};
};

/// What a Matrix Market file says in front of its entries: a line "row column", with a value or two, or none, for each.
/// Rows and columns count from 1.
struct MatrixSizes {
  std::uint64_t num_rows = 0, num_columns = 0, num_entries = 0;
  bool is_symmetric = false;  ///< or skew-symmetric, or Hermitian: of an entry and its mirror image one is there
};

/// Blank, or a comment: it begins with '#' or '%'.
bool is_skipped_line(std::string_view line);

/// Opens a table and reads its first two lines that count, from which its user tells what the columns are.
class TableFile {
 public:
  /// @throws as LineReader; Error{kBadData} for a Matrix Market file without sizes, or that lists all values
  explicit TableFile(const std::filesystem::path& path);

  /// At most two, before take_header() removes one. The sizes of a Matrix Market file are left out.
  const std::vector<TableRow>& head() const { return head_; }
  const std::optional<MatrixSizes>& matrix() const { return matrix_; }  ///< of a Matrix Market file
  const std::filesystem::path& path() const { return reader_->path(); }

  /// The fields of a line of head(). @throws Error{kBadData} for bad quotes
  std::vector<std::string> fields_of(const TableRow& row, Separator separator) const;

  /// The first line has the names of the columns and is no row.
  void take_header() { head_.erase(head_.begin()); }

  /// parse(fields, row number, line, parsed) for every row, in blocks on several threads; then consume(parsed) for
  /// each block, in the order of the file.
  /// @throws as for_each_line_block(); Error{kBadData} for bad quotes
  template <class Parsed, class Parse, class Consume>
  void for_each_row(Separator separator, int num_threads, const std::string& label, Parse parse, Consume consume) {
    const auto parse_row = [&](TableLine& fields, std::string_view line, std::uint64_t number, Parsed& parsed) {
      if (is_skipped_line(line)) return;
      if (const char* rule = fields.split(line, separator)) fail_at_line(path(), number, line, rule);
      parse(fields.fields(), number, line, parsed);
    };
    TableLine fields;
    for (const TableRow& row : head_) {
      Parsed parsed;
      parse_row(fields, row.text, row.number, parsed);
      consume(std::move(parsed));
    }
    const auto parse_block = [&](const LineBlock& block) {
      Parsed parsed;
      TableLine own_fields;
      std::uint64_t number = block.first_line;
      std::string_view text = block.text;
      for (std::string_view line; take_line(text, line); ++number) parse_row(own_fields, line, number, parsed);
      return parsed;
    };
    for_each_line_block<Parsed>(*reader_, num_threads, label, parse_block, consume);
  }

 private:
  std::unique_ptr<LineReader> reader_;
  std::vector<TableRow> head_;
  std::optional<MatrixSizes> matrix_{};
};

/// @param column  a number from 0, or a name of the header   @return  its place
/// @throws Error{kBadData} if the header does not have it
std::size_t column_named(const std::string& column, const std::vector<std::string>& header, const TableFile& table,
                         Topic topic);

}  // namespace salient
