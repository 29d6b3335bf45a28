// models/sage.h - GraphSAGE with the mean or the maximum aggregator.
#pragma once

#include <memory>

#include "models/conv_stack.h"

namespace salient {

/// h_i' = W_l a(h_j : j in N(i)) + W_r h_i, a = the mean or the maximum of each column. PyG's SAGEConv(aggr=a,
/// bias=False): parameters lin_l.weight, lin_r.weight. By weight the mean is sum(w_ij h_j) / sum(w_ij).
///
/// With features of edges a row's messages are (h_j | e_ij): a is taken of their columns, too, and W_e a(e_ij) is
/// added, lin_edge.weight [out, edge_dim].
/// Algorithm: of the edges, Lo et al., "E-GraphSAGE" (NOMS 2022), which takes the mean of both and maps it
class SageConv : public Conv {
 public:
  SageConv(std::int64_t in_dim, std::int64_t out_dim, Aggregation aggregation = Aggregation::kMean,
           AggregateBy by = AggregateBy::kCount, std::int64_t edge_dim = 0);
  at::Tensor forward(const HopView& hop, const InputRows& x) override;
  /// With other rows for h_i: [num_dst, in_dim].
  at::Tensor forward(const HopView& hop, const InputRows& x, const InputRows& self) const;

 private:
  at::Tensor mean(const HopView& hop, const at::Tensor& x) const;
  at::Tensor of_nodes(const HopView& hop, const InputRows& x) const;
  at::Tensor of_edges(const HopView& hop) const;

  Aggregation aggregation_;
  AggregateBy by_;
  std::shared_ptr<Linear> lin_l_;
  std::shared_ptr<Linear> lin_r_;
  std::shared_ptr<Linear> lin_edge_;  ///< null where it reads no features of edges
};

/// A stack of SAGEConv.
/// Algorithm: Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs" (NeurIPS 2017), as in
///            SALIENT (Kaler et al., MLSys 2022): no bias, no normalisation, all sampled nodes keep their own row.
std::shared_ptr<Model> make_sage(const ModelOptions& options);

}  // namespace salient
