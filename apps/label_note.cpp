// apps/label_note.cpp - see label_note.h.
#include "apps/label_note.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <string_view>

#include "core/value_text.h"
#include "prepare/formats/text_fields.h"

namespace salient::prepare {
namespace {

bool are_one_hot(const Dataset& dataset) {
  const auto width = static_cast<std::size_t>(dataset.num_classes);
  for (std::size_t v = 0; v < dataset.label_table().num_nodes(); ++v) {
    const auto row = dataset.multi_labels.subspan(v * width, width);
    const bool is_unknown = std::ranges::all_of(row, [](std::int8_t flag) { return flag < 0; });
    if (!is_unknown && (std::ranges::count(row, 1) != 1 || std::ranges::min(row) < 0)) return false;
  }
  return true;
}

/// Of two classes that differ in letter case, blanks or zeros alone: equal.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != ' ') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  double value = 0;
  return from_text(std::string_view(text), value) ? to_text(value) : text;
}

std::string note_of_names(const Dataset& dataset) {
  constexpr std::string_view kNone[] = {"unknown", "unlabelled", "unlabeled", "undefined", "unassigned", "undecided",
                                        "missing", "none",       "na",        "n.a.",      "-"};
  const bool is_text = dataset.source_kind == "edges";
  std::map<std::string, std::string> first_of;
  std::string note;
  for (const std::string& name : dataset.class_names) {
    const auto [first, is_new] = first_of.emplace(folded(name), name);
    if (!is_new && note.empty())
      note = "classes " + in_quotes(first->second) + " and " + in_quotes(name) +
             " are two, as they are written in two ways; one way makes one class";
  }
  if (!note.empty() || !is_text) return note;
  for (const std::string_view word : kNone)
    if (const auto found = first_of.find(std::string(word)); found != first_of.end())
      return in_quotes(found->second) + " is a class; --unlabelled " + found->second + " makes its nodes unlabelled";
  return "";
}

}  // namespace

std::string label_note(const Dataset& dataset, const DatasetSummary& summary) {
  if (dataset.num_classes < 2 || dataset.task == Task::kRegression) return "";
  const std::string classes = std::to_string(dataset.num_classes);
  if (dataset.task == Task::kMultiLabel)
    return are_one_hot(dataset) ? "every node has exactly one of the " + classes +
                                      " labels: read as several labels a node; --one-hot reads classes"
                                : "";
  const bool is_known = dataset.name.starts_with("ogbn-") || dataset.source_kind == "synthetic";
  if (is_known) return "";  // so many are published, or were asked for
  const auto& nodes_of = summary.nodes_of_class;
  const std::uint64_t num_labelled = std::accumulate(nodes_of.begin(), nodes_of.end(), std::uint64_t{0});
  if (num_labelled > 2 && std::ranges::all_of(nodes_of, [](std::uint64_t n) { return n == 1; }))
    return "every labelled node has a class of its own; are these names of nodes? --label-column NAME takes others";
  if (std::string note = note_of_names(dataset); !note.empty()) return note;
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
