// models/hgt.cpp - see hgt.h.
#include "models/hgt.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>

#include "models/describe/type_names.h"
#include "models/init.h"
#include "models/ops/linear.h"
#include "models/ops/operators.h"
#include "models/ops/relations.h"
#include "models/typed_stack.h"

namespace salient {
namespace {

/// Parameters under names, 1 at first.
class ParameterDict : public torch::nn::Module {
 public:
  at::Tensor add(const std::string& name, at::IntArrayRef shape) { return register_parameter(name, at::ones(shape)); }
};

/// Maps of heads of relations: `weight` [heads * relations, channels, channels], row h * relations + r.
class RelationMaps : public ParameterOwner {
 public:
  RelationMaps(std::int64_t heads, std::int64_t relations, std::int64_t channels)
      : heads_(heads),
        weight_(register_parameter("weight", at::empty({heads * relations, channels, channels}, at::kFloat))) {}

  void initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) override {
    fill_uniform(weight_.detach(), name + ".weight", bound_of(scheme, weight_.size(1), weight_.size(2)), seed);
  }

  /// [relations, heads, channels, channels]
  at::Tensor by_relation() const {
    return weight_.view({heads_, -1, weight_.size(1), weight_.size(2)}).transpose(0, 1);
  }

 private:
  std::int64_t heads_;
  at::Tensor weight_;
};

class HgtConv : public Conv {
 public:
  HgtConv(const GraphTypes& types, std::int64_t width, std::int64_t heads) : width_(width), heads_(heads) {
    const auto module = [&](const char* name) { return register_module(name, std::make_shared<ModuleDict>()); };
    const auto kqv = module("kqv_lin")->add("lins", std::make_shared<ModuleDict>());
    const auto out = module("out_lin")->add("lins", std::make_shared<ModuleDict>());
    const auto skip = register_module("skip", std::make_shared<ParameterDict>());
    for (const GraphTypes::NodeType& type : types.node_types) {
      const std::string name = module_name(type);
      types_.push_back({kqv->add(name, std::make_shared<Linear>(width, 3 * width, Bias::kYes)),
                        out->add(name, std::make_shared<Linear>(width, width, Bias::kYes)), skip->add(name, {1})});
    }
    const auto num_relations = static_cast<std::int64_t>(types.relations.size());
    const auto maps = [&] { return std::make_shared<RelationMaps>(heads, num_relations, width / heads); };
    k_rel_ = register_module("k_rel", maps());
    v_rel_ = register_module("v_rel", maps());
    const auto scales = register_module("p_rel", std::make_shared<ParameterDict>());
    for (const GraphTypes::Relation& relation : types.relations)
      p_rel_.push_back(scales->add(joined_name(types, relation), {1, heads}));
  }

  at::Tensor forward(const HopView& hop, const InputRows& x) override {
    const at::Tensor sums = at::gelu(attend(hop, projected(hop, x.dense())));
    const RowsByType destinations = RowsByType::destinations_of(*hop.typed);
    std::vector<at::Tensor> rows = destinations.split(sums);
    const std::vector<at::Tensor> own = destinations.split(x.dense());
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const at::Tensor share = types_[t].skip.sigmoid();
      rows[t] = types_[t].out->forward(rows[t]) * share + own[t] * (1 - share);
    }
    return destinations.join(rows, width_);
  }

 private:
  struct TypeMaps {
    std::shared_ptr<Linear> kqv, out;
    at::Tensor skip;
  };
  struct Projected {
    at::Tensor keys, queries, values;  ///< of the sources; of the destinations; of the sources
  };

  GradientOrder order() const { return numerics().gradient_order; }

  Projected projected(const HopView& hop, const at::Tensor& x) const {
    const RowsByType sources = RowsByType::sources_of(*hop.typed);
    const RowsByType destinations = RowsByType::destinations_of(*hop.typed);
    std::vector<at::Tensor> keys, queries, values;
    const std::vector<at::Tensor> rows_of_type = sources.split(x);
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const at::Tensor& rows = rows_of_type[t];
      const auto map = [&](std::int64_t part, const at::Tensor& of) {
        const Linear& kqv = *types_[t].kqv;
        return linear(of, kqv.weight().narrow(0, part * width_, width_), kqv.bias().narrow(0, part * width_, width_),
                      numerics().precision);
      };
      keys.push_back(map(0, rows));
      queries.push_back(map(1, rows.narrow(0, 0, destinations.count[t])));
      values.push_back(map(2, rows));
    }
    return {sources.join(keys, width_), destinations.join(queries, width_), sources.join(values, width_)};
  }

  /// g. The maps of a relation are those of queries and of sums over entries, as many as there are rows, and not of the
  /// keys and values of its sources: the same products in another order.
  at::Tensor attend(const HopView& hop, const Projected& of) const {
    const FilledRows rows(hop);
    const std::vector<std::int64_t>& begin = hop.typed->relation_begin;
    const at::Tensor of_keys = k_rel_->by_relation().transpose(2, 3) * at::stack(p_rel_).view({-1, heads_, 1, 1});
    const at::Tensor queries =
        grouped_product(select_rows(of.queries, rows.dst_by_relation, order()), begin, of_keys, numerics().precision);
    const SoftmaxGroups destinations{hop.indptr.index_select(0, hop.typed->row_begin), rows.dst};
    const at::Tensor sums = dot_attention(rows.entries, {select_rows(queries, rows.by_relation), of.keys, of.values},
                                          heads_, order(), destinations);
    const at::Tensor mapped =
        grouped_product(select_rows(sums, rows.in_hop), begin, v_rel_->by_relation(), numerics().precision);
    return segment_sum(rows.of_destination, mapped, order());
  }

  std::int64_t width_, heads_;
  std::vector<TypeMaps> types_;
  std::shared_ptr<RelationMaps> k_rel_, v_rel_;
  std::vector<at::Tensor> p_rel_;
};

}  // namespace

std::shared_ptr<Model> make_hgt(const ModelOptions& options) {
  return std::make_shared<TypedStack>(options, [options](const ConvStack::Widths& w) {
    return std::make_shared<HgtConv>(options.types, w.out_dim, options.heads);
  });
}

}  // namespace salient
