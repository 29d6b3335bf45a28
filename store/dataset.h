// store/dataset.h - an opened graph data set: what "salient dataset v1" holds, mapped read-only or generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/csr_graph.h"
#include "core/types.h"
#include "store/dataset_facts.h"
#include "store/label_table.h"
#include "store/link_table.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"

namespace salient {

/// The feature rows of one node type, in one of the two forms; empty where it has none.
struct FeatureTable {
  RowTable rows{};
  SparseRowTable sparse{};
};

/// Read-only. Moves, never copies; the spans live as long as it does.
struct Dataset : DatasetFacts {
  std::filesystem::path directory{};  ///< empty when generated in memory
  std::string fingerprint{};  ///< xxh3 of dataset.json, 16 hex digits: which data a run or checkpoint belongs to

  CsrGraph graph{};                             ///< row v: in-neighbours of v, ascending; of a typed graph slots
  RowTable features{};                          ///< [V, feature_dim] feature_type, host; empty of kCsr
  SparseRowTable sparse_features{};             ///< of kCsr, host
  RowTable edge_features{};                     ///< [E, edge_feature_dim] in the order of graph.indices, host
  std::vector<FeatureTable> type_features{};    ///< of a typed graph, [types]; the two above are the target type's
  std::span<const std::int32_t> labels{};       ///< [V] of kMultiClass, as in LabelType; V those of the target type
  std::span<const std::int8_t> multi_labels{};  ///< [V, num_classes] of kMultiLabel, likewise
  std::span<const float> targets{};             ///< [V, num_classes] of kRegression, likewise
  std::span<const std::int64_t> node_times{};   ///< [V] of has_node_times, in the unit of the edges' times
  std::span<const NodeId> train{};              ///< node ids; order kept from the source
  std::span<const NodeId> valid{};
  std::span<const NodeId> test{};
  LinkSplits links{};  ///< of has_links

  std::shared_ptr<const void> storage{};     ///< owns what the spans point at: file mappings, or arrays
  std::shared_ptr<const SlotTable> slots{};  ///< what graph.slots points at

  LabelTable label_table() const { return {label_type(), labels, multi_labels, targets, first_target()}; }
  /// Of kMultiClass, as in LabelType. @param node  of a typed graph one of the target type
  std::int32_t class_of(NodeId node) const { return labels[node - first_target()]; }
  /// Of all feature rows, as they are stored.
  std::uint64_t feature_bytes() const;
  std::size_t num_nodes() const { return graph.num_nodes(); }
  /// The id of row 0 of the labels.
  NodeId first_target() const {
    return slots ? static_cast<NodeId>(slots->node_begin[static_cast<std::size_t>(types.target_type)]) : NodeId{0};
  }
  EdgeOffset num_edges() const { return static_cast<EdgeOffset>(graph.indices.size()); }
};

/// Sets the slots of a typed graph, which follow from its schema.
void use_slots(Dataset& dataset);

/// Sets what follows from facts and arrays that keep their rules: slots, the target type's features, and the longest of
/// sparse rows. For those who have set the arrays.
void complete(Dataset& dataset);

/// Maps a store and makes every check that docs/DATASETS.md does not leave to "verify".
///
/// @param num_threads  for the index scan; 0 = all cores.
/// @throws Error{kNoInput, kMissingDataset} for what is missing; Error{kBadData} naming file, record and rule;
///         Error{kIo}; Error{kBadData} for a typed graph, which open_store() opens.
Dataset open_dataset(const std::filesystem::path& directory, int num_threads = 0);

/// The remaining checks: ascending rows, reverse edges, self loops, finite features, checksums. Shows progress.
/// @throws as open_dataset().
void verify_dataset(const std::filesystem::path& directory, int num_threads = 0);

}  // namespace salient
