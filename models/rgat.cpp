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
    const RowsByType by_type = RowsByType::sources_of(*hop.typed);
    const std::vector<std::int64_t>& begin = hop.typed->relation_begin;
    const std::int64_t num_rows = rows.dst.numel();
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    std::vector<at::Tensor> of_type(by_type.nodes.size()), z{at::zeros({num_rows, width_}, x.options())};
    std::vector<at::Tensor> score{at::full({num_rows, heads_}, kNever, x.options())}, first;
    std::int64_t num_sources = num_rows;
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      if (begin[r] == begin[r + 1]) continue;
      const RelationWeights& relation = *relations_[r];
      at::Tensor& nodes = of_type[relation.src];
      if (!nodes.defined()) nodes = by_type.take(relation.src, x);
      z.push_back(relation.lin->forward(nodes));
      score.push_back(
          at::einsum("nhc,hc->nh", {z.back().view({-1, heads_, width_ / heads_}), relation.att_src.squeeze(0)}));
      first.push_back(at::full({begin[r + 1] - begin[r]}, num_sources, hop.indices.options()));
      num_sources += nodes.size(0);
    }
    const at::Tensor first_source = first.empty() ? rows.dst : at::cat(first).index_select(0, rows.by_relation);
    const at::Tensor first_of_entry = at::repeat_interleave(
        first_source, rows.entries.indptr.diff(), std::optional<std::int64_t>{0}, std::optional{hop.indices.numel()});
    const at::Tensor entries = first_of_entry + by_type.place_in_type().index_select(0, hop.indices);
    return {{num_rows, num_sources, rows.entries.indptr, entries}, at::cat(z), at::cat(score)};
  }

  /// <att_dst, W_r h_v> of each row with entries: [rows, heads]
  at::Tensor scores_of_destinations(const HopView& hop, const FilledRows& rows, const at::Tensor& x) const {
    std::vector<at::Tensor> vectors;
    for (const auto& relation : relations_)
      vectors.push_back(at::einsum(
          "hci,hc->ih", {relation->lin->weight().view({heads_, width_ / heads_, -1}), relation->att_dst.squeeze(0)}));
    const at::Tensor scores =
        grouped_product(select_rows(x, rows.dst_by_relation, numerics().gradient_order), hop.typed->relation_begin,
                        at::stack(vectors).unsqueeze(1), numerics().precision);
    return select_rows(scores, rows.by_relation);
  }

  /// The sum of b_r, of rows that relations lead to; the others' rows.
  at::Tensor own_terms(const HopView& hop, const at::Tensor& x) const {
    const RowsByType destinations = RowsByType::destinations_of(*hop.typed);
    std::vector<at::Tensor> terms(destinations.nodes.size());
    for (const auto& relation : relations_) {
      at::Tensor& term = terms[relation->dst];
      term = term.defined() ? term + relation->bias : relation->bias;
    }
    for (std::size_t t = 0; t < terms.size(); ++t)
      terms[t] = terms[t].defined() ? terms[t].expand({destinations.count[t], width_}) : destinations.take(t, x);
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
