// prepare/importers/node_arrays.cpp - see node_arrays.h.
#include "prepare/importers/node_arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/field_values.h"
#include "core/files/npy.h"
#include "core/files/value_rules.h"
#include "prepare/importers/array_rows.h"
#include "prepare/importers/mask_layout.h"

namespace salient {
namespace {

[[noreturn]] void refuse(const NpyFile& file, const std::string& why, Topic topic = Topic::kNone) {
  fail(ErrorKind::kBadData, file.name() + ": " + why, topic);
}

[[noreturn]] void refuse_shape(const NpyFile& file, const std::string& expected) {
  refuse(file, "expected " + expected + ", found " + file.header().dtype() + " " + file.header().shape_text());
}

bool is_one_column(const NpyHeader& header) {
  return header.shape.size() == 1 || (header.shape.size() == 2 && header.shape[1] == 1);
}

std::string text_at(const NpyFile& file, std::size_t item) {
  return item_text(file.header(), file.data().data() + item * static_cast<std::size_t>(file.header().item_bytes));
}

std::vector<std::int32_t> read_classes(const NpyFile& file) {
  std::vector<double> values(file.header().num_items());
  convert_to_double(file.header(), file.data().data(), values.size(), values.data());
  std::vector<std::int32_t> labels(values.size());
  for (std::size_t v = 0; v < values.size(); ++v)
    if (const char* rule = label_from(values[v], labels[v]))
      refuse(file, "node " + std::to_string(v) + " has label " + text_at(file, v) + ", " + rule, kLabelTopic);
  return labels;
}

/// [V, T] in C order, whatever the order in the file.
std::vector<std::int8_t> read_flags(const NpyFile& file) {
  const std::size_t num_nodes = file.header().shape[0], width = file.header().shape[1];
  std::vector<std::int8_t> flags(num_nodes * width);
  std::vector<double> rows;
  const std::size_t block = std::max<std::size_t>(1, (std::size_t{1} << 18) / width);
  for (std::size_t first = 0; first < num_nodes; first += block) {
    read_rows(file, width, first, std::min(block, num_nodes - first), rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const char* rule = flag_from(rows[i], flags[first * width + i])) {
        const std::size_t node = first + i / width, label = i % width;
        const std::size_t item = file.header().is_fortran_order ? label * num_nodes + node : node * width + label;
        refuse(file,
               "node " + std::to_string(node) + ", label " + std::to_string(label) + " is " + text_at(file, item) +
                   ", " + rule,
               kLabelTopic);
      }
  }
  return flags;
}

/// As read_features(), by way of T, which holds every value of the file.
template <class T>
void append_all_rows(const NpyFile& file, RawFeatures& features) {
  for_each_row_block<T>(file, static_cast<std::size_t>(features.dim), "reading features",
                        [&](std::span<const T> values, std::size_t) {
                          append_feature_rows(features, values.data(), values.size(), file.name());
                        });
}

}  // namespace

std::size_t width_of_features(const NpyFile& file) {
  const NpyHeader& header = file.header();
  const std::size_t dim = header.shape.size() == 2 ? header.shape[1] : 1;
  if (header.shape.empty() || header.shape.size() > 2 || dim == 0 || dim > std::numeric_limits<int>::max())
    refuse_shape(file, "numbers [nodes, width]");
  return dim;
}

RawFeatures read_features(const std::filesystem::path& path, FeatureType type, const MemoryLimit& memory) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  RawFeatures features{.type = type, .dim = static_cast<int>(width_of_features(file))};
  memory.check(file.data().size() + header.num_items() * size_of(type), file.name());
  features.rows.reserve(header.num_items() * size_of(type));
  if (fits_float(header))
    append_all_rows<float>(file, features);
  else
    append_all_rows<double>(file, features);
  return features;
}

