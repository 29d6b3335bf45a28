// store/label_table.h - what is known of the nodes: one class each, a yes or no for each of several labels, or values.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/enum_names.h"
#include "core/types.h"
#include "store/row_table.h"

namespace salient {

/// What is predicted of a node. A model has an output for each class, label or target.
enum class Task : std::uint8_t {
  kMultiClass,  ///< a node is of one class
  kMultiLabel,  ///< a node has any number of labels
  kRegression,  ///< a node has a value of each target
};

/// In dataset.json all but the first, in checkpoints and run.json all.
constexpr auto names_of(Task) {
  return std::to_array<EnumName<Task>>(
      {{Task::kMultiClass, "multi-class"}, {Task::kMultiLabel, "multi-label"}, {Task::kRegression, "regression"}});
}

/// What messages call a task.
struct TaskWords {
  const char* outputs;  ///< "classes": what num_classes counts
  const char* output;   ///< one of them
  const char* of_node;  ///< "one class a node"
};
constexpr TaskWords words_of(Task task) {
  switch (task) {
    case Task::kMultiClass: return {"classes", "class", "one class a node"};
    case Task::kMultiLabel: return {"labels", "label", "several labels a node"};
    case Task::kRegression: return {"targets", "target", "values to be predicted, not classes"};
  }
  return {"", "", ""};
}

/// More classes, or labels of a node, than this are refused as a mistake.
inline constexpr int kMaxClasses = 1 << 20;

/// What a row of labels is: in a store, in a batch's y, in GPU memory and as a tensor. Nothing else says so.
///
///   kMultiClass   int32            the class; -1 = unlabelled
///   kMultiLabel   int8 [width]     1 = has the label, 0 = has not, -1 = not known
///   kRegression   float32 [width]  the value of each target; NaN = not known
struct LabelType {
  Task task = Task::kMultiClass;
  int width = 1;  ///< labels or targets of a node; 1 for kMultiClass

  std::size_t row_bytes() const {
    switch (task) {
      case Task::kMultiClass: return sizeof(std::int32_t);
      case Task::kMultiLabel: return static_cast<std::size_t>(width) * sizeof(std::int8_t);
      case Task::kRegression: return static_cast<std::size_t>(width) * sizeof(float);
    }
    return 0;
  }
  bool operator==(const LabelType&) const = default;
};

/// The labels of all nodes, of a typed graph of those of one type. Borrows them. Two of the three spans are empty.
struct LabelTable {
  LabelType type{};
  std::span<const std::int32_t> classes{};  ///< [V] of kMultiClass
  std::span<const std::int8_t> flags{};     ///< [V, type.width] of kMultiLabel
  std::span<const float> values{};          ///< [V, type.width] of kRegression
  NodeId first = 0;                         ///< the node of row 0

  std::size_t num_nodes() const { return as_bytes().size() / type.row_bytes(); }

  std::size_t row_of(NodeId node) const { return node - first; }

  /// Of one node's labels; 0 = unlabelled.
  int num_known(NodeId node) const {
    const std::size_t row = row_of(node);
    const auto width = static_cast<std::size_t>(type.width);
    const auto count = [&](auto labels, auto is_known) {
      return static_cast<int>(std::ranges::count_if(labels.subspan(row * width, width), is_known));
    };
    switch (type.task) {
      case Task::kMultiClass: return classes[row] < 0 ? 0 : 1;
      case Task::kMultiLabel: return count(flags, [](std::int8_t flag) { return flag >= 0; });
      case Task::kRegression: return count(values, [](float value) { return !std::isnan(value); });
    }
    return 0;
  }

  /// Row i is that of node first + i.
  RowTable rows() const { return {as_bytes().data(), num_nodes(), type.row_bytes()}; }

 private:
  std::span<const std::byte> as_bytes() const {
    switch (type.task) {
      case Task::kMultiClass: return std::as_bytes(classes);
      case Task::kMultiLabel: return std::as_bytes(flags);
      case Task::kRegression: return std::as_bytes(values);
    }
    return {};
  }
};

}  // namespace salient
