// engine/infer/node_labels.cpp - see node_labels.h.
#include "engine/infer/node_labels.h"

#include <ATen/ops/empty.h>

#include <vector>

#include "loaders/gather_labels.h"

namespace salient {
namespace {

at::ScalarType scalar_of(Task task) {
  switch (task) {
    case Task::kMultiClass: return at::kInt;
    case Task::kMultiLabel: return at::kChar;
    case Task::kRegression: return at::kFloat;
  }
  return at::kInt;
}

}  // namespace

at::Tensor labels_of(const LabelTable& labels, std::span<const NodeId> nodes, LabelMemory memory) {
  std::vector<std::int64_t> shape{std::ssize(nodes)};
  if (labels.type.task != Task::kMultiClass) shape.push_back(labels.type.width);
  at::Tensor rows = at::empty(
      shape, at::TensorOptions().dtype(scalar_of(labels.type.task)).pinned_memory(memory == LabelMemory::kPinned));
  gather_labels(labels, nodes, static_cast<std::byte*>(rows.mutable_data_ptr()));
  return rows;
}

}  // namespace salient
