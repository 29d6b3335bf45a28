// models/gin.h - graph isomorphism network.
#pragma once

#include <memory>
#include <vector>

#include "models/layers.h"
#include "models/model.h"

namespace salient {

/// h_i' = MLP((1 + eps) h_i + sum(h_j : j in N(i))), MLP = Linear, BatchNorm, ReLU, Linear, ReLU. PyG's
/// GINConv(Sequential(...)): eps is a buffer, 0 and not trained; the parts of the MLP are nn.0, nn.1, nn.3.
class GinConv : public torch::nn::Module {
 public:
  GinConv(std::int64_t in_dim, std::int64_t out_dim);
  at::Tensor forward(const HopView& hop, const at::Tensor& x);

 private:
  at::Tensor eps_;  ///< [1]
  std::shared_ptr<Linear> first_, second_;
  std::shared_ptr<BatchNorm> norm_;
};

/// GINConv for every layer, then Linear, ReLU, dropout, Linear.
/// Algorithm: Xu, Hu, Leskovec, Jegelka, "How powerful are graph neural networks?" (ICLR 2019), as in SALIENT's artifact.
class Gin : public Model {
 public:
  explicit Gin(const ModelOptions& options);
  at::Tensor layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) override;
  at::Tensor head(const std::vector<at::Tensor>& h, const DropoutKey& key) override;
  int num_layers() const override { return static_cast<int>(convs_.size()); }

 private:
  double dropout_;
  std::vector<std::shared_ptr<GinConv>> convs_;
  std::shared_ptr<Linear> lin1_, lin2_;
};

}  // namespace salient
