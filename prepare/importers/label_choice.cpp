// prepare/importers/label_choice.cpp - see label_choice.h.
#include "prepare/importers/label_choice.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/free_memory.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

void take_one_hot(RawGraph& graph) {
  if (graph.task != Task::kMultiLabel)
    fail(ErrorKind::kBadData, graph.source_path + ": labels are a class a node already, not one-hot rows");
  const auto width = static_cast<std::size_t>(graph.num_classes);
  graph.memory.check(graph.num_nodes * sizeof(std::int32_t), "labels");
  graph.labels.assign(graph.num_nodes, -1);
  for (std::size_t i = 0; i < graph.multi_labels.size(); ++i) {
    if (graph.multi_labels[i] != 1) continue;
    std::int32_t& label = graph.labels[i / width];
    if (label >= 0)
      fail(ErrorKind::kBadData, graph.source_path + ": node " + std::to_string(i / width) + " has the labels " +
                                    std::to_string(label) + " and " + std::to_string(i % width) +
                                    ", a one-hot row has one");
    label = static_cast<std::int32_t>(i % width);
  }
  free_memory_of(graph.multi_labels);
  graph.task = Task::kMultiClass;
}

void take_compact(RawGraph& graph) {
  if (graph.task != Task::kMultiClass)
    fail(ErrorKind::kBadData, graph.source_path + ": nodes have several labels, of which none is left out");
  std::vector<std::int32_t> number_of(static_cast<std::size_t>(graph.num_classes), -1);
  for (const std::int32_t label : graph.labels)
    if (label >= 0) number_of[static_cast<std::size_t>(label)] = 0;
  std::vector<std::string> names;
  for (std::size_t label = 0; label < number_of.size(); ++label) {
    if (number_of[label] < 0) continue;
    number_of[label] = static_cast<std::int32_t>(names.size());
    names.push_back(graph.class_names.empty() ? std::to_string(label) : graph.class_names[label]);
  }
  if (names.size() == number_of.size()) return;  // nothing is missing, and no numbers need to be kept
  for (std::int32_t& label : graph.labels)
    if (label >= 0) label = number_of[static_cast<std::size_t>(label)];
  graph.num_classes = static_cast<int>(names.size());
  graph.class_names = std::move(names);
}

/// Names are told apart, and no class is without one.
void check_class_names(const std::filesystem::path& path, const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const std::string& { return names[i]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& name = names[order[i]];
    if (name.find_first_not_of(" \t") == std::string::npos)
      fail_at_line(path, order[i] + 1, name, "a class without a name; names are one a line");
    if (i > 0 && name == names[order[i - 1]])
      fail_at_line(path, order[i] + 1, name, "class " + std::to_string(order[i - 1]) + " has this name already");
  }
}

void take_class_names(const std::filesystem::path& path, RawGraph& graph) {
  LineReader reader(path);
  std::vector<std::string> names;
  for (std::string_view line; names.size() <= static_cast<std::size_t>(graph.num_classes) && reader.next(line);)
    names.emplace_back(line);
  if (names.size() != static_cast<std::size_t>(graph.num_classes))
    fail(ErrorKind::kBadData,
         path.string() + ": has " +
             (names.size() > static_cast<std::size_t>(graph.num_classes) ? "more" : std::to_string(names.size())) +
             " lines, the graph has " + std::to_string(graph.num_classes) + " classes");
  check_class_names(path, names);
  graph.class_names = std::move(names);
}

}  // namespace

void apply(const LabelChoice& choice, RawGraph& graph) {
  if (choice.one_hot) take_one_hot(graph);
  if (choice.compact) take_compact(graph);
  if (!choice.class_names.empty()) take_class_names(choice.class_names, graph);
}

}  // namespace salient
