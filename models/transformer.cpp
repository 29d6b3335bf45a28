// models/transformer.cpp - see transformer.h.
#include "models/transformer.h"

#include "models/conv_stack.h"
#include "models/edge_weights.h"
#include "models/ops/operators.h"

namespace salient {
namespace {

class TransformerConv : public Conv {
 public:
  TransformerConv(std::int64_t in_dim, std::int64_t out_dim, std::int64_t heads, EdgeTerms edges)
      : heads_(heads), edges_(edges) {
    const auto add = [&](const char* name) {
      return register_module(name, std::make_shared<Linear>(in_dim, out_dim, Bias::kYes));
    };
    key_ = add("lin_key"), query_ = add("lin_query"), value_ = add("lin_value"), skip_ = add("lin_skip");
    if (edges.dim > 0) edge_ = register_module("lin_edge", std::make_shared<Linear>(edges.dim, out_dim, Bias::kNo));
  }

  at::Tensor forward(const HopView& hop, const InputRows& x) override {
    const InputRows sources = x.first(hop.num_src), own = x.first(hop.num_dst);
    AttentionRows rows{query_->forward(own), key_->forward(sources), value_->forward(sources)};
    if (edges_.dim > 0) rows.edge = edge_->forward(edge_features_of(hop, edges_.dim));
    if (edges_.are_weights()) rows.log_weight = log_weights_of(hop).of_entries;
    return dot_attention(hop, rows, heads_, numerics().gradient_order) + skip_->forward(own);
  }

 private:
  std::int64_t heads_;
  EdgeTerms edges_;
  std::shared_ptr<Linear> key_, query_, value_, skip_, edge_;  // the last null without features of edges
};

}  // namespace

std::shared_ptr<Model> make_transformer(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [heads = options.heads, edges = EdgeTerms(options)](const ConvStack::Widths& w) {
        return std::make_shared<TransformerConv>(w.in_dim, w.out_dim, w.is_hidden ? heads : 1, edges);
      });
}

}  // namespace salient
