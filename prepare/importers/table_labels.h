// prepare/importers/table_labels.h - labels of a table in text, and the classes that they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prepare/importers/name_map.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// The labels of a table in its order, as the texts they are; or values to be predicted.
struct TableLabels {
  NameMap names{};                           ///< of the classes, by first appearance
  std::vector<NodeId> codes{};               ///< [rows] in `names`
  std::vector<std::uint64_t> first_lines{};  ///< [names] where each is first
  std::vector<std::string> targets{};        ///< of values: what they are called; then the above is empty
  std::vector<float> values{};               ///< [rows, targets] NaN = not known

  std::size_t num_rows() const { return targets.empty() ? codes.size() : values.size() / targets.size(); }
};

/// Makes classes of texts: numbers as label_from() takes them if all are numbers; else names, in ascending order. A
/// missing value, -1 and the words `unlabelled` are no label. Sets graph.labels, num_classes and class_names. The log
/// names the words that are no label, or not there, and the word that makes words of numbers. Of values sets
/// graph.task, targets, num_classes and class_names, the targets' names.
///
/// @param node_of_row  of the table; empty = row i is node i. Nodes without a row are unlabelled. num_nodes is set.
/// @throws Error{kBadData}: numbers that are no classes; a target without any value
void set_labels(const TableLabels& labels, const std::vector<NodeId>& node_of_row, const std::string& file,
                const std::vector<std::string>& unlabelled, RawGraph& graph);

}  // namespace salient
