// prepare/importers/edge_table.h - the beginning of an edge list in text: its separator, its header, where the ids are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "prepare/formats/table_file.h"
#include "prepare/importers/edge_file.h"

namespace salient {

struct EdgeTable {
  TableFile file;  ///< without its header; a matrix() has the size that its edges ask for
  IdKind ids = IdKind::kNumbers;
  RowRules rows{.separator = Separator::kAny, .num_columns = 2, .comments = CommentRule::kAnywhere};
  std::array<std::size_t, 2> columns{0, 1};
  std::optional<std::size_t> weight_column{}, time_column{};
  std::vector<std::size_t> feature_columns{};
  std::vector<std::string> header{};  ///< names of the columns, if the file has some
  bool guesses_header = false;        ///< the first line might be an edge, and is a header
  bool guesses_columns = false;       ///< the columns are those whose fields are nodes
  bool has_two_kinds = false;         ///< as the caller knows: EdgeFileOptions::ends

  /// The columns of what edges have beside their ends.
  std::vector<std::size_t> value_columns() const;
};

/// @throws Error{kBadData} unless edges may be the entries of such a matrix: a square one, or of two kinds of nodes
void require_size(const std::filesystem::path& path, std::uint64_t num_rows, std::uint64_t num_columns,
                  const EdgeFileOptions& options);

/// Says which columns are not used, and what else a table with such a beginning may be.
void say_what_is_left(const EdgeTable& table);

/// @throws as read_edge_file()
EdgeTable open_edge_table(const std::filesystem::path& path, const EdgeFileOptions& options);

}  // namespace salient
