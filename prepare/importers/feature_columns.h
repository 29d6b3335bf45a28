// prepare/importers/feature_columns.h - the columns of a table that become features: which, what they hold, how coded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/importers/column_statistics.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/name_map.h"
#include "prepare/importers/open_node_table.h"

namespace salient {

/// Whether a column of numbers becomes (x - mean) / deviation.
bool is_scaled(const ColumnStatistics& found, FeatureScaling scaling);

/// A column of the file that becomes features.
struct FeatureColumn {
  std::size_t place = 0;  ///< in a line of the file
  std::size_t slot = 0;   ///< in a row of RawFields
  ColumnCoding coding{};
  bool is_wished = false;  ///< as a category
  NameMap words{};         ///< of kCategory and kIndex, in the order of their first appearance
  ColumnStatistics statistics{};
  std::string reason{};  ///< why it is left out; "" = it is not

  bool has_words() const { return coding.kind == ColumnKind::kCategory || coding.kind == ColumnKind::kIndex; }
};

/// Rows of a block.
struct RawFields {
  ParsedIds ids{};
  std::vector<double> values{};  ///< [rows, columns]; of a column of words their numbers in `words`, NaN of a blank
  std::vector<NameMap> words{};  ///< [columns]
  std::vector<ColumnStatistics> statistics{};  ///< [columns]
};

/// From fields to a coding. Each row is parsed, each block taken in the file's order, then all is finished.
class FeatureColumns {
 public:
  /// Chooses the columns. @throws Error{kBadData} for names that the table does not have, and for dates
  FeatureColumns(const NodeTable& table, const ColumnWishes& wishes);

  std::size_t width() const { return width_; }                    ///< of a row of RawFields
  const std::vector<std::size_t>& used() const { return used_; }  ///< places of features and of what is dropped
  std::span<const FeatureColumn> columns() const { return columns_; }
  const TableCoding& coding() const { return coding_; }  ///< complete when all is finished

  /// May run on several threads. @throws Error{kBadData} for a field that does not fit its column
  void parse(std::span<const std::string_view> fields, std::uint64_t line, RawFields& parsed) const;

  /// Numbers the words as the table does, and counts.
  void take(RawFields& parsed);

  /// Whether numbers of all rows so far fit features as they are, so that they may stay so.
  bool may_be_plain(FeatureType type) const;

  /// What all rows say. @throws Error{kBadData} for columns that were wished and cannot be; Error{kBadData, kHalfRange}
  void finish(FeatureType type);

  /// Whether features are the numbers of the table. When all is finished.
  bool is_plain() const;

  /// Features of rows of RawFields::values: [rows, coding().width()].
  std::vector<double> coded(std::vector<double> values) const;

 private:
  std::vector<std::size_t> places_of(const std::vector<std::string>& names) const;
  bool choose_kind(FeatureColumn& column, bool is_index) const;
  void order_as_coded();
  double value_of(const FeatureColumn& column, std::string_view field, std::uint64_t line) const;
  void number_words(FeatureColumn& column, const NameTable& words, std::span<double> values) const;
  void finish_column(FeatureColumn& column, FeatureType type) const;
  void say_unknown_words() const;
  [[noreturn]] void refuse(std::uint64_t line, std::string_view field, const FeatureColumn& column,
                           const std::string& rule) const;

  const NodeTable& table_;
  const ColumnWishes& wishes_;
  std::vector<FeatureColumn> columns_{};
  std::vector<std::size_t> used_{};
  std::size_t width_ = 0;
  TableCoding coding_{};
};

}  // namespace salient
