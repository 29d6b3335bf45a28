// prepare/importers/label_choice.cpp - see label_choice.h.
#include "prepare/importers/label_choice.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/free_memory.h"
#include "prepare/formats/line_reader.h"

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
  graph.class_names = std::move(names);
}

}  // namespace

void apply(const LabelChoice& choice, RawGraph& graph) {
  if (choice.one_hot) take_one_hot(graph);
  if (choice.compact) take_compact(graph);
  if (!choice.class_names.empty()) take_class_names(choice.class_names, graph);
}

}  // namespace salient
