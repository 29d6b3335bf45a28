// models/transformer.cpp - see transformer.h.
#include "models/transformer.h"

#include "models/conv_stack.h"
#include "models/ops/operators.h"

namespace salient {
namespace {

class TransformerConv : public Conv {
 public:
  TransformerConv(std::int64_t in_dim, std::int64_t out_dim, std::int64_t heads, std::int64_t edge_dim)
      : heads_(heads), edge_dim_(edge_dim) {
    const auto add = [&](const char* name) {
      return register_module(name, std::make_shared<Linear>(in_dim, out_dim, Bias::kYes));
    };
    key_ = add("lin_key"), query_ = add("lin_query"), value_ = add("lin_value"), skip_ = add("lin_skip");
    if (edge_dim > 0) edge_ = register_module("lin_edge", std::make_shared<Linear>(edge_dim, out_dim, Bias::kNo));
  }

  at::Tensor forward(const HopView& hop, const InputRows& x) override {
    const InputRows sources = x.first(hop.num_src), own = x.first(hop.num_dst);
    AttentionRows rows{query_->forward(own), key_->forward(sources), value_->forward(sources)};
    if (edge_dim_ > 0) rows.edge = edge_->forward(edge_features_of(hop, edge_dim_));
    return dot_attention(hop, rows, heads_, numerics().gradient_order) + skip_->forward(own);
  }

 private:
  std::int64_t heads_, edge_dim_;
  std::shared_ptr<Linear> key_, query_, value_, skip_, edge_;  // the last null without features of edges
};

}  // namespace

std::shared_ptr<Model> make_transformer(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [heads = options.heads, edge_dim = options.edge_dim](const ConvStack::Widths& w) {
        return std::make_shared<TransformerConv>(w.in_dim, w.out_dim, w.is_hidden ? heads : 1, edge_dim);
      });
}

}  // namespace salient
