// models/describe/stack.cpp - see stack.h.
#include "models/describe/stack.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "models/describe/costs.h"

namespace salient {
namespace {

bool is_of_convolution(const std::string& name) { return name.starts_with("convs."); }

LinearMap map_of(const LayerList& list, const Op& op, const Project& names) {
  return {names.weight, names.bias, list.at(op.inputs.front()).width, op.width};
}

/// The sum of attention and a map of the rows themselves.
bool ends_convolution(const LayerList& list, const Op& op) {
  const auto* project = std::get_if<Project>(&list.at(op.inputs.back()).what);
  return project != nullptr && is_of_convolution(project->weight);
}

void add(StackLayer& layer, const LayerList& list, const Op& op) {
  if (const auto* aggregate = std::get_if<Aggregate>(&op.what)) {
    const bool is_of_edges = std::holds_alternative<EdgeInput>(list.at(op.inputs.front()).what);
    (is_of_edges ? layer.edge_sum : layer.sum) = *aggregate;
  } else if (const auto* attend = std::get_if<Attend>(&op.what)) {
    layer.attention = *attend;
  } else if (const auto* project = std::get_if<Project>(&op.what)) {
    const LinearMap map = map_of(list, op, *project);
    if (is_of_convolution(map.weight))
      layer.maps.push_back(map);
    else
      layer.residual = map;
  } else if (const auto* norm = std::get_if<Normalise>(&op.what)) {
    if (is_of_convolution(norm->name))
      layer.inner_norm = norm->name;
    else
      layer.norm = *norm;
  } else if (std::holds_alternative<Combine>(op.what)) {
    if (is_joined_product(list, op))
      layer.is_joined = true;
    else if (!ends_convolution(list, op))
      layer.has_residual = true;
  } else if (const auto* drop = std::get_if<Drop>(&op.what)) {
    layer.dropout = drop->stream;
  }
}

void add(Stack& stack, const LayerList& list, const Op& op) {
  if (const auto* combine = std::get_if<Combine>(&op.what)) stack.jumping = combine->kind;
  if (const auto* project = std::get_if<Project>(&op.what)) stack.head.push_back(map_of(list, op, *project));
  if (const auto* drop = std::get_if<Drop>(&op.what)) stack.head_dropout = drop->stream;
}

}  // namespace

bool Stack::is_plain() const {
  return !jumping && std::ranges::none_of(layers, [](const StackLayer& layer) {
    return layer.has_residual || layer.norm.kind != NormKind::kNone;
  });
}

bool Stack::passes_z() const {
  return is_plain() && std::ranges::none_of(layers, [](const StackLayer& layer) {
           return layer.maps_entries() &&
                  !(layer.attention->kind == AttentionKind::kGatv2 && layer.attention->heads == 1);
         });
}

Stack stack_of(const LayerList& list) {
  Stack stack;
  stack.layers.resize(static_cast<std::size_t>(list.num_layers));
  for (const Op& op : list.ops) {
    if (op.layer == list.num_layers) {
      add(stack, list, op);
      continue;
    }
    StackLayer& layer = stack.layers[static_cast<std::size_t>(op.layer)];
    add(layer, list, op);
    layer.out = op.width;
  }
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    StackLayer& layer = stack.layers[i];
    layer.in = layer.maps.front().in;
    layer.is_hidden = i + 1 < stack.layers.size() || !stack.head.empty();
  }
  return stack;
}

}  // namespace salient
