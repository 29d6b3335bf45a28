// apps/label_note.cpp - see label_note.h.
#include "apps/label_note.h"

#include <algorithm>

namespace salient::prepare {
namespace {

bool are_one_hot(const Dataset& dataset) {
  const auto width = static_cast<std::size_t>(dataset.num_classes);
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v) {
    const auto row = dataset.multi_labels.subspan(v * width, width);
    const bool is_unknown = std::ranges::all_of(row, [](std::int8_t flag) { return flag < 0; });
    if (!is_unknown && (std::ranges::count(row, 1) != 1 || std::ranges::min(row) < 0)) return false;
  }
  return true;
}

}  // namespace

std::string label_note(const Dataset& dataset, const DatasetSummary& summary) {
  if (dataset.num_classes < 2) return "";
  const std::string classes = std::to_string(dataset.num_classes);
  if (dataset.task == Task::kMultiLabel)
    return are_one_hot(dataset) ? "every node has exactly one of the " + classes +
                                      " labels: read as several labels a node; --one-hot reads classes"
                                : "";
  const bool is_known = dataset.name.starts_with("ogbn-") || dataset.source_kind == "synthetic";
  if (is_known) return "";  // so many are published, or were asked for
  const auto& nodes_of = summary.nodes_of_class;
  const auto used = static_cast<std::size_t>(std::ranges::count_if(nodes_of, [](std::uint64_t n) { return n > 0; }));
  if (used == nodes_of.size() || used == 0) return "";
  const std::string last = std::to_string(dataset.num_classes - 1);
  if (nodes_of.front() == 0 && used == nodes_of.size() - 1)
    return "labels are 1 to " + last + ": read as " + classes + " classes, of which class 0 has no node; " +
           "--compact-labels reads " + std::to_string(used) + " classes";
  return "labels go up to " + last + ": read as " + classes + " classes, of which " + std::to_string(used) +
         " have nodes; --compact-labels reads " + std::to_string(used) + " classes";
}

}  // namespace salient::prepare
