// prepare/formats/table_line.cpp - see table_line.h.
#include "prepare/formats/table_line.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

/// Which characters do what in a line. Fields are short: loops of compares, where find_first_of() calls memchr for each
/// character, which took a quarter of the time of a table of numbers.
class Marks {
 public:
  explicit Marks(Separator separator)
      : are_blanks_(separator == Separator::kBlanks),
        is_any_(separator == Separator::kAny),
        mark_(is_any_ ? ',' : static_cast<char>(separator)),
        second_blank_(separator == Separator::kTab ? ' ' : '\t') {}

  bool may_end_with_blank() const { return are_blanks_ || is_any_; }  ///< the last field
  bool is_mark(char c) const { return !are_blanks_ && c == mark_; }
  bool is_blank(char c) const { return c == ' ' || c == second_blank_; }  ///< tabs, where they do not part fields
  bool is_end(char c) const { return c == mark_ || (may_end_with_blank() && is_blank(c)); }  ///< of a field

  void skip_blanks(std::string_view& rest) const {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  }
  std::string_view without_blanks_behind(std::string_view text) const {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  }
  std::size_t length_of_field(std::string_view rest) const {
    std::size_t length = 0;
    while (length < rest.size() && !is_end(rest[length])) ++length;
    return length;
  }

 private:
  bool are_blanks_, is_any_;
  char mark_, second_blank_;
};

/// Where the '{' is whose '}' ends the line; its end if there is none.
std::size_t begin_of_braces(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (last == std::string_view::npos || line[last] != '}') return line.size();
  std::size_t depth = 0;
  for (std::size_t at = last + 1; at-- > 0;) {
    depth += line[at] == '}';
    if (line[at] == '{' && --depth == 0) return at;
  }
  return line.size();
}

}  // namespace

Separator separator_of(std::string_view line) {
  line = line.substr(0, begin_of_braces(line));
  bool has_comma = false, has_semicolon = false, is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '\t') return Separator::kTab;
    has_semicolon |= c == ';';
    has_comma |= c == ',';
  }
  return has_semicolon ? Separator::kSemicolon : has_comma ? Separator::kComma : Separator::kBlanks;
}

const char* TableLine::take_quoted(std::string_view& rest) {
  std::string* copy = nullptr;
  for (;;) {
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) return "a quoted field does not end on its line";
    const bool is_doubled = end + 1 < rest.size() && rest[end + 1] == '"';
    if (!copy && !is_doubled) {
      fields_.push_back(rest.substr(1, end - 1));
      rest.remove_prefix(end + 1);
      return nullptr;
    }
    if (!copy) copy = &unquoted_.emplace_back();
    copy->append(rest.substr(1, is_doubled ? end : end - 1));
    rest.remove_prefix(end + 1);
    if (!is_doubled) {
      fields_.push_back(*copy);
      return nullptr;
    }
  }
}

const char* TableLine::split(std::string_view line, Separator separator) {
  fields_.clear();
  unquoted_.clear();
  const Marks marks(separator);
  const std::size_t braces = line.size() - begin_of_braces(line);
  std::string_view rest = line;
  for (bool is_after_mark = false;;) {
    marks.skip_blanks(rest);
    if (braces > 0 && rest.size() == braces)
      return fields_.push_back(Marks(Separator::kBlanks).without_blanks_behind(rest)), nullptr;
    if (rest.empty() && !is_after_mark && (marks.may_end_with_blank() || !fields_.empty())) return nullptr;
    if (rest.starts_with('"')) {
      if (const char* rule = take_quoted(rest)) return rule;
      if (!rest.empty() && !marks.is_end(rest[0]) && !marks.is_blank(rest[0]))
        return "there is text behind a quoted field";
    } else {
      const std::string_view field = rest.substr(0, marks.length_of_field(rest));
      fields_.push_back(marks.without_blanks_behind(field));
      rest.remove_prefix(field.size());
    }
    marks.skip_blanks(rest);
    is_after_mark = !rest.empty() && marks.is_mark(rest[0]);
    if (is_after_mark)
      rest.remove_prefix(1);
    else if (!marks.may_end_with_blank() && !rest.empty())
      return "there is text behind a quoted field";
  }
}

bool is_quoted(std::string_view field, std::string_view line) {
  const std::less<const char*> before;  // of other arrays, too
  return before(line.data(), field.data()) && before(field.data(), line.data() + line.size()) &&
         field.data()[-1] == '"';
}

const char* broken_id_rule(std::string_view field, std::string_view line) {
  if (field.empty()) return "an empty id";
  if (!is_missing(field) || is_quoted(field, line)) return nullptr;
  return "an id that stands for a missing value; in quotes it is an id";
}

std::string unusual_id_text(std::string_view text) {
  std::uint64_t id = 0;
  require(parse_id(text, id), "what is read as an id is one");
  return "id " + in_quotes(text) + " is read as the number " + std::to_string(id) +
         (text[0] == '0' ? ", without the zeros in front" : "; if digits were lost, other nodes have this id, too");
}

}  // namespace salient
