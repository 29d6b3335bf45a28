// models/rgat.cpp - see rgat.h.
#include "models/rgat.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <optional>

#include "models/describe/type_names.h"
#include "models/init.h"
#include "models/ops/operators.h"
#include "models/ops/relations.h"
#include "models/typed_stack.h"

namespace salient {
namespace {

/// The parameters of one relation, which all relations use together.
class RelationWeights : public ParameterOwner {
 public:
  RelationWeights(const GraphTypes::Relation& relation, std::int64_t in_dim, std::int64_t channels, std::int64_t heads)
      : src(static_cast<std::size_t>(relation.src)), dst(static_cast<std::size_t>(relation.dst)) {
    lin = register_module("lin", std::make_shared<Linear>(in_dim, heads * channels, Bias::kNo, PygInit::kGlorot));
    att_src = register_parameter("att_src", at::empty({1, heads, channels}, at::kFloat));
    att_dst = register_parameter("att_dst", at::empty({1, heads, channels}, at::kFloat));
    bias = register_parameter("bias", at::zeros({heads * channels}));
  }

  void initialise(const std::string& name, InitScheme, std::uint32_t seed) override {
    const double bound = glorot_bound(att_src.size(2), att_src.size(1));
    fill_uniform(att_src.detach(), name + ".att_src", bound, seed);
    fill_uniform(att_dst.detach(), name + ".att_dst", bound, seed);
  }

  std::size_t src, dst;
  std::shared_ptr<Linear> lin;
  at::Tensor att_src, att_dst;
  at::Tensor bias;  ///< starts at 0
};

class RgatConv : public Conv {
 public:
  RgatConv(const GraphTypes& types, const ConvStack::Widths& w, std::int64_t heads) : width_(w.out_dim), heads_(heads) {
    const auto convs = register_module("convs", std::make_shared<ModuleDict>());
    for (const GraphTypes::Relation& relation : types.relations)
      relations_.push_back(convs->add(module_name(types, relation),
                                      std::make_shared<RelationWeights>(relation, w.in_dim, width_ / heads, heads)));
  }

  at::Tensor forward(const HopView& hop, const InputRows& x) override {
    const FilledRows rows(hop);
    const Sources sources = sources_of(hop, rows, x.dense());
    const at::Tensor sums = attention(sources.hop, sources.z, sources.score,
                                      scores_of_destinations(hop, rows, x.dense()), numerics().gradient_order);
    const HopView of_destination{hop.num_dst, sums.size(0), rows.of_destination.indptr,
                                 at::arange(sums.size(0), hop.indices.options())};
    return segment_sum(of_destination, sums, numerics().gradient_order) + own_terms(hop, x.dense());
  }

 private:
  /// What rows with entries attend to. Attention is to a row itself, too, and that is its first sources: here sources
  /// of their own, whose scores make their weight 0.
  struct Sources {
    HopView hop;       ///< of the rows with entries, over them and W_r h_u of each relation r and node u of its source
    at::Tensor z;      ///< [sources, width]
    at::Tensor score;  ///< [sources, heads]
  };

  Sources sources_of(const HopView& hop, const FilledRows& rows, const at::Tensor& x) const {
    const TypedHop& typed = *hop.typed;
    const RowsByType by_type = RowsByType::sources_of(typed);
    const std::vector<std::int64_t>& begin = typed.relation_begin;
    const std::int64_t num_rows = rows.dst.numel();
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    std::vector<at::Tensor> nodes, first;
    std::vector<std::int64_t> first_source{0};  // of each relation
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      const std::size_t src = relations_[r]->src;
      const std::int64_t count = begin[r] == begin[r + 1] ? 0 : by_type.count[src];
      if (count > 0) {
        nodes.push_back(by_type.nodes[src].narrow(0, 0, count));
        first.push_back(at::full({begin[r + 1] - begin[r]}, num_rows + first_source.back(), hop.indices.options()));
      }
      first_source.push_back(first_source.back() + count);
    }
    if (nodes.empty()) nodes.push_back(rows.dst), first.push_back(rows.dst);  // none of both
    const at::Tensor of_sources = select_rows(x, at::cat(nodes), numerics().gradient_order);
    const auto product = [&](const at::Tensor& weight) {
      return grouped_product(of_sources, first_source, weight.unsqueeze(1), numerics().precision);
    };
    const at::Tensor z = product(maps().transpose(1, 2)), score = product(scorers(&RelationWeights::att_src));
    const at::Tensor first_of_row = at::cat(first).index_select(0, rows.by_relation);
    const at::Tensor first_of_entry = at::repeat_interleave(
        first_of_row, rows.entries.indptr.diff(), std::optional<std::int64_t>{0}, std::optional{hop.indices.numel()});
    const at::Tensor entries = first_of_entry + by_type.place_in_type().index_select(0, hop.indices);
    return {{num_rows, num_rows + first_source.back(), rows.entries.indptr, entries},
            at::cat({at::zeros({num_rows, width_}, x.options()), z}),
            at::cat({at::full({num_rows, heads_}, kNever, x.options()), score})};
  }

  /// <att_dst, W_r h_v> of each row with entries: [rows, heads]
  at::Tensor scores_of_destinations(const HopView& hop, const FilledRows& rows, const at::Tensor& x) const {
    const at::Tensor scores =
        grouped_product(select_rows(x, rows.dst_by_relation, numerics().gradient_order), hop.typed->relation_begin,
                        scorers(&RelationWeights::att_dst).unsqueeze(1), numerics().precision);
    return select_rows(scores, rows.by_relation);
  }

  /// [relations, width, in]
  at::Tensor maps() const {
    std::vector<at::Tensor> weights;
    for (const auto& relation : relations_) weights.push_back(relation->lin->weight());
    return at::stack(weights);
  }

  /// [relations, in, heads]: what makes the scores of a row by the vectors `att` of the relations.
  at::Tensor scorers(at::Tensor RelationWeights::*att) const {
    std::vector<at::Tensor> vectors;
    for (const auto& relation : relations_) vectors.push_back((*relation.*att).squeeze(0));
    return at::einsum("rhci,rhc->rih", {maps().unflatten(1, {heads_, -1}), at::stack(vectors)});
  }

  /// The sum of b_r, of rows that relations lead to; the others' rows.
  at::Tensor own_terms(const HopView& hop, const at::Tensor& x) const {
    const RowsByType destinations = RowsByType::destinations_of(*hop.typed);
    std::vector<std::vector<at::Tensor>> biases(destinations.nodes.size());
    for (const auto& relation : relations_) biases[relation->dst].push_back(relation->bias);
    std::vector<at::Tensor> terms = destinations.split(x);
    for (std::size_t t = 0; t < terms.size(); ++t)
      if (!biases[t].empty()) terms[t] = at::stack(biases[t]).sum(0).expand({destinations.count[t], width_});
    return destinations.join(terms, width_);
  }

  std::int64_t width_, heads_;
  std::vector<std::shared_ptr<RelationWeights>> relations_;
};

}  // namespace

std::shared_ptr<Model> make_rgat(const ModelOptions& options) {
  return std::make_shared<TypedStack>(options, [options](const ConvStack::Widths& w) {
    return std::make_shared<RgatConv>(options.types, w, options.heads);
  });
}

}  // namespace salient
