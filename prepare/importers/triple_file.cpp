// prepare/importers/triple_file.cpp - see triple_file.h.
#include "prepare/importers/triple_file.h"

#include <vector>

#include "core/error.h"
#include "core/field_values.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "store/graph_schema.h"

namespace salient {
namespace {

constexpr char kBlank = ' ';

char separator_of(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return '\t';
  return line.find(kBlank) == std::string_view::npos && line.find(',') != std::string_view::npos ? ',' : kBlank;
}

/// The fields of a line; several blanks are one separator.
void split_line(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  FieldSplitter splitter(line, separator);
  std::string_view field;
  while (splitter.next(field))
    if (separator != kBlank || !field.empty()) fields.push_back(field);
}

std::string columns_text(const TripleColumns& columns) {
  std::vector<std::string> words(columns.count, "a field that is not read");
  words[columns.head] = "head";
  words[columns.relation] = "relation";
  words[columns.tail] = "tail";
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

/// A file of triples in work.
class TripleLines {
 public:
  TripleLines(const std::filesystem::path& path, const std::optional<TripleColumns>& columns)
      : reader_(path), asked_(columns), columns_(columns.value_or(TripleColumns{})) {}

  std::uint64_t read(const std::function<void(const Triple&)>& take) {
    std::string_view line;
    while (reader_.next(line)) {
      if (line.find_first_not_of(" \t") == std::string_view::npos || is_count(line)) continue;
      if (separator_ == 0) separator_ = separator_of(line);
      split_line(line, separator_, fields_);
      if (fields_.size() != columns_.count)
        refuse(line, std::to_string(fields_.size()) + " fields, expected " + columns_text(columns_));
      for (const std::size_t at : {columns_.head, columns_.relation, columns_.tail})
        if (!is_relation_name(fields_[at]))  // what holds for relations holds for all
          refuse(line, "field " + std::to_string(at + 1) + " is " +
                           (fields_[at].empty() ? "empty" : "longer than 1000 characters, or has a control character"));
      take({fields_[columns_.head], fields_[columns_.relation], fields_[columns_.tail], reader_.line_number()});
      ++num_triples_;
    }
    if (said_ && *said_ != num_triples_)
      fail(ErrorKind::kBadData, reader_.path().string() + ": line 1 says " + std::to_string(*said_) +
                                    " triples, there are " + std::to_string(num_triples_));
    return num_triples_;
  }

 private:
  [[noreturn]] void refuse(std::string_view line, const std::string& rule) const {
    fail_at_line(reader_.path(), reader_.line_number(), line, rule);
  }

  /// Whether the line is the first one and a number alone.
  bool is_count(std::string_view line) {
    std::uint64_t count = 0;
    while (!line.empty() && (line.back() == kBlank || line.back() == '\t')) line.remove_suffix(1);
    if (reader_.line_number() != 1 || !parse_number(line, count)) return false;
    said_ = count;
    if (!asked_) columns_ = kNumberedColumns;
    return true;
  }

  LineReader reader_;
  const std::optional<TripleColumns> asked_;
  TripleColumns columns_;
  char separator_ = 0;
  std::optional<std::uint64_t> said_{};
  std::uint64_t num_triples_ = 0;
  std::vector<std::string_view> fields_{};
};

}  // namespace

std::optional<TripleColumns> triple_columns(std::span<const std::string> words) {
  TripleColumns columns{.count = words.size()};
  std::size_t num_found = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-") continue;
    std::size_t* const place = words[i] == "h"   ? &columns.head
                               : words[i] == "r" ? &columns.relation
                               : words[i] == "t" ? &columns.tail
                                                 : nullptr;
    if (place == nullptr) return std::nullopt;
    *place = i;
    ++num_found;
  }
  const bool are_distinct =
      columns.head != columns.relation && columns.head != columns.tail && columns.relation != columns.tail;
  if (num_found != 3 || !are_distinct) return std::nullopt;
  return columns;
}

std::uint64_t read_triples(const std::filesystem::path& path, const std::optional<TripleColumns>& columns,
                           const std::function<void(const Triple&)>& take) {
  return TripleLines(path, columns).read(take);
}

}  // namespace salient
