// prepare/importers/raw_graph.h - what an importer hands over: a graph as read, before CSR, in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/types.h"
#include "prepare/importers/feature_losses.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/name_table.h"
#include "prepare/importers/negative_sources.h"
#include "store/data_schema.h"
#include "store/label_table.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"

namespace salient {

/// Feature rows in the type they will be stored in. Dense ones are filled by append_feature_rows().
struct RawFeatures {
  FeatureType type = FeatureType::kF16;  ///< kFp8 by in_fp8() alone: importers do not know the scale
  float fp8_scale = 0;                   ///< of kFp8
  int dim = 0;                           ///< 0 = the graph has no features
  FeatureLayout layout = FeatureLayout::kDense;
  std::vector<std::byte> rows{};            ///< [V, dim] type; of kCsr the values that are not zero
  std::vector<std::int64_t> begin{};        ///< of kCsr, as in SparseRowTable
  std::vector<std::uint32_t> columns{};     ///< likewise
  std::vector<std::string> column_names{};  ///< [dim], or empty: the source has none
  FeatureLosses losses{};                   ///< of what was converted so far
  std::string file{};                       ///< where it came from, for messages

  /// dim is above 0.
  std::size_t num_rows() const {
    return layout == FeatureLayout::kCsr ? begin.size() - 1
                                         : rows.size() / (static_cast<std::size_t>(dim) * size_of(type));
  }
};

/// Whether the reverse of every edge is added. kAuto, which is yes for every importer, leaves no trace in the store.
enum class Symmetric { kAuto, kYes, kNo };

constexpr auto names_of(Symmetric) {
  return std::to_array<EnumName<Symmetric>>(
      {{Symmetric::kAuto, "auto"}, {Symmetric::kYes, "yes"}, {Symmetric::kNo, "no"}});
}

/// What becomes of an edge that is given several times, also as its reverse where those are added.
enum class Repeats {
  kFirst,   ///< the first of the file stays
  kSum,     ///< one of the sum of their weights
  kKeep,    ///< all are entries of their own
  kRefuse,  ///< an error
};

constexpr auto names_of(Repeats) {
  return std::to_array<EnumName<Repeats>>(
      {{Repeats::kFirst, "first"}, {Repeats::kSum, "sum"}, {Repeats::kKeep, "keep"}, {Repeats::kRefuse, "refuse"}});
}

/// What edges have beside their ends: [M] in their order, or empty.
struct EdgeValues {
  std::vector<float> weights{};  ///< finite, at least 0
  std::vector<std::int64_t> times{};
  RawFeatures features{};  ///< a row for each edge; dim 0: none. Of f16 or f32
};

/// Everything ids refer to is already numbered 0 .. num_nodes - 1 and checked by the importer, which alone can name
/// the file and line of a bad record.
struct RawGraph {
  std::string name{};
  std::string source_kind{};  ///< "wordnet" | "ogb" | "edges" | "synthetic"
  std::string source_path{};
  std::string source_options{};  ///< what the program was asked for, as it describes that
  std::uint64_t num_nodes = 0;
  std::vector<NodeId> sources{};  ///< [M] edge m: sources[m] -> destinations[m]; stored as source in row destination
  std::vector<NodeId> destinations{};
  EdgeValues edge_values{};
  std::optional<Repeats>
      repeats{};           ///< none: kKeep of edges with times or features, kSum of those with weights alone, else
                           ///< kFirst
  bool symmetrise = true;  ///< add the reverse of every edge
  RawFeatures features{};
  FeatureOrigin feature_origin{};  ///< of features that are not as the source has them
  Task task = Task::kMultiClass;
  std::vector<std::int32_t> labels{};       ///< [V] of kMultiClass, as in LabelType; may be empty: no labels at all
  std::vector<std::int8_t> multi_labels{};  ///< [V, num_classes] of kMultiLabel, likewise
  std::vector<float> targets{};             ///< [V, num_classes] of kRegression, likewise
  int num_classes = 0;
  std::vector<std::int64_t> node_times{};  ///< optional, [V]
  std::vector<NodeId> train{}, valid{}, test{};
  bool has_links = false;                      ///< to be predicted; then the edges are those of training alone
  std::array<std::vector<NodeId>, 3> links{};  ///< of training, validation and test: [n, 2] source and destination
  bool has_link_times = false;  ///< of has_links: links have times, and the edges are those of all splits
  std::array<std::vector<std::int64_t>, 3> link_times{};  ///< [n] each, of has_link_times
  LinkNegativeSources negatives{};                        ///< of has_links, where the source has some
  std::vector<std::string> class_names{}, vocabulary{};   ///< optional
  std::vector<std::uint64_t> original_ids{};              ///< optional, [V]
  NameTable node_names{};                                 ///< optional, [V]: ids that are text
  std::uint32_t rng_seed = 0;
  std::string likely_features{};  ///< where there are none: an array that was not read and may hold them
  MemoryLimit memory{};           ///< that all who fill this, or build a store of it, keep to

  Repeats repeats_or_default() const {
    if (repeats) return *repeats;
    if (!edge_values.times.empty() || edge_values.features.dim > 0) return Repeats::kKeep;
    return edge_values.weights.empty() ? Repeats::kFirst : Repeats::kSum;
  }
  LabelTable label_table() const {
    return {{task, task == Task::kMultiClass ? 1 : num_classes}, labels, multi_labels, targets};
  }
};

/// Says so where ids may count from 1, unlike rows: an edge has the last node, and node 0 is one of few without any.
/// @param file  of the edges
void say_if_ids_count_from_one(const RawGraph& graph, const std::string& file);

/// Row i of dense features becomes row place_of_row[i], each place once. @throws Error{kHostMemory}
void reorder_rows(RawFeatures& features, const std::vector<NodeId>& place_of_row, const MemoryLimit& memory);

/// Node counts that a store can hold: 1 to 2^32 - 2.
bool is_node_count(std::uint64_t count);

/// Converts values of a feature matrix, row by row.
///
/// @param position  in the matrix of the first value
/// @param type      f16 or f32
/// @param out       [count] type
/// @param file      named in the error.
/// @throws Error{kBadData} for a non-finite value, |x| > 65504 as f16, or one beyond f32, naming file, row and column.
void convert_features(std::span<const float> values, FeatureType type, int dim, std::uint64_t position,
                      const std::string& file, std::byte* out);
void convert_features(std::span<const double> values, FeatureType type, int dim, std::uint64_t position,
                      const std::string& file, std::byte* out);

/// Converts and appends `count` values that follow the ones already there, and counts what they lose.
///
/// @param values  [count] row-major continuation of the matrix, of the source's precision; `features.dim` is set.
/// @param file    named in the error.
/// @throws as convert_features()
void append_feature_rows(RawFeatures& features, const float* values, std::size_t count, const std::string& file);
void append_feature_rows(RawFeatures& features, const double* values, std::size_t count, const std::string& file);

}  // namespace salient
