// store/dataset_facts.h - what is known of a data set beside its arrays and their sizes.
#pragma once

#include <string>
#include <vector>

#include "store/data_schema.h"
#include "store/graph_schema.h"
#include "store/label_table.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"

namespace salient {

/// The same facts in an opened Dataset, in a store's dataset.json and in what processes of a host send each other.
struct DatasetFacts {
  std::string name{};
  std::string source_kind{};  ///< "wordnet", "ogb", ...; "synthetic" for generated data, and every report says so
  Task task = Task::kMultiClass;
  int num_classes = 0;  ///< of kMultiLabel labels, of kRegression targets
  int feature_dim = 0;
  FeatureType feature_type = FeatureType::kF16;
  float fp8_scale = 0;  ///< of kFp8: as in RowTable
  FeatureLayout feature_layout = FeatureLayout::kDense;
  bool is_symmetric = false;
  bool has_edge_weights = false, has_edge_times = false;  ///< CsrGraph::entries
  bool has_node_times = false;                            ///< Dataset::node_times
  int edge_feature_dim = 0;                               ///< Dataset::edge_features; 0 = none. Of plain graphs alone
  FeatureType edge_feature_type = FeatureType::kF16;      ///< f16 or f32
  GraphSchema types{};          ///< of a typed graph; what is said of features above is then said of the target type's
  bool has_links = false;       ///< to be predicted (store/link_table.h)
  bool has_link_times = false;  ///< LinkTable::times; then there are edge times, too. Of plain graphs alone
  std::vector<std::string> class_names{};   ///< as in DataSchema; of a store in class_names.txt
  std::vector<std::string> column_names{};  ///< likewise in column_names.txt, or WordNet's vocabulary.txt
  FeatureOrigin feature_origin{};           ///< likewise
  TargetScales target_scales{};             ///< likewise; measured when a store is opened
  bool operator==(const DatasetFacts&) const = default;

  DatasetFacts& facts() { return *this; }  ///< for structs that have these among their own fields
  const DatasetFacts& facts() const { return *this; }

  DataSchema schema() const {
    return {.task = task,
            .num_classes = num_classes,
            .feature_dim = feature_dim,
            .class_names = class_names,
            .column_names = column_names,
            .feature_origin = feature_origin,
            .target_scales = target_scales};
  }
  FeatureShape feature_shape() const { return {feature_dim, feature_type, feature_layout, fp8_scale}; }
  void set_feature_shape(const FeatureShape& shape) {
    feature_dim = shape.dim;
    feature_type = shape.type;
    feature_layout = shape.layout;
    fp8_scale = shape.fp8_scale;
  }
  FeatureShape edge_feature_shape() const { return {edge_feature_dim, edge_feature_type}; }
  LabelType label_type() const { return {task, task == Task::kMultiClass ? 1 : num_classes}; }
  bool has_sparse_features() const { return feature_layout == FeatureLayout::kCsr; }
  /// Of a dense row, stored, and in a batch.
  std::size_t feature_row_bytes() const { return static_cast<std::size_t>(feature_dim) * size_of(feature_type); }
  std::size_t gathered_row_bytes() const {
    return static_cast<std::size_t>(feature_dim) * size_of(gathered_type(feature_type));
  }
};

/// Calls visit(name, field) for every fact: one list for all that write or read them.
template <class Facts, class Visit>
void visit_facts(Facts& facts, Visit visit) {
  visit("name", facts.name);
  visit("source_kind", facts.source_kind);
  visit("task", facts.task);
  visit("num_classes", facts.num_classes);
  visit("feature_dim", facts.feature_dim);
  visit("feature_type", facts.feature_type);
  visit("fp8_scale", facts.fp8_scale);
  visit("feature_layout", facts.feature_layout);
  visit("is_symmetric", facts.is_symmetric);
  visit("has_edge_weights", facts.has_edge_weights);
  visit("has_edge_times", facts.has_edge_times);
  visit("has_node_times", facts.has_node_times);
  visit("edge_feature_dim", facts.edge_feature_dim);
  visit("edge_feature_type", facts.edge_feature_type);
  visit("types", facts.types);
  visit("has_links", facts.has_links);
  visit("has_link_times", facts.has_link_times);
  visit("class_names", facts.class_names);
  visit("column_names", facts.column_names);
  visit("feature_origin", facts.feature_origin);
  visit("target_scales", facts.target_scales);
}

}  // namespace salient
