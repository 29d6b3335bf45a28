// prepare/importers/column_guess.h - what the first rows of a table say: is there a header, what are its columns.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "store/table_coding.h"

namespace salient {

/// Whether the first line of a table has the names of its columns.
enum class HeaderRule { kAuto, kYes, kNo };

constexpr auto names_of(HeaderRule) {
  return std::to_array<EnumName<HeaderRule>>(
      {{HeaderRule::kAuto, "auto"}, {HeaderRule::kYes, "yes"}, {HeaderRule::kNo, "no"}});
}

/// Rows of fields; all have the width of the first line.
using SampleRows = std::vector<std::vector<std::string>>;

/// The form of a text: "a-0" for cust-00042, "a_a" for customer_id. Runs of letters and of digits count once.
std::string form_of(std::string_view text);

/// The form that most texts of a column have; "" if none has half of them.
std::string usual_form(const SampleRows& rows, std::size_t column);

/// Words above values: no field of the first line is a number or stands for a missing value, and below one of its words
/// most fields are numbers, or true and false.
///
/// @param id  whose words do not count
bool are_words_above_values(std::span<const std::string> first, const SampleRows& rows, std::optional<std::size_t> id);

/// What words above words are.
enum class WordsAbove { kRow, kHeader, kUnclear };

/// In at least 20 rows: kRow unless the words of every column occur nowhere below themselves, while words of some
/// column but the id's repeat. Then a header if the id has another form than those below, else not clear.
WordsAbove words_above_words(std::span<const std::string> first, const SampleRows& rows, std::optional<std::size_t> id);

/// What a column of features is, by its first fields:
///   numbers, or as many of them as words         kNumber
///   words of yes and no                          kYesNo
///   other words                                  kCategory
/// Blank fields do not count; where all are blank it is kNumber.
///
/// @param[out] rule  why it is none of them, or "": dates, and numbers with a comma
ColumnKind kind_of_column(const SampleRows& rows, std::size_t column, const TableCoding& blanks, std::string& rule);

}  // namespace salient