void read_labels(const std::filesystem::path& path, RawGraph& graph, const MemoryLimit& memory) {
  const NpyFile file(path);
  memory.check(file.data().size() + 12 * file.header().num_items(), file.name());
  const std::vector<std::uint64_t>& shape = file.header().shape;
  if (is_one_column(file.header())) {
    graph.labels = read_classes(file);
    graph.num_classes = graph.labels.empty() ? 0 : std::max(0, std::ranges::max(graph.labels) + 1);
    return;
  }
  if (shape.size() != 2 || shape[1] == 0 || shape[1] > kMaxClasses)
    refuse_shape(file, "labels [nodes], or [nodes, labels] of 0 and 1");
  graph.task = Task::kMultiLabel;
  graph.num_classes = static_cast<int>(shape[1]);
  graph.multi_labels = read_flags(file);
}

std::vector<std::size_t> target_columns(const std::string& file, const std::vector<std::string>& columns,
                                        std::size_t width) {
  std::vector<std::size_t> chosen;
  if (columns.size() == 1 && columns[0] == kAllTargets) {
    for (std::size_t t = 0; t < width; ++t) chosen.push_back(t);
    return chosen;
  }
  for (const std::string& column : columns) {
    std::size_t number = width;
    if (!parse_number(std::string_view(column), number) || number >= width)
      fail(ErrorKind::kBadData,
           file + ": has " + std::to_string(width) + " columns, none is '" + column + "'; all takes each of them");
    chosen.push_back(number);
  }
  return chosen;
}

void read_targets(const std::filesystem::path& path, const std::vector<std::string>& columns, RawGraph& graph,
                  const MemoryLimit& memory) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const std::size_t width = header.shape.size() == 2 ? header.shape[1] : 1;
  if (header.shape.empty() || header.shape.size() > 2 || width == 0 || width > kMaxClasses)
    refuse_shape(file, "numbers [nodes], or [nodes, targets]");
  const std::vector<std::size_t> chosen = target_columns(file.name(), columns, width);
  const std::size_t num_nodes = header.shape[0], block = std::max<std::size_t>(1, (std::size_t{1} << 18) / width);
  memory.check(file.data().size() + num_nodes * chosen.size() * sizeof(float), file.name());
  graph.task = Task::kRegression;
  graph.num_classes = static_cast<int>(chosen.size());
  graph.targets.reserve(num_nodes * chosen.size());
  std::vector<double> rows;
  for (std::size_t first = 0; first < num_nodes; first += block) {
    read_rows(file, width, first, std::min(block, num_nodes - first), rows);
    for (std::size_t row = 0; row < rows.size(); row += width)
      for (const std::size_t t : chosen) {
        const double value = rows[row + t];
        if (std::fabs(value) > double{std::numeric_limits<float>::max()})
          refuse(file, "node " + std::to_string(first + row / width) + ", column " + std::to_string(t) +
                           " is infinite, or beyond the range of a float");
        graph.targets.push_back(static_cast<float>(value));
      }
  }
}

std::vector<NodeId> read_split(const std::filesystem::path& path, std::uint64_t num_nodes, int mask) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const bool is_bool = header.kind == 'b';
  if (header.kind == 'f' || (!is_bool && !is_one_column(header)))
    refuse_shape(file, "node ids [n], or bool masks [nodes], [nodes, masks] or [masks, nodes]");
  std::vector<std::int64_t> values(header.num_items());
  convert_to_int64(header, file.data().data(), values.size(), values.data());
  std::vector<NodeId> ids;
  // More than two row numbers of 0 and 1 would name a node twice.
  const bool is_mask = is_bool || (values.size() == num_nodes && num_nodes > 2 &&
                                   std::ranges::all_of(values, [](std::int64_t v) { return v == 0 || v == 1; }));
  if (is_mask) {
    const MaskLayout layout = mask_layout_of(header, num_nodes, mask, file.name());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0 && layout.mask_of(i) == static_cast<std::uint64_t>(mask))
        ids.push_back(static_cast<NodeId>(layout.node_of(i)));
    return ids;
  }
  ids.reserve(values.size());
  std::uint64_t position = 0;
  for (const std::uint64_t id : ids_of(file)) {
    if (id >= num_nodes) fail_at_item(file.name(), position, std::to_string(id), no_node(id, num_nodes));
    ids.push_back(static_cast<NodeId>(id));
    ++position;
  }
  return ids;
}

}  // namespace salient
