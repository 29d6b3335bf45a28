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

/// value * 10^zeros, and `digit`; false beyond 2^64.
bool append_digits(std::uint64_t& value, std::uint64_t zeros, std::uint64_t digit) {
  if (value == 0) return value = digit, true;
  for (; zeros > 0; --zeros)
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return false;
  return !__builtin_add_overflow(value, digit, &value);
}

/// digits [. digits] [e|E [sign] digits] as a whole number.
bool parse_decimal(std::string_view text, std::uint64_t& id) {
  constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 53;  // who writes it has a double
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, end);
  std::int64_t exponent = 0;
  if (end < text.size()) {
    std::string_view power = text.substr(end + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    if (!parse_number(power, exponent) || power.size() > 6) return false;
  }
  std::uint64_t value = 0, zeros = 0;  // since the last other digit, this one included
  bool has_digits = false, has_point = false;
  for (const char c : mantissa) {
    if (c == '.' && !std::exchange(has_point, true)) continue;
    if (c < '0' || c > '9') return false;
    has_digits = true;
    if (has_point) --exponent;
    ++zeros;
    if (c == '0') continue;
    if (!append_digits(value, zeros, static_cast<std::uint64_t>(c - '0'))) return false;
    zeros = 0;
  }
  exponent += static_cast<std::int64_t>(zeros);
  const bool is_whole = value == 0 || (exponent >= 0 && append_digits(value, static_cast<std::uint64_t>(exponent), 0));
  if (!has_digits || !is_whole || value > kMaxExact) return false;
  return id = value, true;
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

IdForm id_form(std::string_view text, std::uint64_t& id) {
  const bool are_digits = parse_number(text, id);
  if (!are_digits && !parse_decimal(text, id)) return IdForm::kNone;
  const bool has_zeros = text[0] == '0' && text.size() > 1 && text[1] >= '0' && text[1] <= '9';
  const bool has_exponent = !are_digits && text.find_first_of("eE") != std::string_view::npos;
  return has_zeros || has_exponent ? IdForm::kUnusual : IdForm::kPlain;
}

bool parse_id(std::string_view text, std::uint64_t& id) { return id_form(text, id) != IdForm::kNone; }

std::string unusual_id_text(std::string_view text) {
  std::uint64_t id = 0;
  require(parse_id(text, id), "what is read as an id is one");
  return "id " + in_quotes(text) + " is read as the number " + std::to_string(id) +
         (text[0] == '0' ? ", without the zeros in front" : "; if digits were lost, other nodes have this id, too");
}

}  // namespace salient
