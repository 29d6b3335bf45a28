// prepare/importers/node_table.h - what a table in text says about nodes: a line each, with id and label or values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/importers/memory_limit.h"
#include "prepare/importers/name_map.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

struct NodeTableOptions {
  std::string id_column{};     ///< name or number; "" = the first, or of one column none: line n is node n
  std::string label_column{};  ///< name or number; "" = one with a usual name, such as label, or the last of two
  int num_threads = 0;         ///< 0 = all cores
  MemoryLimit memory{};
};

/// Called with the id of every row, in the table's order. @return  null, or why the row is refused
using TakeId = std::function<const char*(std::string_view id)>;

/// The labels of a table in its order, as the texts they are.
struct TableLabels {
  NameMap names{};                           ///< of the classes, by first appearance
  std::vector<NodeId> codes{};               ///< [rows] in `names`
  std::vector<std::uint64_t> first_lines{};  ///< [names] where each is first
};

/// Whether a table of labels has ids, by its first lines.
bool has_ids(const std::filesystem::path& path, const NodeTableOptions& options);

/// Fields are parted by tabs, semicolons, commas or blanks, whichever the first line has, and may be in double quotes.
/// A first line with a usual name of an id or a label, or with a name that the options have, is a header. So is one of
/// words, above a line with numbers, in which no field is a number or a missing value (NA, ?, null, ...); the log says
/// so, and where words that might be a header are a row.
///
/// @throws Error{kNoInput}; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming file and line
///
/// @param take_id  not called for a table without ids, of which row i is node i
TableLabels read_label_table(const std::filesystem::path& path, const NodeTableOptions& options, const TakeId& take_id);

/// All columns but the id's, and the label's if it is said or if `labels_too`, are features: numbers.
/// The header as above.
RawFeatures read_feature_table(const std::filesystem::path& path, const NodeTableOptions& options, FeatureType type,
                               bool labels_too, const TakeId& take_id);

/// The ids of a list, a line each, such as the nodes to train on; of a table with more columns the id's.
void read_id_list(const std::filesystem::path& path, const NodeTableOptions& options, const TakeId& take_id);

/// Makes classes of texts: numbers as label_of() takes them if all are numbers; else names, in ascending order. A
/// missing value or -1 is no label. Sets graph.labels, num_classes and class_names. The log names the missing values
/// that are words, and the word that makes words of numbers.
///
/// @param node_of_row  of the table; empty = row i is node i. Nodes without a row are unlabelled. num_nodes is set.
void set_labels(const TableLabels& labels, const std::vector<NodeId>& node_of_row, const std::string& file,
                RawGraph& graph);

}  // namespace salient
