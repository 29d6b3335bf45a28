// store/table_coding.h - how the columns of a table of nodes became features, and become them again for new rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "store/data_schema.h"

namespace salient {

enum class ColumnKind : std::uint8_t {
  kNumber,    ///< (x - mean) / deviation
  kYesNo,     ///< 1 and 0
  kCategory,  ///< a feature for each word: 1 of the field's own, 0 of the others
  kIndex,     ///< the number of the word, from 0
};

constexpr auto names_of(ColumnKind) {
  return std::to_array<EnumName<ColumnKind>>({{ColumnKind::kNumber, "number"},
                                              {ColumnKind::kYesNo, "yes-no"},
                                              {ColumnKind::kCategory, "category"},
                                              {ColumnKind::kIndex, "index"}});
}

/// One column of a table. A field of it is a value or blank.
///
///   field            kNumber, kYesNo     kCategory   kIndex
///   blank            as the value blank  all 0       -1
///   an unknown word  refused             all 0       -1
struct ColumnCoding {
  std::string name{};
  ColumnKind kind = ColumnKind::kNumber;
  double mean = 0, deviation = 1;         ///< of kNumber; 0 and 1: numbers stay as they are
  double blank = 0;                       ///< of kNumber and kYesNo: the mean of the fields that are not blank
  bool marks_blanks = false;              ///< one more feature is 1 where the field is blank, else 0
  std::vector<std::string> categories{};  ///< of kCategory and kIndex, ascending

  bool operator==(const ColumnCoding&) const = default;

  int width() const;                               ///< number of features
  std::vector<std::string> feature_names() const;  ///< [width()] "age", "age is missing", "country=DE"
  bool is_plain() const { return *this == ColumnCoding{.name = name, .blank = blank}; }  ///< numbers as they are
};

struct TableCoding {
  std::vector<ColumnCoding> columns{};
  std::vector<std::string> blanks{};  ///< words that stand for a blank, beside those of is_missing()
  bool knows_blanks = true;           ///< false: what a blank becomes was not kept, and it is refused

  bool operator==(const TableCoding&) const = default;

  int width() const;
  std::vector<std::string> feature_names() const;  ///< [width()]
  bool is_blank(std::string_view field) const;
  const ColumnCoding* column_named(std::string_view name) const;  ///< null if there is none
};

/// The features of one field.
///
/// @param out  [column.width()]   @return  null, or the rule that the field breaks, to be read behind its column's name
const char* code_number(const ColumnCoding& column, double value, std::span<double> out);
const char* code_word(const ColumnCoding& column, std::string_view word, std::span<double> out);
inline constexpr char kBlankRule[] = "is missing, and the data set keeps no mean to take its place";
const char* code_blank(const TableCoding& coding, const ColumnCoding& column, std::span<double> out);

/// A field of text, which is blank where coding.is_blank() says so. A number may be a word of kCategory.
const char* code_field(const TableCoding& coding, const ColumnCoding& column, std::string_view field,
                       std::span<double> out);

/// As DataSchema::feature_origin keeps it; {} of a coding whose columns are all plain: such features are the source's.
FeatureOrigin origin_of(const TableCoding& coding);

/// The inverse; nullopt of features that do not come from a table. @throws Error{kBadData} naming `file`
std::optional<TableCoding> coding_of(const FeatureOrigin& origin, const std::string& file);

/// Of any features: coding_of(), or columns with names whose numbers are as they are, whose blanks are not known.
/// nullopt of features that salient-prepare made, and of columns without names.
std::optional<TableCoding> coding_of_columns(const FeatureOrigin& origin, const std::vector<std::string>& names,
                                             const std::string& file);

/// "the column 'age' is scaled by mean 38.1 and deviation 12, ...", the first thing in which `data` does not code the
/// columns of `run` as that does; "" if it does. It may have more columns, in any order.
std::string difference_of(const TableCoding& run, const TableCoding& data);

}  // namespace salient
