// store/label_table.h - what is known of the nodes: one class each, or a yes or no for each of several labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/types.h"
#include "store/row_table.h"

namespace salient {

enum class Task : std::uint8_t {
  kMultiClass,  ///< a node is of one class
  kMultiLabel,  ///< a node has any number of labels
};

/// More classes, or labels of a node, than this are refused as a mistake.
inline constexpr int kMaxClasses = 1 << 20;

/// What a row of labels is: in a store, in a batch's y, in GPU memory and as a tensor. Nothing else says so.
///
///   kMultiClass   int32          the class; -1 = unlabelled
///   kMultiLabel   int8 [width]   1 = has the label, 0 = has not, -1 = not known
struct LabelType {
  Task task = Task::kMultiClass;
  int width = 1;  ///< labels of a node; 1 for kMultiClass

  std::size_t row_bytes() const {
    return task == Task::kMultiLabel ? static_cast<std::size_t>(width) * sizeof(std::int8_t) : sizeof(std::int32_t);
  }
  bool operator==(const LabelType&) const = default;
};

/// The labels of all nodes. Borrows them.
struct LabelTable {
  LabelType type{};
  std::span<const std::int32_t> classes{};  ///< [V] of kMultiClass, else empty
  std::span<const std::int8_t> flags{};     ///< [V, type.width] of kMultiLabel, else empty

  std::size_t num_nodes() const {
    return type.task == Task::kMultiLabel ? flags.size() / static_cast<std::size_t>(type.width) : classes.size();
  }

  /// Of one node's labels; 0 = unlabelled.
  int num_known(NodeId node) const {
    if (type.task == Task::kMultiClass) return classes[node] < 0 ? 0 : 1;
    const auto width = static_cast<std::size_t>(type.width);
    const std::span<const std::int8_t> row = flags.subspan(node * width, width);
    return static_cast<int>(std::ranges::count_if(row, [](std::int8_t flag) { return flag >= 0; }));
  }

  RowTable rows() const {
    const std::byte* const data =
        type.task == Task::kMultiLabel ? std::as_bytes(flags).data() : std::as_bytes(classes).data();
    return {data, num_nodes(), type.row_bytes()};
  }
};

}  // namespace salient
