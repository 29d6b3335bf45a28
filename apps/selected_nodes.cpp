// apps/selected_nodes.cpp - see selected_nodes.h.
#include "apps/selected_nodes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/npy.h"
#include "core/files/value_rules.h"
#include "core/id_text.h"
#include "prepare/formats/table_line.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/node_table.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kSplits = {"train", "valid", "test"};

bool is_word(const NodeSelection& selection) {
  return selection.by != NodesBy::kId &&
         (selection.what == "all" || std::ranges::find(kSplits, selection.what) != kSplits.end());
}

std::vector<NodeId> nodes_of_mask(const NpyFile& file, NodeId first) {
  std::vector<NodeId> nodes;
  for (std::size_t v = 0; v < file.data().size(); ++v)
    if (file.data()[v] != std::byte{0}) nodes.push_back(first + static_cast<NodeId>(v));
  return nodes;
}

/// The nodes of a list, in its order.
class NodeList {
 public:
  NodeList(const Dataset& dataset, const NodeSelection& selection)
      : first_(dataset.first_target()),
        lookup_(lookup_of_targets(dataset)),
        by_(selection.by.value_or(NodesBy::kId)),
        may_be_rows_(!selection.by && !lookup_.ids().empty()),
        is_taken_(num_targets(dataset), false) {}

  bool are_numbers() const { return by_ == NodesBy::kRow || lookup_.ids().empty() || !lookup_.ids().numbers().empty(); }
  bool has_ids() const { return !lookup_.ids().empty(); }

  /// @param said  text or a number   @return "", or the rule that it breaks
  template <class Said>
  std::string add(const Said& said) {
    const std::optional<NodeId> node = lookup_.find(said, by_), row = lookup_.find(said, NodesBy::kRow);
    may_be_rows_ = may_be_rows_ && row.has_value();
    has_other_rows_ = has_other_rows_ || node != row;
    if (!node) return lookup_.rule_of(said, by_) + remedy(row.has_value());
    if (is_taken_[*node]) return "the node is listed twice";
    is_taken_[*node] = true;
    nodes_.push_back(first_ + *node);
    return "";
  }

  SelectedNodes take() { return {std::move(nodes_), may_be_rows_ && has_other_rows_}; }

 private:
  std::string remedy(bool is_row) const {
    return by_ == NodesBy::kId && has_ids() && is_row ? "; --nodes-by row takes row numbers" : "";
  }

  NodeId first_;
  NodeLookup lookup_;
  NodesBy by_;
  bool may_be_rows_, has_other_rows_ = false;
  std::vector<bool> is_taken_;
  std::vector<NodeId> nodes_{};
};

SelectedNodes nodes_in_array(const Dataset& dataset, const NodeSelection& selection) {
  const NpyFile file(selection.what);
  const NpyHeader& header = file.header();
  const bool is_list = header.shape.size() == 1;
  if (is_list && header.kind == 'b' && header.shape[0] == num_targets(dataset))
    return {nodes_of_mask(file, dataset.first_target())};
  if (!is_list || (header.kind != 'i' && header.kind != 'u'))
    fail(ErrorKind::kBadData, file.name() + ": holds " + header.dtype() + " of shape " + header.shape_text() +
                                  ", expected a list of integer node ids, or a bool for each of the " +
                                  std::to_string(num_targets(dataset)) + " nodes");
  NodeList list(dataset, selection);
  std::size_t position = 0;
  for (const std::uint64_t id : ids_of(file)) {
    const std::string rule = list.add(id);
    if (!rule.empty()) fail_at_item(file.name(), position, std::to_string(id), rule);
    ++position;
  }
  return list.take();
}

SelectedNodes nodes_in_table(const Dataset& dataset, const NodeSelection& selection) {
  NodeList list(dataset, selection);
  std::string rule;
  read_id_list(selection.what, {.id_column = selection.id_column, .ids_are_numbers = list.are_numbers()},
               [&](std::string_view id) -> const char* {
                 rule = list.add(id);
                 return rule.empty() ? nullptr : rule.c_str();
               });
  return list.take();
}

SelectedNodes nodes_said(const Dataset& dataset, const NodeSelection& selection) {
  NodeList list(dataset, selection);
  TableLine line;
  if (const char* rule = line.split(selection.what, Separator::kComma))
    fail(ErrorKind::kUsage, "--nodes: " + std::string(rule));
  for (const std::string_view said : line.fields()) {
    const std::string rule = list.add(said);
    if (rule.empty()) continue;
    std::string what = "--nodes: " + in_quotes(said) + ": " + rule;
    if (selection.by == NodesBy::kId && is_word({.what = std::string(said)}))
      what += "; without --nodes-by id it is a selection of nodes";
    else if (!list.has_ids() && selection.by != NodesBy::kRow)
      what += "; or train, valid, test, all, or a file that ends in .npy, .txt, .csv or .tsv";
    std::uint64_t number = 0;
    fail(list.has_ids() || parse_id(said, number) ? ErrorKind::kBadData : ErrorKind::kUsage, what);
  }
  return list.take();
}

std::vector<NodeId> nodes_of_word(const Dataset& dataset, const std::string& word) {
  if (word == "all") {
    std::vector<NodeId> nodes(num_targets(dataset));
    std::iota(nodes.begin(), nodes.end(), dataset.first_target());
    return nodes;
  }
  const std::span<const NodeId> split = word == "train"   ? dataset.train
                                        : word == "valid" ? dataset.valid
                                                          : dataset.test;
  return {split.begin(), split.end()};
}

}  // namespace

std::size_t num_targets(const Dataset& dataset) {
  return dataset.types.is_typed() ? static_cast<std::size_t>(dataset.types.target().count) : dataset.num_nodes();
}

NodeLookup lookup_of_targets(const Dataset& dataset) {
  const NodeIds ids = NodeIds::of(dataset);
  const std::size_t count = num_targets(dataset);
  return {dataset.types.is_typed() ? ids.part(dataset.first_target(), count) : ids, count};
}

std::vector<NodeLookup> lookups_of_types(const Dataset& dataset) {
  const NodeIds ids = NodeIds::of(dataset);
  std::vector<NodeLookup> lookups;
  std::uint64_t first = 0;
  for (const NodeType& type : dataset.types.node_types) {
    lookups.emplace_back(ids.part(static_cast<NodeId>(first), static_cast<std::size_t>(type.count)),
                         static_cast<std::size_t>(type.count));
    first += type.count;
  }
  return lookups;
}

bool is_node_file(const std::string& what) {
  const std::string_view plain = std::string_view(what).substr(0, what.size() - (what.ends_with(".gz") ? 3 : 0));
  return what.ends_with(".npy") || plain.ends_with(".txt") || plain.ends_with(".csv") || plain.ends_with(".tsv");
}

std::string short_name_of(const NodeSelection& selection) {
  if (is_word(selection)) return selection.what;
  return is_node_file(selection.what) ? fs::path(selection.what).stem().string() : "nodes";
}

SelectedNodes select_nodes(const Dataset& dataset, const NodeSelection& selection) {
  const std::string& what = selection.what;
  SelectedNodes nodes = is_word(selection)       ? SelectedNodes{nodes_of_word(dataset, what)}
                        : what.ends_with(".npy") ? nodes_in_array(dataset, selection)
                        : is_node_file(what)     ? nodes_in_table(dataset, selection)
                                                 : nodes_said(dataset, selection);
  if (nodes.nodes.empty()) fail(ErrorKind::kUsage, "the selection '" + what + "' has no nodes", Topic::kMissingSplit);
  return nodes;
}

}  // namespace salient
