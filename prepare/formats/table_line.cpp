// prepare/formats/table_line.cpp - see table_line.h.
#include "prepare/formats/table_line.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

constexpr std::string_view kBlanks = " \t";

/// Tabs are blanks where they do not part fields.
std::string_view blanks_beside(Separator separator) { return separator == Separator::kTab ? " " : kBlanks; }

void skip(std::string_view& rest, std::string_view blanks) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
}

std::string_view without_end(std::string_view text, std::string_view blanks) {
  return text.substr(0, text.find_last_not_of(blanks) + 1);  // npos + 1 = 0
}

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
  const bool are_blanks = separator == Separator::kBlanks, is_any = separator == Separator::kAny;
  const std::string_view blanks = blanks_beside(separator);
  const char mark[] = {is_any ? ',' : static_cast<char>(separator), '\0'};
  const std::string_view ends = are_blanks ? kBlanks : is_any ? std::string_view(" \t,") : std::string_view(mark);
  const std::size_t braces = line.size() - begin_of_braces(line);
  std::string_view rest = line;
  for (bool is_after_mark = false;;) {
    skip(rest, blanks);
    if (braces > 0 && rest.size() == braces) return fields_.push_back(without_end(rest, kBlanks)), nullptr;
    if (rest.empty() && !is_after_mark && (are_blanks || is_any || !fields_.empty())) return nullptr;
    if (rest.starts_with('"')) {
      if (const char* rule = take_quoted(rest)) return rule;
      if (!rest.empty() && ends.find(rest[0]) == std::string_view::npos &&
          blanks.find(rest[0]) == std::string_view::npos)
        return "there is text behind a quoted field";
    } else {
      const std::string_view field = rest.substr(0, rest.find_first_of(ends));
      fields_.push_back(without_end(field, blanks));
      rest.remove_prefix(field.size());
    }
    skip(rest, blanks);
    is_after_mark = !are_blanks && rest.starts_with(mark[0]);
    if (is_after_mark)
      rest.remove_prefix(1);
    else if (!are_blanks && !is_any && !rest.empty())
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
