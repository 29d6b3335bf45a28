// models/sage.h - GraphSAGE with the mean aggregator.
#pragma once

#include <memory>
#include <vector>

#include "models/layers.h"
#include "models/model.h"

namespace salient {

/// h_i' = W_l mean(h_j : j in N(i)) + W_r h_i. PyG's SAGEConv(mean, bias=False): parameters lin_l.weight, lin_r.weight.
class SageConv : public torch::nn::Module {
 public:
  SageConv(std::int64_t in_dim, std::int64_t out_dim);
  at::Tensor forward(const HopView& hop, const at::Tensor& x) const;
  /// With other rows for h_i: [num_dst, in_dim].
  at::Tensor forward(const HopView& hop, const at::Tensor& x, const at::Tensor& self) const;

 private:
  std::shared_ptr<Linear> lin_l_;
  std::shared_ptr<Linear> lin_r_;
};

/// SAGEConv, ReLU, dropout, ..., SAGEConv.
/// Algorithm: Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs" (NeurIPS 2017), as in
///            SALIENT (Kaler et al., MLSys 2022): no bias, no normalisation, all sampled nodes keep their own row.
class Sage : public Model {
 public:
  explicit Sage(const ModelOptions& options);
  at::Tensor layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) override;
  int num_layers() const override { return static_cast<int>(convs_.size()); }

 private:
  double dropout_;
  std::vector<std::shared_ptr<SageConv>> convs_;
};

}  // namespace salient
