// prepare/importers/table_labels.cpp - see table_labels.h.
#include "prepare/importers/table_labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/value_rules.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  if (!parse_number(text, value)) return std::nullopt;
  return value;
}

/// The texts of labels, and which of them are none.
class LabelTexts {
 public:
  LabelTexts(const NameTable& texts, const std::vector<std::string>& unlabelled)
      : texts_(texts), unlabelled_(unlabelled) {}

  std::size_t size() const { return texts_.size(); }
  std::string_view operator[](std::size_t i) const { return texts_[i]; }

  /// Missing, or -1, also among words, or said to be none.
  bool is_none(std::size_t i) const {
    const std::optional<double> number = number_of(texts_[i]);
    return is_missing(texts_[i]) || (number && (std::isnan(*number) || *number == -1)) ||
           std::ranges::find(unlabelled_, texts_[i]) != unlabelled_.end();
  }

 private:
  const NameTable& texts_;
  const std::vector<std::string>& unlabelled_;
};

/// The class of each name, if all names are numbers.
std::optional<std::vector<std::int32_t>> numeric_classes(const LabelTexts& names, const std::string& file) {
  std::vector<std::int32_t> classes(names.size(), -1);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names.is_none(i) && !number_of(names[i])) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names.is_none(i) && label_from(*number_of(names[i]), classes[i]))
      fail(ErrorKind::kBadData,
           file + ": label " + in_quotes(names[i]) + ", labels are whole numbers from 0 to " +
               std::to_string(kMaxClasses - 1) + ", -1 or NaN for none, or words",
           kLabelTopic);
  return classes;
}

/// The class of each name by its rank among them, and the names in this order.
std::vector<std::int32_t> ranked_classes(const LabelTexts& names, std::vector<std::string>& sorted) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names.is_none(i)) sorted.emplace_back(names[i]);
  std::ranges::sort(sorted);
  std::vector<std::int32_t> classes(names.size(), -1);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names.is_none(i))
      classes[i] = static_cast<std::int32_t>(std::ranges::lower_bound(sorted, names[i]) - sorted.begin());
  return classes;
}

/// Says which words are no label, and which word makes classes of words of labels that look like numbers.
void say_what_labels_are(const TableLabels& labels, const LabelTexts& names, const std::string& file) {
  std::optional<std::size_t> number, word;  // the first label that is one
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.is_none(i)) {
      if (!names[i].empty() && !number_of(names[i])) log_info(file + ": " + in_quotes(names[i]) + " is no label");
      continue;
    }
    std::optional<std::size_t>& first = number_of(names[i]) ? number : word;
    if (!first) first = i;
  }
  if (number && word)
    log_info(line_name(file, labels.first_lines[*word]) + ": labels are words, as " + in_quotes(names[*word]) +
             " is no number");
}

void set_targets(const TableLabels& labels, const std::vector<NodeId>& node_of_row, const std::string& file,
                 RawGraph& graph) {
  const std::size_t width = labels.targets.size();
  graph.memory.check(graph.num_nodes * width * sizeof(float), "targets");
  graph.task = Task::kRegression;
  graph.num_classes = static_cast<int>(width);
  graph.class_names = labels.targets;
  graph.targets.assign(graph.num_nodes * width, std::numeric_limits<float>::quiet_NaN());
  std::vector<bool> has_value(width, false);
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    const std::size_t row = i / width, node = node_of_row.empty() ? row : node_of_row[row];
    graph.targets[node * width + i % width] = labels.values[i];
    if (!std::isnan(labels.values[i])) has_value[i % width] = true;
  }
  for (std::size_t t = 0; t < width; ++t)
    if (!has_value[t])
      fail(ErrorKind::kBadData, file + ": " + in_quotes(labels.targets[t]) + " has no value to predict");
}

}  // namespace

void set_labels(const TableLabels& labels, const std::vector<NodeId>& node_of_row, const std::string& file,
                const std::vector<std::string>& unlabelled, RawGraph& graph) {
  if (!labels.targets.empty()) return set_targets(labels, node_of_row, file, graph);
  const LabelTexts names(labels.names.names(), unlabelled);
  const std::optional<std::vector<std::int32_t>> numbers = numeric_classes(names, file);
  say_what_labels_are(labels, names, file);
  for (const std::string& word : unlabelled)
    if (!labels.names.find(word)) log_warning(file + ": no label is " + in_quotes(word) + ", which is to be none");
  const std::vector<std::int32_t> classes = numbers ? *numbers : ranked_classes(names, graph.class_names);
  graph.labels.assign(graph.num_nodes, -1);
  for (std::size_t row = 0; row < labels.codes.size(); ++row)
    graph.labels[node_of_row.empty() ? row : node_of_row[row]] = classes[labels.codes[row]];
  graph.num_classes = classes.empty() ? 0 : std::max(0, std::ranges::max(classes) + 1);
}

}  // namespace salient
