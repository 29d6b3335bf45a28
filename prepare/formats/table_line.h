// prepare/formats/table_line.h - the fields of one line of a table in text: CSV as RFC 4180 has it, and its relatives.
//
// By hand: libcsv reads on one thread and names no lines, and fast-cpp-csv-parser must know the columns when compiled.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace salient {

enum class Separator : char {
  kComma = ',',
  kSemicolon = ';',
  kTab = '\t',
  kBlanks = ' ',  ///< any number of blanks and tabs
  kAny = 'a',     ///< blanks and tabs, or one comma among them
};

/// What parts the fields of a line: the first of tab, semicolon and comma that it has outside of quotes, else blanks.
Separator separator_of(std::string_view line);

/// The fields of a line, valid until the next one is split and as long as the line is.
///
/// Blanks around a field are no part of it. A field that begins with '"' ends with the next '"' that is not doubled,
/// and has one '"' for two. Fields have no line breaks. csv_field() is the inverse.
class TableLine {
 public:
  /// @return  null, or the rule that the line breaks
  const char* split(std::string_view line, Separator separator);

  std::span<const std::string_view> fields() const { return fields_; }

 private:
  const char* take_quoted(std::string_view& rest);

  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  ///< of fields with doubled quotes; elements never move
};

/// A node id: digits, or a whole number from 0 to 2^53 as a floating-point number, such as "3.0" or "1e3".
bool parse_id(std::string_view text, std::uint64_t& id);

}  // namespace salient
