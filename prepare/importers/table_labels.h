// prepare/importers/table_labels.h - labels of a table in text, and the classes that they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prepare/importers/name_map.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// The labels of a table in its order, as the texts they are.
struct TableLabels {
  NameMap names{};                           ///< of the classes, by first appearance
  std::vector<NodeId> codes{};               ///< [rows] in `names`
  std::vector<std::uint64_t> first_lines{};  ///< [names] where each is first
};

/// Makes classes of texts: numbers as label_from() takes them if all are numbers; else names, in ascending order. A
/// missing value, -1 and the words `unlabelled` are no label. Sets graph.labels, num_classes and class_names. The log
/// names the words that are no label, or not there, and the word that makes words of numbers.
///
/// @param node_of_row  of the table; empty = row i is node i. Nodes without a row are unlabelled. num_nodes is set.
void set_labels(const TableLabels& labels, const std::vector<NodeId>& node_of_row, const std::string& file,
                const std::vector<std::string>& unlabelled, RawGraph& graph);

}  // namespace salient
