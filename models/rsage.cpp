// models/rsage.cpp - see rsage.h.
#include "models/rsage.h"

#include <ATen/ops/stack.h>

#include "models/describe/type_names.h"
#include "models/ops/linear.h"
#include "models/ops/operators.h"
#include "models/ops/relations.h"
#include "models/typed_stack.h"

namespace salient {
namespace {

class RsageConv : public Conv {
 public:
  RsageConv(const GraphTypes& types, const ConvStack::Widths& w)
      : out_dim_(w.out_dim), keeps_others_(w.is_hidden && w.in_dim == w.out_dim), into_(types.node_types.size()) {
    const auto convs = register_module("convs", std::make_shared<ModuleDict>());
    for (const GraphTypes::Relation& relation : types.relations) {
      const auto conv = convs->add(module_name(types, relation), std::make_shared<ModuleDict>());
      around_.push_back(conv->add("lin_l", std::make_shared<Linear>(w.in_dim, w.out_dim, Bias::kYes)));
      into_[static_cast<std::size_t>(relation.dst)].push_back(
          {around_.back(), conv->add("lin_r", std::make_shared<Linear>(w.in_dim, w.out_dim, Bias::kNo))});
    }
  }

  at::Tensor forward(const HopView& hop, const InputRows& x) override {
    const auto& [precision, order] = numerics();
    const FilledRows rows(hop);
    const auto [means, own] = relation_means(hop, x.dense(), order);
    std::vector<at::Tensor> weights;
    for (const auto& map : around_) weights.push_back(map->weight());
    const at::Tensor weight = at::stack(weights).transpose(1, 2).unsqueeze(1);
    const at::Tensor products = grouped_product(means, hop.typed->relation_begin, weight, precision);
    return segment_sum(rows.of_destination, products, order) + own_terms(hop, own);
  }

 private:
  struct Maps {
    std::shared_ptr<Linear> around, own;
  };

  /// The sum of R_r h_v + b_r: one map for each node type.
  at::Tensor own_terms(const HopView& hop, const at::Tensor& x) const {
    const RowsByType destinations = RowsByType::destinations_of(*hop.typed);
    std::vector<at::Tensor> terms = destinations.split(x);
    for (std::size_t t = 0; t < into_.size(); ++t) {
      if (into_[t].empty()) {
        if (!keeps_others_) terms[t] = at::Tensor();
        continue;
      }
      at::Tensor weight = into_[t].front().own->weight(), bias = into_[t].front().around->bias();
      for (std::size_t i = 1; i < into_[t].size(); ++i) {
        weight = weight + into_[t][i].own->weight();
        bias = bias + into_[t][i].around->bias();
      }
      terms[t] = linear(terms[t], weight, bias, numerics().precision);
    }
    return destinations.join(terms, out_dim_);
  }

  std::int64_t out_dim_;
  bool keeps_others_;
  std::vector<std::shared_ptr<Linear>> around_;  ///< [relations]
  std::vector<std::vector<Maps>> into_;          ///< [types] of the relations that lead there
};

}  // namespace

std::shared_ptr<Model> make_rsage(const ModelOptions& options) {
  return std::make_shared<TypedStack>(
      options, [types = options.types](const ConvStack::Widths& w) { return std::make_shared<RsageConv>(types, w); });
}

}  // namespace salient
