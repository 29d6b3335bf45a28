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

/// A line of a table that is not blank.
struct TableRow {
  std::uint64_t number = 0;
  std::string text{};
};

/// What a Matrix Market file says in front of its entries: a line "row column", with a value or two, or none, for each.
/// Rows and columns count from 1.
struct MatrixSizes {
  std::uint64_t num_rows = 0, num_columns = 0, num_entries = 0;
  bool is_symmetric = false;  ///< or skew-symmetric, or Hermitian: of an entry and its mirror image one is there
  bool has_values = true;     ///< an entry has more than its place
};

/// Lines that were left out as comments.
struct Comments {
  std::uint64_t count = 0;
  TableRow first{};
};

/// Where a line that begins with '#' or '%' is a comment. In front of the first row it always is.
enum class CommentRule {
  kInFront,   ///< only there: below it may be data, as the first field of a row may be any text
  kAnywhere,  ///< below, too: rows begin with numbers
};

/// How the rows of a table are read.
struct RowRules {
  Separator separator = Separator::kComma;
  std::size_t num_columns = 0;  ///< a row of another width is refused
  CommentRule comments = CommentRule::kInFront;
  bool lines_are_rows = false;  ///< the number of a line says which row it is: a blank one above a row is refused
  int num_threads = 0;          ///< 0 = all cores
  std::string label{};          ///< of the progress bar
};

/// Opens a table and reads its first lines, from which its user tells what the columns are.
class TableFile {
 public:
  /// @throws as LineReader; Error{kBadData} for a Matrix Market file without sizes, or that lists all values, and for
  ///         other formats of graphs in text (known_graph_format())
  explicit TableFile(const std::filesystem::path& path);

  /// The first row, or the header, and behind it all up to the next line that does not look like a comment. The sizes
  /// of a Matrix Market file are left out.
  const std::vector<TableRow>& head() const { return head_; }
  const std::optional<MatrixSizes>& matrix() const { return matrix_; }  ///< of a Matrix Market file
  const Comments& comments_in_front() const { return comments_in_front_; }
  const std::filesystem::path& path() const { return reader_->path(); }

  /// The fields of a line of head(). @throws Error{kBadData} for bad quotes
  std::vector<std::string> fields_of(const TableRow& row, Separator separator) const;

  /// The fields of the rows below the first one, up to `num_rows` of them, those that have its width and no bad quotes.
  /// for_each_row() has all the same rows then. Called once, before take_header().
  std::vector<std::vector<std::string>> read_ahead(std::size_t num_rows, const RowRules& rules);

  /// The first line has the names of the columns and is no row.
  void take_header();

  /// parse(fields, row number, line, parsed) for every row, in blocks on several threads; then consume(parsed) for
  /// each block, in the order of the file. Then the log says which comments might have been rows.
  /// @throws as for_each_line_block(); Error{kBadData} for bad quotes, and rows that break `rules` or repeat the header
  template <class Parsed, class Parse, class Consume>
  void for_each_row(const RowRules& rules, Parse parse, Consume consume) {
    struct Block {
      Parsed parsed{};
      Comments comments{};
      std::uint64_t first_row = 0, last_blank = 0;  ///< numbers of lines, 0 = none
    };
    const auto parse_line = [&](TableLine& fields, std::string_view line, std::uint64_t number, Block& block) {
      const char sign = first_character(line);
      if (sign == '\0') {
        block.last_blank = number;
      } else if (rules.comments == CommentRule::kAnywhere && is_comment_sign(sign)) {
        if (line == "#") fail_at_line(path(), number, line, "parts nodes from edges, as in TGF; keep the edges alone");
        take_comment(block.comments, number, line);
      } else {
        check_blank(rules, block.last_blank);
        if (const char* rule = fields.split(line, rules.separator)) fail_at_line(path(), number, line, rule);
        if (fields.fields().size() != rules.num_columns || line == header_)
          refuse_row(rules, fields.fields().size(), number, line);
        if (block.first_row == 0) block.first_row = number;
        parse(fields.fields(), number, line, block.parsed);
      }
    };
    Comments comments;
    std::uint64_t last_blank = 0;
    const auto consume_block = [&](Block&& block) {
      if (block.first_row > 0) check_blank(rules, last_blank);
      if (block.last_blank > 0) last_blank = block.last_blank;
      if (comments.count == 0) comments.first = block.comments.first;
      comments.count += block.comments.count;
      consume(std::move(block.parsed));
    };
    check_blank(rules, blank_in_head_);
    Block head;
    TableLine fields;
    for (const std::vector<TableRow>* lines : {&head_, &ahead_})
      for (const TableRow& row : *lines) parse_line(fields, row.text, row.number, head);
    consume_block(std::move(head));
    const auto parse_block = [&](const LineBlock& lines) {
      Block block;
      TableLine own_fields;
      std::uint64_t number = lines.first_line;
      std::string_view text = lines.text;
      for (std::string_view line; take_line(text, line); ++number) parse_line(own_fields, line, number, block);
      return block;
    };
    for_each_line_block<Block>(*reader_, rules.num_threads, rules.label, parse_block, consume_block);
    say_comments(rules, comments);
  }

 private:
  /// Behind blanks; 0 of a blank line.
  static char first_character(std::string_view line) {
    for (const char c : line)
      if (c != ' ' && c != '\t') return c;
    return '\0';
  }
  static bool is_comment_sign(char c) { return c == '#' || c == '%'; }
  static void take_comment(Comments& comments, std::uint64_t number, std::string_view line);
  void check_blank(const RowRules& rules, std::uint64_t blank_line) const;
  [[noreturn]] void refuse_row(const RowRules& rules, std::size_t num_columns, std::uint64_t number,
                               std::string_view line) const;
  void say_comments(const RowRules& rules, const Comments& below) const;

  std::unique_ptr<LineReader> reader_;
  std::vector<TableRow> head_;
  std::vector<TableRow> ahead_;  ///< lines behind it, blank ones and comments included
  std::uint64_t blank_in_head_ = 0;
  std::optional<std::string> header_{};
  Comments comments_in_front_{};
  std::optional<MatrixSizes> matrix_{};
};

/// @param column  a number from 0, or a name of the header   @return  its place
/// @throws Error{kBadData} if the header does not have it
std::size_t column_named(const std::string& column, const std::vector<std::string>& header, const TableFile& table,
                         Topic topic);

/// Says which columns of a table are not used, by name or number.
/// @param header  empty = the table has none
void say_unused(const TableFile& table, const std::vector<std::string>& header, const std::vector<std::size_t>& used,
                std::size_t num_columns);

/// Says that the first row, 0, 1, 2, ..., may be a header of numbers, as pandas writes columns without names.
void say_if_counted(const TableFile& table, Separator separator);

}  // namespace salient
