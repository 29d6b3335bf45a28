// prepare/formats/table_file.cpp - see table_file.h.
#include "prepare/formats/table_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/console/log.h"
#include "core/lower_case.h"
#include "prepare/formats/graph_formats.h"

namespace salient {
namespace {

/// A first line such as "%%MatrixMarket matrix coordinate real symmetric", of which people leave out the end.
class MatrixBanner {
 public:
  explicit MatrixBanner(std::string_view line) : words_(lower(line)) {
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
          .is_symmetric = banner.has("symmetric") || banner.has("hermitian"),
          .has_values = !banner.has("pattern")};
}

}  // namespace

TableFile::TableFile(const std::filesystem::path& path) : reader_(std::make_unique<LineReader>(path)) {
  if (const GraphFormat* format = known_graph_format(reader_->peek()))
    fail(ErrorKind::kBadData,
         path.string() + ": it looks like " + format->name + ", which is no table; " + format->remedy);
  constexpr std::size_t kMaxHead = 1000;
  std::optional<MatrixBanner> banner;
  std::uint64_t blank = 0;
  for (std::string_view line; head_.size() < kMaxHead && reader_->next(line);) {
    const std::uint64_t number = reader_->line_number();
    const char sign = first_character(line);
    const bool is_comment = is_comment_sign(sign);
    if (sign == '\0') {
      if (blank == 0) blank = number;
    } else if (head_.empty() && is_comment) {
      if (MatrixBanner found(line); found.is_there() && !banner) banner = std::move(found);
      take_comment(comments_in_front_, number, line);
    } else if (banner && !matrix_) {
      matrix_ = read_sizes(*banner, *reader_, line);
    } else {
      head_.push_back({number, std::string(line)});
      if (blank > 0 && blank_in_head_ == 0) blank_in_head_ = blank;
      if (head_.size() > 1 && !is_comment) break;
    }
  }
  if (banner && !matrix_)
    fail(ErrorKind::kBadData, this->path().string() + ": a Matrix Market file that ends before its sizes");
}

std::vector<std::vector<std::string>> TableFile::read_ahead(std::size_t num_rows, const RowRules& rules) {
  std::vector<std::vector<std::string>> sample;
  TableLine fields;
  const auto take = [&](const TableRow& row) {
    const char sign = first_character(row.text);
    const bool is_row = sign != '\0' && (rules.comments == CommentRule::kInFront || !is_comment_sign(sign));
    if (is_row && fields.split(row.text, rules.separator) == nullptr && fields.fields().size() == rules.num_columns)
      sample.emplace_back(fields.fields().begin(), fields.fields().end());
  };
  for (std::size_t i = 1; i < head_.size(); ++i) take(head_[i]);
  std::string_view line;
  while (sample.size() < num_rows && ahead_.size() < 2 * num_rows && reader_->next(line)) {
    ahead_.push_back({reader_->line_number(), std::string(line)});
    take(ahead_.back());
  }
  return sample;
}

void TableFile::take_header() {
  header_ = std::move(head_.front().text);
  head_.erase(head_.begin());
}

void TableFile::take_comment(Comments& comments, std::uint64_t number, std::string_view line) {
  if (comments.count++ == 0) comments.first = {number, std::string(line)};
}

void TableFile::check_blank(const RowRules& rules, std::uint64_t blank_line) const {
  if (rules.lines_are_rows && blank_line > 0)
    fail(ErrorKind::kBadData,
         line_name(path(), blank_line) +
             ": is blank, and rows follow; line by line is row by row here, and NA is a row of none");
}

void TableFile::refuse_row(const RowRules& rules, std::size_t num_columns, std::uint64_t number,
                           std::string_view line) const {
  if (header_ && line == *header_)
    fail_at_line(path(), number, line, "is the header again; are these several files joined?");
  std::string rule = std::to_string(num_columns) + " columns, the first line has " + std::to_string(rules.num_columns);
  if (header_ && num_columns == rules.num_columns + 1 && number == head_.front().number)
    rule += "; do rows begin with a name that the header lacks, as R's write.table writes them? Name that column, too";
  if (is_comment_sign(first_character(line))) rule += "; below the first row it is no comment, as it may be data";
  fail_at_line(path(), number, line, rule);
}

void TableFile::say_comments(const RowRules& rules, const Comments& below) const {
  const auto say = [&](const Comments& comments, const char* where) {
    if (comments.count > 0)
      log_info(line_name(path(), comments.first.number) + ": " + in_quotes(comments.first.text) + " is " +
               (comments.count == 1 ? "a comment" : "the first of " + std::to_string(comments.count) + " comments") +
               where + ", and no row");
  };
  if (rules.comments == CommentRule::kInFront) say(comments_in_front_, " in front of the rows");
  say(below, " among the rows");
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

void say_unused(const TableFile& table, const std::vector<std::string>& header, const std::vector<std::size_t>& used,
                std::size_t num_columns) {
  constexpr std::size_t kMaxShown = 300;
  std::string names;
  std::size_t count = 0, left = 0;
  for (std::size_t column = 0; column < num_columns; ++column) {
    if (std::ranges::find(used, column) != used.end()) continue;
    ++count;
    if (names.size() > kMaxShown)
      ++left;
    else
      names.append(names.empty() ? "" : ", ")
          .append(header.empty() ? std::to_string(column) : in_quotes(header[column]));
  }
  if (left > 0) names += " and " + std::to_string(left) + " more";
  if (count > 0)
    log_info(table.path().string() + ": column" + (count == 1 ? " " : "s ") + names + (count == 1 ? " is" : " are") +
             " not used");
}

void say_if_counted(const TableFile& table, Separator separator) {
  const std::vector<TableRow>& head = table.head();
  if (head.size() < 2 || separator_of(head[0].text) == Separator::kBlanks) return;
  const std::vector<std::string> first = table.fields_of(head[0], separator),
                                 second = table.fields_of(head[1], separator);
  for (std::size_t column = 0; column < first.size(); ++column)
    if (first[column] != std::to_string(column)) return;
  const auto is_near = [](const std::string& field) { return field == "0" || field == "1"; };
  if (first.size() < 2 || (first.size() == 2 && std::ranges::any_of(second, is_near))) return;  // 0,1 and 0,2 are edges
  log_info(line_name(table.path(), head[0].number) + ": " + in_quotes(head[0].text) +
           " is read as a row; if it is a header of column numbers, remove it");
}

}  // namespace salient
