// models/describe/costs.cpp - walks over the list.
#include "models/describe/costs.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>

namespace salient {
namespace {

const Op& input_of(const LayerList& list, const Op& op) { return list.at(op.inputs.front()); }

bool has_edge_map(const Op& op) {
  const auto* aggregate = std::get_if<Aggregate>(&op.what);
  const auto* attend = std::get_if<Attend>(&op.what);
  return (aggregate != nullptr && !aggregate->edge_weight.empty()) ||
         (attend != nullptr && !attend->edge_weight.empty());
}

bool is_trained(const LayerList& list, const Op& op) {
  if (std::holds_alternative<EdgeInput>(op.what)) return list.time_dim > 0;  // encoded times are
  return has_edge_map(op) || std::holds_alternative<Project>(op.what) || std::holds_alternative<Attend>(op.what) ||
         std::holds_alternative<Normalise>(op.what) || std::holds_alternative<Lookup>(op.what);
}

/// Whether all that it reads does.
bool has_features_before(const LayerList& list, const Op& op) {
  return std::ranges::all_of(op.inputs, [&](OpId id) { return reads_features(list, list.at(id)); });
}

}  // namespace

bool reads_features(const LayerList& list, const Op& op) {
  return !is_trained(list, op) && has_features_before(list, op);
}

bool is_joined_product(const LayerList& list, const Op& op) {
  const auto* combine = std::get_if<Combine>(&op.what);
  return combine != nullptr && combine->kind == CombineKind::kSum && std::ranges::all_of(op.inputs, [&](OpId id) {
           const auto* project = std::get_if<Project>(&list.at(id).what);
           return project != nullptr && project->bias.empty();
         });
}

namespace {

/// Parameters of one operation after the other; one that several share comes with the first.
class Shapes {
 public:
  explicit Shapes(const LayerList& list) : list_(list) {}

  void add(const Op& op) {
    std::visit([&](const auto& what) { of(op, what); }, op.what);
  }
  void add_time_encoder() {
    if (list_.time_dim == 0) return;
    add("time_enc.lin.weight", {list_.time_dim, 1});
    add("time_enc.lin.bias", {list_.time_dim});
  }
  std::vector<ParameterShape> take() { return std::move(found_); }

 private:
  void add(const std::string& name, std::vector<std::int64_t> shape) {
    if (!name.empty() && names_.insert(name).second) found_.push_back({name, std::move(shape)});
  }

  template <class What>
  void of(const Op&, const What&) {}  // the others have none
  void of(const Op& op, const Lookup& lookup) { add(lookup.weight, {lookup.num_rows, op.width}); }
  void of(const Op& op, const Project& project) {
    const std::int64_t in = input_of(list_, op).width, parts = project.num_parts, relations = project.num_relations;
    switch (project.form) {
      case WeightForm::kRows: add(project.weight, {op.width, in}); break;
      case WeightForm::kColumns: add(project.weight, {in, op.width}); break;
      case WeightForm::kOfRelation: add(project.weight, {relations, in, op.width}); break;
      case WeightForm::kBlocks: add(project.weight, {relations, parts, in / parts, op.width / parts}); break;
      case WeightForm::kBases: add(project.weight, {parts, in, op.width}); break;
    }
    add(project.shares, {relations, parts});
    add(project.bias, {op.width});
  }
  void of(const Op& op, const Aggregate& aggregate) {
    add(aggregate.edge_weight, {op.width, list_.edge_dim});
    add(aggregate.edge_bias, {op.width});
  }
  void of(const Op& op, const Attend& attend) {
    const std::int64_t heads = attend.heads, channels = op.width / heads;
    for (const std::string& name : attend.vectors) add(name, {1, heads, channels});
    for (const std::string& name : attend.maps)
      add(name, {heads * static_cast<std::int64_t>(attend.scales.size()), channels, channels});
    for (const std::string& name : attend.scales) add(name, {1, heads});
    add(attend.bias, {op.width});
    add(attend.edge_weight, {op.width, list_.edge_dim});
  }
  void of(const Op& op, const Normalise& norm) {
    add(norm.name + ".weight", {op.width});
    add(norm.name + ".bias", {op.width});
  }
  void of(const Op&, const Mix& mix) { add(mix.gate, {1}); }

