// store/seen_by_run.cpp - see seen_by_run.h.
#include "store/seen_by_run.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/host/huge_vector.h"

namespace salient {
namespace {

/// The arrays of a data set that were copied, and what has the others.
struct MappedColumns {
  std::shared_ptr<const void> source{};
  std::vector<std::int32_t> labels{};
  std::vector<std::int8_t> multi_labels{};
  std::vector<float> targets{};
  UnsetHugeVector<std::byte> features{};
  std::vector<std::int64_t> begin{};
  UnsetHugeVector<std::uint32_t> columns{};
};

template <class Use>
void for_each_row(std::size_t num_rows, Use use) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, num_rows, 1024), [&](const auto& range) {
    for (std::size_t v = range.begin(); v < range.end(); ++v) use(v);
  });
}

std::vector<std::int32_t> mapped_classes(const Dataset& dataset, const SchemaMatch& match) {
  std::vector<std::int32_t> labels(dataset.num_nodes(), -1);
  if (match.has_comparable_labels)
    for_each_row(labels.size(), [&](std::size_t v) {
      const std::int32_t label = dataset.labels[v];
      if (label >= 0) labels[v] = match.class_of.empty() ? label : match.class_of[static_cast<std::size_t>(label)];
    });
  return labels;
}

/// Labels, or values, of each of the run's columns. @param unknown  of those that the data set lacks
template <class Label>
std::vector<Label> mapped_columns(const Dataset& dataset, std::span<const Label> labels, std::size_t width,
                                  const SchemaMatch& match, Label unknown) {
  const auto from_width = static_cast<std::size_t>(dataset.num_classes);
  std::vector<Label> mapped(dataset.num_nodes() * width, unknown);
  if (match.has_comparable_labels)
    for_each_row(dataset.num_nodes(), [&](std::size_t v) {
      for (std::size_t t = 0; t < from_width; ++t) {
        const std::size_t to = match.class_of.empty() ? t : static_cast<std::size_t>(match.class_of[t]);
        if (to < width) mapped[v * width + to] = labels[v * from_width + t];
      }
    });
  return mapped;
}

void map_labels(Dataset& dataset, const DataSchema& run, const SchemaMatch& match, MappedColumns& mapped) {
  const bool has_same_rows = run.task == Task::kMultiClass || dataset.num_classes == run.num_classes;
  if (match.has_comparable_labels && match.class_of.empty() && has_same_rows) return;
  const auto width = static_cast<std::size_t>(run.num_classes);
  constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();
  switch (run.task) {
    case Task::kMultiClass: mapped.labels = mapped_classes(dataset, match); break;
    case Task::kMultiLabel:
      mapped.multi_labels = mapped_columns(dataset, dataset.multi_labels, width, match, std::int8_t{-1});
      break;
    case Task::kRegression: mapped.targets = mapped_columns(dataset, dataset.targets, width, match, kNotKnown); break;
  }
  dataset.labels = mapped.labels;
  dataset.multi_labels = mapped.multi_labels;
  dataset.targets = mapped.targets;
}

void map_dense_columns(Dataset& dataset, std::span<const std::uint32_t> column_of, MappedColumns& mapped) {
  const RowTable& from = dataset.features;
  const std::size_t item = size_of(dataset.feature_type), row_bytes = column_of.size() * item;
  mapped.features.resize(from.num_rows * row_bytes);
  for_each_row(from.num_rows, [&](std::size_t v) {
    const std::byte* const row = from.data + v * from.row_bytes;
    std::byte* out = mapped.features.data() + v * row_bytes;
    for (const std::uint32_t column : column_of) {
      std::memcpy(out, row + column * item, item);
      out += item;
    }
  });
  dataset.features = {mapped.features.data(), from.num_rows, row_bytes, from.fp8_scale};
}

/// The columns of a row in the run's numbers, ascending, each with its place among the row's values.
using SparseRow = std::vector<std::pair<std::uint32_t, std::size_t>>;

void map_sparse_columns(Dataset& dataset, std::span<const std::uint32_t> column_of, MappedColumns& mapped) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  const SparseRowTable from = dataset.sparse_features;
  const std::size_t item = size_of(dataset.feature_type), num_rows = dataset.num_nodes();
  std::vector<std::uint32_t> number_of(static_cast<std::size_t>(dataset.feature_dim), kNone);  // the inverse
  for (std::size_t c = 0; c < column_of.size(); ++c) number_of[column_of[c]] = static_cast<std::uint32_t>(c);
  const auto span_of = [&](std::size_t v) {
    return std::pair(static_cast<std::size_t>(from.begin[v]), static_cast<std::size_t>(from.begin[v + 1]));
  };
  mapped.begin.assign(num_rows + 1, 0);
  for_each_row(num_rows, [&](std::size_t v) {
    const auto [first, last] = span_of(v);
    for (std::size_t k = first; k < last; ++k) mapped.begin[v + 1] += number_of[from.columns[k]] == kNone ? 0 : 1;
  });
  for (std::size_t v = 0; v < num_rows; ++v) mapped.begin[v + 1] += mapped.begin[v];
  mapped.columns.resize(static_cast<std::size_t>(mapped.begin.back()));
  mapped.features.resize(mapped.columns.size() * item);
  for_each_row(num_rows, [&](std::size_t v) {
    const auto [first, last] = span_of(v);
    SparseRow row;
    for (std::size_t k = first; k < last; ++k)
      if (number_of[from.columns[k]] != kNone) row.emplace_back(number_of[from.columns[k]], k);
    std::ranges::sort(row);
    auto to = static_cast<std::size_t>(mapped.begin[v]);
    for (const auto& [column, k] : row) {
      mapped.columns[to] = column;
      std::memcpy(mapped.features.data() + to++ * item, from.values + k * item, item);
    }
  });
  dataset.sparse_features = {.begin = mapped.begin,
                             .columns = mapped.columns,
                             .values = mapped.features.data(),
                             .longest = LongestRows(mapped.begin)};
}

void map_columns(Dataset& dataset, std::span<const std::uint32_t> column_of, MappedColumns& mapped) {
  if (column_of.empty()) return;
  if (dataset.has_sparse_features()) return map_sparse_columns(dataset, column_of, mapped);
  if (dataset.features.data == nullptr)
    fail(ErrorKind::kNoInput, dataset.name +
                                  ": its columns of features are not in the run's order, and can be brought "
                                  "into it only where features.npy is");
  map_dense_columns(dataset, column_of, mapped);
}

}  // namespace

Dataset seen_by_run(Dataset dataset, const DataSchema& run, const SchemaMatch& match) {
  require(match.reasons.empty(), "the run can be used on the data set");
  const auto mapped = std::make_shared<MappedColumns>();
  map_labels(dataset, run, match, *mapped);
  map_columns(dataset, match.column_of, *mapped);
  dataset.task = run.task;
  dataset.num_classes = run.num_classes;
  dataset.feature_dim = run.feature_dim;
  dataset.class_names = run.class_names;
  dataset.column_names = run.column_names;
  dataset.target_scales = run.target_scales;
  mapped->source = std::exchange(dataset.storage, mapped);
  return dataset;
}

}  // namespace salient
