// prepare/importers/open_node_table.h - the beginning of a table of nodes: its header, and which column is which.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/formats/table_file.h"
#include "prepare/importers/column_guess.h"
#include "prepare/importers/name_table.h"
#include "prepare/importers/node_table.h"

namespace salient {

/// A table whose columns are known.
struct NodeTable {
  TableFile file;
  RowRules rows{};
  std::vector<std::string> header{};  ///< names of the columns, if the file has some
  SampleRows sample{};                ///< the first rows below it, up to 1,000
  std::optional<std::size_t> id{}, label{}, time{};
  std::vector<std::size_t> targets{};  ///< instead of a label
  bool begins_with_words = false;      ///< the first line might be a header, and is a row
  bool guesses_header = false;         ///< the first line might be a row, and is a header

  /// "column 'age'", or "column 2", from 0.
  std::string name_of(std::size_t column) const;
  /// As features are named: "age", or "column 2".
  std::string plain_name_of(std::size_t column) const;
  /// Whether pandas wrote this index beside the columns: it has no name, or one as pandas makes, "Unnamed: 0" or
  /// "__index_level_0__"; or it is "index" or "level_0", as reset_index() makes, and has the numbers of the rows.
  bool is_index(std::size_t column) const;
};

enum class Wanted { kLabels, kFeatures, kLabelledFeatures, kIds };

/// Which column is which, from the first lines. @throws as read_label_table()
NodeTable open_node_table(const std::filesystem::path& path, const NodeTableOptions& options, Wanted wanted);

/// Says how a table is read.
///
/// @param used  further columns than the id
void say_what_is_read(const NodeTable& table, const NodeTableOptions& options, std::vector<std::size_t> used);

/// The ids of some rows, and the numbers of their lines.
struct ParsedIds {
  NameTable ids{};
  std::vector<std::uint64_t> lines{};

  /// Of a table without ids the line alone. @throws Error{kBadData} for an id that is missing
  void append(const NodeTable& table, std::span<const std::string_view> fields, std::uint64_t number,
              std::string_view line);
};

/// Hands ids over, and says which is the first that is not written as a number is.
class IdTaker {
 public:
  IdTaker(const std::filesystem::path& path, const NodeTableOptions& options, const TakeId& take_id)
      : path_(path), are_numbers_(options.ids_are_numbers), take_id_(take_id) {}

  void take(const ParsedIds& parsed);

 private:
  const std::filesystem::path& path_;
  const bool are_numbers_;
  const TakeId& take_id_;
  bool is_said_ = false;
};

}  // namespace salient