  const LayerList& list_;
  std::set<std::string> names_;
  std::vector<ParameterShape> found_;
};

}  // namespace

std::vector<ParameterShape> parameters_of(const LayerList& list) {
  Shapes shapes(list);
  for (const Op& op : list.ops) shapes.add(op);
  shapes.add_time_encoder();
  return shapes.take();
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

std::int64_t num_learned(const LayerList& list) {
  std::int64_t sum = 0;
  for (const Op& op : list.ops)
    if (const auto* lookup = std::get_if<Lookup>(&op.what)) sum += lookup->num_rows * op.width;
  return sum;
}

std::vector<RowProduct> products_of(const LayerList& list, ProductOrder order) {
  std::vector<RowProduct> found;
  std::vector<std::size_t> product_of(list.ops.size());  // place in `found`
  for (std::size_t i = 0; i < list.ops.size(); ++i) {
    const Op& op = list.ops[i];
    if (const auto* project = std::get_if<Project>(&op.what)) {
      product_of[i] = found.size();
      const std::int64_t blocks = project->form == WeightForm::kBlocks ? project->num_parts : 1;
      found.push_back({op.layer, op.rows, input_of(list, op).width / blocks, op.width, !project->bias.empty(),
                       has_features_before(list, op)});
      if (op.type != kEvery) found.back().share = 1.0 / list.num_types;
      found.back().type = op.type, found.back().relation = op.relation;
    } else if (const auto* attend = std::get_if<Attend>(&op.what);
               attend != nullptr && attend->kind == AttentionKind::kGat && attend->heads == 1 &&
               order == ProductOrder::kSumsFirst) {
      RowProduct& product = found[product_of[static_cast<std::size_t>(op.inputs.front())]];
      product.rows = op.rows;
      product.reads_features = false;  // but sums whose weights are trained
    } else if (attend != nullptr && attend->kind == AttentionKind::kHgt) {
      // Of each relation's rows: queries with k_rel, sums with v_rel.
      const double share = 1.0 / list.num_types;
      found.insert(found.end(), 2 * attend->scales.size(),
                   {.layer = op.layer, .in = op.width / attend->heads, .out = op.width, .share = share});
    } else if (is_joined_product(list, op)) {
      for (const OpId id : std::span(op.inputs).subspan(1))
        found[product_of[static_cast<std::size_t>(id)]].is_added = true;
    }
  }
  return found;
}

std::vector<RowSum> sums_of(const LayerList& list) {
  std::vector<RowSum> found;
  for (const Op& op : list.ops)
    if (std::holds_alternative<Aggregate>(op.what) || std::holds_alternative<Maximum>(op.what) ||
        std::holds_alternative<Attend>(op.what))
      found.push_back({op.layer, op.width, has_features_before(list, op),
                       op.relation == kEvery ? 1.0 : 1.0 / list.num_relations, op.relation});
  return found;
}

bool has_attention(ModelKind kind) {
  return std::ranges::any_of(describe({.kind = kind, .num_layers = 1}).ops,
                             [](const Op& op) { return std::holds_alternative<Attend>(op.what); });
}

bool reads_edge_features(const ModelOptions& options) {
  return std::ranges::any_of(describe(options).ops, [](const Op& op) {
    return has_edge_map(op) || std::holds_alternative<EdgeInput>(op.what);
  });
}

bool reads_edge_weights(const ModelOptions& options) {
  return std::ranges::any_of(describe(options).ops, [](const Op& op) {
    const auto* aggregate = std::get_if<Aggregate>(&op.what);
    const auto* attend = std::get_if<Attend>(&op.what);
    return (aggregate != nullptr && aggregate->is_by_weight) || (attend != nullptr && attend->is_by_weight);
  });
}

bool reads_row_weights(const ModelOptions& options) { return reads_edge_weights(options) && reads_degrees(options); }

bool reads_degrees(const ModelOptions& options) {
  return std::ranges::any_of(describe(options).ops, [](const Op& op) {
    const auto* aggregate = std::get_if<Aggregate>(&op.what);
    return aggregate != nullptr && (aggregate->kind == SumKind::kSymmetric || aggregate->kind == SumKind::kScaled);
  });
}

}  // namespace salient
