// prepare/importers/raw_graph.cpp - see raw_graph.h.
#include "prepare/importers/raw_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/value_rules.h"
#include "core/half.h"
#include "core/value_text.h"

namespace salient {
namespace {

static_assert(kLabelLimit == kMaxClasses, "labels that are read are labels of a store");

[[noreturn]] void refuse_value(int dim, std::uint64_t position, Number auto value, FeatureType type,
                               const std::string& file) {
  const auto width = static_cast<std::uint64_t>(dim);
  std::string text =
      file + ": row " + std::to_string(position / width) + ", column " + std::to_string(position % width);
  text += " is " + to_text(value);
  if (!std::isfinite(value)) fail(ErrorKind::kBadData, text + "; features are finite");
  if (type == FeatureType::kF32) fail(ErrorKind::kBadData, text + ", beyond the f32 range of 3.4e38");
  fail(ErrorKind::kBadData, text + ", beyond the f16 range of 65504", Topic::kHalfRange);
}

/// Whether all are finite and fit. One loop without a branch, which becomes vector instructions.
bool all_fit(std::span<const float> values, float limit) {
  int out_of_range = 0;
  for (const float value : values) out_of_range |= !(std::fabs(value) <= limit);
  return out_of_range == 0;
}

void store_floats(std::span<const float> values, FeatureType type, std::byte* out) {
  if (type == FeatureType::kF16)
    floats_to_halves(values.data(), values.size(), reinterpret_cast<std::uint16_t*>(out));
  else if (!values.empty())
    std::memcpy(out, values.data(), values.size_bytes());
}

float limit_of(FeatureType type) {
  require(type != FeatureType::kFp8, "rows become fp8 when the scale is known");
  return type == FeatureType::kF16 ? kHalfMax : std::numeric_limits<float>::max();
}

template <class T>
void append(RawFeatures& features, std::span<const T> values, const std::string& file) {
  const std::size_t item = size_of(features.type), before = features.rows.size() / item;
  features.rows.resize(features.rows.size() + values.size() * item);
  std::byte* const out = features.rows.data() + before * item;
  convert_features(values, features.type, features.dim, before, file, out);
  features.losses.add(values, out, features.type, features.dim);
  if (features.file.empty()) features.file = file;
}

}  // namespace

void say_if_ids_count_from_one(const RawGraph& graph, const std::string& file) {
  if (graph.sources.empty()) return;
  const auto [least_source, most_source] = std::ranges::minmax(graph.sources);
  const auto [least, most] = std::ranges::minmax(graph.destinations);
  if (std::min(least_source, least) != 1 || std::max(most_source, most) != graph.num_nodes - 1) return;
  std::vector<bool> has_edge(graph.num_nodes, false);
  for (const std::vector<NodeId>* ends : {&graph.sources, &graph.destinations})
    for (const NodeId node : *ends) has_edge[node] = true;
  const auto num_isolated = static_cast<std::uint64_t>(std::ranges::count(has_edge, false));
  if (num_isolated <= 2 + graph.num_nodes / 50)  // where many have none, node 0 may be one of them
    log_warning(file + ": no edge has node 0, and one has the last, " + std::to_string(graph.num_nodes - 1) +
                "; nodes are rows from 0 on, do the ids count from 1?");
}

void reorder_rows(RawFeatures& features, const std::vector<NodeId>& place_of_row, const MemoryLimit& memory) {
  if (std::ranges::is_sorted(place_of_row)) return;
  const std::size_t row_bytes = static_cast<std::size_t>(features.dim) * size_of(features.type);
  memory.check(features.rows.size(), "sorted features");
  std::vector<std::byte> rows(features.rows.size());
  for (std::size_t row = 0; row < place_of_row.size(); ++row)
    std::copy_n(features.rows.begin() + static_cast<std::ptrdiff_t>(row * row_bytes), row_bytes,
                rows.begin() + static_cast<std::ptrdiff_t>(place_of_row[row] * row_bytes));
  features.rows = std::move(rows);
}

bool is_node_count(std::uint64_t count) { return count > 0 && count < std::numeric_limits<NodeId>::max(); }

void convert_features(std::span<const float> values, FeatureType type, int dim, std::uint64_t position,
                      const std::string& file, std::byte* out) {
  require(dim > 0, "the feature width is set before rows are converted");
  const float limit = limit_of(type);
  if (!all_fit(values, limit))
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::fabs(values[i]) <= limit)) refuse_value(dim, position + i, values[i], type, file);
  store_floats(values, type, out);
}

void convert_features(std::span<const double> values, FeatureType type, int dim, std::uint64_t position,
                      const std::string& file, std::byte* out) {
  require(dim > 0, "the feature width is set before rows are converted");
  const float limit = limit_of(type);
  std::array<float, 4096> block;
  for (std::size_t from = 0; from < values.size(); from += block.size()) {
    const std::span narrow = std::span(block).first(std::min(block.size(), values.size() - from));
    std::transform(values.begin() + static_cast<std::ptrdiff_t>(from),
                   values.begin() + static_cast<std::ptrdiff_t>(from + narrow.size()), narrow.begin(),
                   [](double value) { return static_cast<float>(value); });
    if (!all_fit(narrow, limit))
      for (std::size_t i = 0; i < narrow.size(); ++i)
        if (!(std::fabs(narrow[i]) <= limit)) refuse_value(dim, position + from + i, values[from + i], type, file);
    store_floats(narrow, type, out + from * size_of(type));
  }
}

void append_feature_rows(RawFeatures& features, const float* values, std::size_t count, const std::string& file) {
  append(features, std::span(values, count), file);
}

void append_feature_rows(RawFeatures& features, const double* values, std::size_t count, const std::string& file) {
  append(features, std::span(values, count), file);
}

}  // namespace salient
