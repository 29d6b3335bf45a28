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

#include "core/id_text.h"

namespace salient {

enum class Separator : char {
  kComma = ',',
  kSemicolon = ';',
  kTab = '\t',
  kBlanks = ' ',  ///< any number of blanks and tabs
  kAny = 'a',     ///< blanks and tabs, or one comma among them
};

/// What parts the fields of a line: the first of tab, semicolon and comma that it has outside of quotes, else blanks.
/// A last field in braces, as networkx writes the data of an edge, is not looked at.
Separator separator_of(std::string_view line);

/// The fields of a line, valid until the next one is split and as long as the line is.
///
/// Blanks around a field are no part of it. A field that begins with '"' ends with the next '"' that is not doubled,
/// and has one '"' for two. Fields have no line breaks. csv_field() is the inverse. A field that begins with '{' and
/// whose '}' ends the line is the last one, whatever it holds.
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

/// Whether a field that split() found in `line` is in quotes there, and has none of its own.
bool is_quoted(std::string_view field, std::string_view line);

/// Why a field of `line` is no id of any characters, or null: it is empty, or stands for a missing value and is not in
/// quotes.
const char* broken_id_rule(std::string_view field, std::string_view line);

/// What is said of an id that is unusual: "id '007' is read as the number 7, ...".
std::string unusual_id_text(std::string_view text);

}  // namespace salient
