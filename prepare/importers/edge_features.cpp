// prepare/importers/edge_features.cpp - see edge_features.h.
#include "prepare/importers/edge_features.h"

#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/value_text.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/column_statistics.h"
#include "prepare/importers/feature_columns.h"
#include "prepare/importers/node_arrays.h"
#include "prepare/importers/scaled_array.h"

namespace salient {

RawFeatures edge_features_of(std::vector<double> rows, const std::vector<std::string>& names, FeatureScaling scaling,
                             FeatureType type, const MemoryLimit& memory, const std::string& file) {
  const std::size_t width = names.size(), num_rows = width == 0 ? 0 : rows.size() / width;
  RawFeatures features{.type = type, .dim = static_cast<int>(width)};
  if (width == 0) return features;
  std::string scaled;
  for (std::size_t c = 0; c < width; ++c) {
    ColumnStatistics column;
    for (std::size_t row = 0; row < num_rows; ++row) column.add(rows[row * width + c], row);
    if (!is_scaled(column, scaling)) continue;
    const double mean = column.mean(), deviation = column.deviation() > 0 ? column.deviation() : 1;
    for (std::size_t row = 0; row < num_rows; ++row) {
      double& value = rows[row * width + c];
      value = (value - mean) / deviation;
    }
    scaled.append(scaled.empty() ? "" : ", ").append(in_quotes(names[c])).append(" by mean ").append(to_text(mean));
    scaled.append(" and deviation ").append(to_text(deviation));
  }
  if (!scaled.empty()) log_info(file + ": features of edges are scaled: " + scaled);
  memory.check(rows.size() * size_of(type), file);
  features.rows.reserve(rows.size() * size_of(type));
  append_feature_rows(features, rows.data(), rows.size(), file);
  return features;
}

void add_edge_features(const std::filesystem::path& path, FeatureScaling scaling, FeatureType type, RawGraph& graph) {
  if (path.empty()) return;
  RawFeatures& features = graph.edge_values.features;
  features = scaling == FeatureScaling::kStandard ? read_scaled_array(path, type, graph.memory).features
                                                  : read_features(path, type, graph.memory);
  features.column_names.clear();
  if (features.num_rows() != graph.sources.size())
    fail(ErrorKind::kBadData, path.string() + ": has " + std::to_string(features.num_rows()) + " rows, and " +
                                  graph.source_path + " has " + std::to_string(graph.sources.size()) +
                                  " edges: a row for each");
}

}  // namespace salient
