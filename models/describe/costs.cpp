// models/describe/costs.cpp - walks over the list.
#include "models/describe/costs.h"

#include <algorithm>
#include <cstddef>

namespace salient {
namespace {

const Op& input_of(const LayerList& list, const Op& op) { return list.at(op.inputs.front()); }

bool is_trained(const Op& op) {
  return std::holds_alternative<Project>(op.what) || std::holds_alternative<Attend>(op.what) ||
         std::holds_alternative<Normalise>(op.what);
}

/// Whether all that it reads does.
bool has_features_before(const LayerList& list, const Op& op) {
  return std::ranges::all_of(op.inputs, [&](OpId id) { return reads_features(list, list.at(id)); });
}

}  // namespace

bool reads_features(const LayerList& list, const Op& op) { return !is_trained(op) && has_features_before(list, op); }

bool is_joined_product(const LayerList& list, const Op& op) {
  const auto* combine = std::get_if<Combine>(&op.what);
  return combine != nullptr && combine->kind == CombineKind::kSum && std::ranges::all_of(op.inputs, [&](OpId id) {
           const auto* project = std::get_if<Project>(&list.at(id).what);
           return project != nullptr && project->bias.empty();
         });
}

std::vector<ParameterShape> parameters_of(const LayerList& list) {
  std::vector<ParameterShape> found;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
    if (!name.empty()) found.push_back({name, std::move(shape)});
  };
  for (const Op& op : list.ops) {
    if (const auto* project = std::get_if<Project>(&op.what)) {
      add(project->weight, {op.width, input_of(list, op).width});
      add(project->bias, {op.width});
    } else if (const auto* attend = std::get_if<Attend>(&op.what)) {
      for (const std::string& name : attend->vectors) add(name, {1, attend->heads, op.width / attend->heads});
      add(attend->bias, {op.width});
    } else if (const auto* norm = std::get_if<Normalise>(&op.what)) {
      add(norm->name + ".weight", {op.width});
      add(norm->name + ".bias", {op.width});
    }
  }
  return found;
}

std::int64_t num_parameters(const LayerList& list) {
  std::int64_t sum = 0;
  for (const ParameterShape& parameter : parameters_of(list)) {
    std::int64_t size = 1;
    for (const std::int64_t dim : parameter.shape) size *= dim;
    sum += size;
  }
  return sum;
}

std::vector<RowProduct> products_of(const LayerList& list, ProductOrder order) {
  std::vector<RowProduct> found;
  std::vector<std::size_t> product_of(list.ops.size());  // place in `found`
  for (std::size_t i = 0; i < list.ops.size(); ++i) {
    const Op& op = list.ops[i];
    if (const auto* project = std::get_if<Project>(&op.what)) {
      product_of[i] = found.size();
      found.push_back({op.layer, op.rows, input_of(list, op).width, op.width, !project->bias.empty(),
                       has_features_before(list, op)});
    } else if (const auto* attend = std::get_if<Attend>(&op.what);
               attend != nullptr && attend->kind == AttentionKind::kGat && order == ProductOrder::kSumsFirst) {
      RowProduct& product = found[product_of[static_cast<std::size_t>(op.inputs.front())]];
      product.rows = op.rows;
      product.reads_features = false;  // but sums whose weights are trained
    } else if (is_joined_product(list, op)) {
      found.back().is_added = true;
    }
  }
  return found;
}

std::vector<RowSum> sums_of(const LayerList& list) {
  std::vector<RowSum> found;
  for (const Op& op : list.ops)
    if (std::holds_alternative<Aggregate>(op.what) || std::holds_alternative<Maximum>(op.what) ||
        std::holds_alternative<Attend>(op.what))
      found.push_back({op.layer, op.width, has_features_before(list, op)});
  return found;
}

bool has_attention(ModelKind kind) {
  return std::ranges::any_of(describe({.kind = kind, .num_layers = 1}).ops,
                             [](const Op& op) { return std::holds_alternative<Attend>(op.what); });
}

bool reads_degrees(const ModelOptions& options) {
  return std::ranges::any_of(describe(options).ops, [](const Op& op) {
    const auto* aggregate = std::get_if<Aggregate>(&op.what);
    return aggregate != nullptr && (aggregate->kind == SumKind::kSymmetric || aggregate->kind == SumKind::kScaled);
  });
}

}  // namespace salient
