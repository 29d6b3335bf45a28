// prepare/importers/node_table.h - what a table in text says about nodes: a line each, with id and label or values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/importers/column_guess.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/table_labels.h"

namespace salient {

struct NodeTableOptions {
  std::string id_column{};     ///< name or number; "" = the first, or of one column none: line n is node n; an index
                               ///< without a name, as pandas writes it, only if it is said
  std::string label_column{};  ///< name or number; "" = one with a usual name, such as label, or the last of two
  std::vector<std::string> targets{};  ///< instead of a label: columns of values to be predicted
  std::string time_column{};           ///< name or number of the times, which are no features; "" = none
  std::vector<std::string> blanks{};   ///< words that stand for a missing value, beside those of is_missing()
  bool ids_are_numbers = false;        ///< then rows cannot begin with '#' or '%'
  bool is_shared = false;              ///< labels and features are read from one table, whose columns are all used
  HeaderRule header = HeaderRule::kAuto;
  std::function<bool(std::string_view id)> is_node{};  ///< where the ids are known already; null = not
  int num_threads = 0;                                 ///< 0 = all cores
  MemoryLimit memory{};
};

/// Called with the id of every row, in the table's order. @return  null, or why the row is refused
using TakeId = std::function<const char*(std::string_view id)>;

/// Whether a table of labels has ids, by its first lines.
bool has_ids(const std::filesystem::path& path, const NodeTableOptions& options);

/// What a table of nodes has beside their ids. A label by its name, or as the options say.
struct TableParts {
  bool has_label = false, has_features = false;
};
/// @throws as read_label_table()
TableParts parts_of(const std::filesystem::path& path, const NodeTableOptions& options);

/// Whether most of the first ids are no numbers.
bool has_ids_of_text(const std::filesystem::path& path, const NodeTableOptions& options);

/// Fields are parted by tabs, semicolons, commas or blanks, whichever the first line has, and may be in double quotes.
/// A first line with a usual name of an id or a label, or with a name that the options have, is a header. So is one of
/// words above values (are_words_above_values()), one whose id no node has and no other id looks like, and one of words
/// that occur nowhere below (words_above_words()); the log says so, where words that might be a header are a row, and
/// which columns are not used. NodeTableOptions::header decides it.
///
/// With NodeTableOptions::targets values are read, of which a missing one is not known.
///
/// @throws Error{kNoInput}; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming file and line
///
/// @param take_id  not called for a table without ids, of which row i is node i
TableLabels read_label_table(const std::filesystem::path& path, const NodeTableOptions& options, const TakeId& take_id);

/// The ids of a list, a line each, such as the nodes to train on; of a table with more columns those of the id's, which
/// has a usual name or is said.
void read_id_list(const std::filesystem::path& path, const NodeTableOptions& options, const TakeId& take_id);

}  // namespace salient
